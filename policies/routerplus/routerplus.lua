--- policies/routerplus: RouterPlus "Routing & failover" as data. Each value names its line in
-- CONFORMANCE (S0, gaps G0, part D); README.md tells it as a story. What stands nowhere here is the
-- default of lua/acog.md: all deployments are tried (S0.11), with no backoff (S0.12), each has a
-- circuit of its own (S0.48), and a stream that has begun ends with one error event (S0.26).
local acog = require "acog"
local version = require "acog.version"

-- S0.44: the provider's own trouble. The next deployment is asked, and the circuit is charged.
local upstream_error = {
  move = "next", charge = 1, export = "upstream_error", retryable = true,
}

-- S0.76: the canonical class beside each dialect's native type; S0.30 is this form to the letter.
local openai = '{"error":{"code":"%{code}","message":"%{message}","type":"%{type}",'
  .. '"metadata":{"error_type":"%{code}"}},"request_id":"%{request_id}"}'
local anthropic = '{"type":"error","error":{"type":"%{type}","message":"%{message}",'
  .. '"error_type":"%{code}"},"request_id":"%{request_id}"}'

return acog.policy {
  name = "routerplus",

  -- S0.1: the model named is the model served: the very id, or a dated snapshot (S0.7, S0.8).
  match = { by = version.exact, snapshot = true },
  send_id = "declared_or_client", -- G0.9; a snapshot goes to the provider verbatim (S0.8)
  one_choice_only = true, -- S0.32

  filters = {
    "declared", -- S0.7; nothing left: 404 (S0.30)
    "dialect",
    "reserved", -- S0.16: capacity of one organisation's endpoint is nobody else's
    "circuit", -- S0.9; nothing left: 503 at once (S0.58)
  },
  -- S0.10: ascending, stable; a dedicated endpoint's own capacity before all (S0.16).
  order = { "reserved", "priority" },

  -- Decided once, from what was read of the error (S0.33); the first row that fits.
  classify = {
    { shape = "refusal", class = "refusal" }, -- S0.34
    { status = 429, class = "throttled" }, -- S0.39
    { status = { 401, 402, 403 }, class = "auth" }, -- S0.40
    { status = 400, shape = { "key_bad", "no_credit" }, class = "auth" }, -- S0.40, said as a 400
    { shape = "context_overflow", class = "context_overflow" }, -- S0.41
    { status = 404, class = "not_found" }, -- S0.43
    { shape = "model_unknown", class = "not_found" },
    { status = "5xx", class = "server_error" }, -- S0.44
    { shape = "overload", class = "overloaded" },
    { status = "4xx", class = "invalid_request" }, -- S0.45
    { cause = { "connect", "closed", "cut" }, class = "network" }, -- S0.22
    { clock = "connect", class = "timeout_connect" },
    { clock = "headers", class = "timeout_headers" },
    { cause = "stream_error", class = "stream_error_first" },
    { cause = { "status", "bad_answer" }, class = "bad_answer" },
  },

  classes = { -- a row that names no `move` ends the request, one without `charge` is no fault
    throttled = { move = "next", charge = 1, export = "rate_limit", retryable = true, -- S0.39
      retry_after = "upstream", -- S0.74: at most 60
      pool = { min = 1, max = 60 } }, -- S0.54
    auth = { move = "next", charge = 1 }, -- S0.40, S0.46
    context_overflow = { status = 400 }, -- S0.37
    refusal = { status = 400, export = "content_policy" }, -- S0.35
    not_found = { move = "next", charge = 1, export = "model_unavailable" }, -- S0.43
    server_error = upstream_error,
    overloaded = upstream_error,
    network = upstream_error,
    timeout_connect = upstream_error,
    timeout_headers = upstream_error,
    stream_error_first = upstream_error,
    bad_answer = upstream_error,
    invalid_request = { export = "upstream_error" }, -- S0.45, S0.52
    client_cancel = { charge = "success" }, -- S0.55
    died_after_commit = { charge = 1, export = "upstream_error" }, -- S0.26
  },

  clocks = { connect = 10, headers = 20 }, -- S0.22

  -- S0.48-S0.51: two failures in sequence, thirty seconds, one probe.
  health = { mode = "exclude", threshold = 2, cooldown = 30 },

  -- S0.19, S0.21: the first byte that is written ends switching, and it goes out with the first of
  -- these; a frame that holds a role or a usage report alone is held back (G0.8).
  commit = {
    outputs = { "text", "reasoning", "tool", "refusal" },
    started_on = { "text", "reasoning", "tool", "refusal", "usage" } }, -- G0.6

  response_headers = { -- and x-request-id, which every answer has (S0.61)
    ["x-tm-provider"] = "connection", -- S0.62
    ["x-tm-served-by"] = "served_by", -- S0.63
    ["x-tm-upstream-model"] = { fact = "upstream_model", only = "differs" }, -- S0.64
    ["x-tm-attempts"] = "attempts", -- S0.29, S0.65
    ["x-tm-upstream-status"] = "upstream_status", -- S0.66
    ["x-tm-dropped-params"] = "dropped_params", -- S0.67
    ["x-tm-route-plan-id"] = "plan_id", -- S0.68
    ["x-tm-dedicated-endpoint"] = "dedicated_endpoint", -- S0.69
    ["x-tm-route-role"] = "route_role",
    ["x-tm-queue-ms"] = "queue_ms", -- S0.70
    ["x-tm-error-code"] = "error_class", -- S0.72
    ["x-tm-error-origin"] = "error_origin", -- S0.73
    ["x-tm-limit-kind"] = "limit_kind", -- S0.75
    ["x-should-retry"] = "retryable", -- what the SDKs read
  },

  errors = {
    unknown_model = { status = 404, code = "model_unavailable", -- S0.30
      message = 'model "%{model}" is not in the catalog; '
        .. "GET /v1/models lists what this key can serve" },
    all_open = { status = 503, code = "gateway_error", retry_after = 5, -- S0.58
      message = "all deployments cooling down" },
    exhausted = { use_last = true }, -- G0.1
  },
  error_body = { chat = openai, responses = openai, messages = anthropic },
}
