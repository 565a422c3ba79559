--- policies/acog: the default policy, as data. Each value names its line in CONFORMANCE (S4,
-- decisions, part D) or DESIGN, "The default policy's answers"; README.md tells it as a story. A
-- user writes the difference: `return require("policies.acog"):with { … }`. What is not said here
-- is the default of lua/acog.md: the declared id is sent (S4.9), another model only as the
-- policy-block fallback, no arbitrage.
local acog = require "acog"
local channel = require "acog.channel"
local version = require "acog.version"

return acog.policy {
  name = "acog",

  -- Which connections can serve (S4.1, S4.8-S4.10); `minor = true` loosens the minor (decision 2).
  match = { by = version.loose },

  -- In this order, each drop with its reason (D3). DLP stands before the pin (decision 1).
  filters = {
    "declared", -- S4.1; nothing left: 409 model_not_configured (S4.2)
    "dialect",
    "access",
    "dlp", -- S4.18c
    "pin", -- S4.19, S4.20; nothing left: 409 (S4.22)
    "default_exclusive", -- S4.3: the default connection serves, and only it
    "arbitrage", -- S4.18a: once `arbitrage = { enabled = true }` turns it on
    "usable", -- S4.13: what its owner switched off; a function is asked at dispatch
    "circuit", -- S4.16; nothing left: 503, Retry-After 5 (S4.5, S4.17)
  },

  -- Others than the default: one by turns, those behind it by channel (S4.6, S4.7, G4.11).
  order = { "price", "spread_first", "channel_rank" },
  spread = "round_robin",

  pin = channel.pin "x-acog-channel", -- S4.19-S4.23

  -- What a failure is: the transport and the clocks, then the status; no error body is judged (D5,
  -- decision 16).
  classify = {
    { cause = { "connect", "closed", "cut" }, class = "network" },
    { clock = "connect", class = "timeout_connect" },
    { clock = "headers", class = "timeout_headers" },
    { clock = "first_event", class = "timeout_first_event" }, -- for a policy that sets this clock
    { clock = "first_output", class = "timeout_first_output" },
    { clock = { "idle", "total" }, class = "timeout_full" },
    { cause = "stream_error", class = "stream_error_first" },
    { cause = "refusal", class = "refusal_200" }, -- S4.24: an empty 200
    { cause = { "bad_answer", "held_full" }, class = "bad_answer" },
    { status = 408, class = "status_408" },
    { status = 429, class = "throttled" },
    { status = { 401, 402, 403 }, class = "auth" },
    { status = 404, class = "not_found" },
    { status = { 409, 425 }, class = "conflict" },
    { status = "4xx", class = "invalid_request" },
    { status = "5xx", class = "server_error" },
    { cause = "status", class = "bad_answer" }, -- 1xx and 3xx: no answer to this request
  },

  classes = { -- a row that names no `move` ends the request, one without `charge` is no fault
    -- S4.11, G4.12: another connection, or the same when it is the only one left. Charged (G4.2).
    network = { move = "next", same = "if_sole", charge = 1, export = "upstream_unavailable" },
    server_error = { move = "next", same = "if_sole", charge = 1, relay = "message",
                     export = "upstream_unavailable" },
    bad_answer = { move = "next", charge = 1, export = "upstream_unavailable" },
    stream_error_first = { move = "next", charge = 1, relay = "message",
                           export = "upstream_unavailable" },

    -- G4.9, G4.10: our own clocks, and the provider's 408.
    timeout_connect = { move = "next", charge = 1, status = 504, export = "upstream_unavailable" },
    timeout_headers = { move = "next", charge = 1, status = 504, export = "upstream_unavailable" },
    timeout_first_event = { move = "next", charge = 1, status = 504,
                            export = "upstream_unavailable" },
    timeout_first_output = { move = "next", charge = 1, status = 504,
                             export = "upstream_unavailable" },
    timeout_full = { move = "next", charge = 1, status = 504, export = "upstream_unavailable" },
    status_408 = { move = "next", charge = 1, status = 504, export = "upstream_unavailable" },

    -- S4.12: only on a different connection; not a fault of the channel (G4.2). The Retry-After
    -- goes on, up to a minute (D13).
    throttled = { move = "next", relay = "message", export = "rate_limited",
                  retry_after = "upstream" },

    -- S4.15, G4.9: about the request itself, returned at once, as they came.
    invalid_request = { relay = "verbatim" },
    not_found = { relay = "verbatim" },
    conflict = { relay = "verbatim" },
    -- Its body may show the key that was refused, so the client gets ours.
    auth = { export = "upstream_auth_failed" },

    -- S4.24, S4.25: once more, with the fallback model.
    refusal_200 = { move = "fallback_model" },

    died_after_commit = { charge = 1, export = "upstream_error" },
    gateway = { charge = "ignore", status = 500, export = "internal_error" },
  },

  attempts = { max = 3, not_usable_counts = true }, -- S4.14, G4.13
  backoff = { kind = "random", min_ms = 50, max_ms = 250 }, -- S4.14

  -- Seconds (DESIGN, "clocks"). Whole answers wait longer the more tokens were asked for.
  clocks = {
    connect = 10,
    headers = {
      { base = 60 },
      { stream = false, base = 60, per = 20, add = 1, cap = 600 },
    },
    total = { stream = false, base = 60, per = 20, add = 1, cap = 600 }, -- D7: the full answer
    first_output = { stream = true, base = 120 },
    idle = 60,
  },

  -- S4.16: five failures in sequence on a channel (and maker), 30 s, then one request tests it.
  health = { mode = "exclude", key = "channel_maker", threshold = 5, cooldown = 30 },

  -- D9, G4.8: nothing goes out before one of these, so that a refusal can still be answered
  -- elsewhere.
  commit = { outputs = { "text", "reasoning", "tool", "stop" } },

  -- S4.24-S4.31, decisions 9 and 10: on the same connection, with a budget of its own.
  refusal = {
    empty_200 = true,
    fallback_model = "claude-opus-4-8",
    note = "The requested model declined to answer; claude-opus-4-8 answered instead.",
    opt_out = { header = "x-acog-policy-fallback", value = "off" },
  },

  bad_event = "drop", -- D15

  response_headers = {
    ["x-acog-connection"] = "connection",
    ["x-acog-channel"] = "channel",
    ["x-acog-resolved-model"] = "resolved_model", -- S4.32
    ["x-acog-attempts"] = "attempts",
    ["x-acog-dropped-params"] = "dropped_params",
    ["x-acog-policy-fallback"] = "policy_fallback", -- S4.27-S4.30: only when a refusal was seen
  },

  -- Statuses, codes and texts are those of condition.def (S4.2, S4.5, S4.17, S4.21, S4.22); a
  -- stream that has begun ends with one error event of its dialect (D15).
  errors = {
    all_open = { retry_after = 5 }, -- S4.5, S4.17
    exhausted = { use_last = true }, -- D14: told by the last attempt
    overloaded = { retry_after = 1 },
  },
}
