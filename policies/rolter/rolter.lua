--- policies/rolter: Rolter's `takes_over` fallback targets as data. Each value names its line in
-- CONFORMANCE (S1, gaps G1, part D); README.md tells it as a story. What stands nowhere here is the
-- default of lua/acog.md: a target gets the id that it declares (S1.17), and one that takes over
-- stands where it was declared (decision 7, G1.2).
local acog = require "acog"

-- G1.1: what a target may take over, by these words; `refusal` has categories besides.
local connection = { move = "next", charge = 1, takeover = "connection", status = 503,
  export = "upstream_unavailable" }
local timeout = { move = "next", charge = 1, takeover = "timeout", status = 503,
  export = "upstream_unavailable" }
local server_error = { move = "next", charge = 1, takeover = "server_error", status = 502,
  export = "upstream_error" }

-- S1.14: final, and forwarded unchanged, body included.
local forwarded = { relay = "verbatim" }

return acog.policy {
  name = "rolter",

  filters = {
    "declared",
    "dialect",
    "unrestricted", -- S1.3: a target with takes_over is never dialled first
    "circuit",
  },
  order = { "spread_first" }, -- S1.1: the strategy's pick, then the untried in order
  spread = "weighted", -- S1.4: over ordinary targets only

  -- Statuses first; a body is read only where a target waits for refusals (S1.12).
  classify = {
    { cause = { "connect", "closed", "cut" }, class = "network" },
    { clock = "connect", class = "timeout_connect" },
    { clock = "headers", class = "timeout_headers" },
    { status = 429, class = "throttled" },
    { status = 408, class = "status_408" },
    { status = "5xx", class = "server_error" },
    { status = 451, class = "refusal" }, -- S1.13: any body
    { status = { 400, 403, 422 }, shape = "refusal", class = "refusal" }, -- S1.13
    { status = "4xx", class = "invalid_request" }, -- S1.14
    { cause = { "status", "bad_answer", "stream_error" }, class = "bad_answer" },
  },

  classes = {
    throttled = { move = "next", takeover = "throttled",
      export = "upstream_rate_limited", retry_after = "upstream", retry_after_max = 300,
      pool = { min = 5, max = 300 } }, -- D8: parked, not charged
    status_408 = timeout,
    timeout_connect = timeout,
    timeout_headers = timeout,
    network = connection,
    bad_answer = server_error,
    server_error = server_error,
    -- S1.11, G1.7: not transient, so never to an ordinary target, and no fault of this one.
    refusal = { move = "restricted", takeover = "refusal", relay = "verbatim" },
    invalid_request = forwarded,
    died_after_commit = { charge = 1 },
  },

  attempts = { max = 3 }, -- S1.6: one and `max_retries`, which is 2; S1.7
  backoff = { kind = "exponential", min_ms = 100, max_ms = 2000, retry_after_max = 30 },
  clocks = { connect = 10, headers = 60 },

  health = { mode = "exclude", key = "model_connection", threshold = 5, cooldown = 30,
    all_open = "fail_open" }, -- C-10: the request is forwarded anyway

  -- C-15: the upstream's head is the answer; from there on bytes go through as they come.
  commit = { hold_until = "headers", whole = "headers" },

  response_headers = {
    ["x-rolter-target"] = "connection",
    ["x-rolter-model"] = "resolved_model",
    ["x-rolter-fallback-reason"] = "fallback_reason", -- S1.22, as a header
  },

  errors = {
    unknown_model = { status = 404, code = "model_not_found" },
    exhausted = { use_last = true }, -- D14
  },

  -- D15: whatever the upstream did.
  stream_error = {
    chat = { event = "verbatim", lost = "close" },
    messages = { event = "verbatim", lost = "close" },
    responses = { event = "verbatim", lost = "close" },
  },
}
