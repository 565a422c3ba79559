--- policies/onerouter: OneRouter "Failover and the first byte" as data. Each value names its line
-- in CONFORMANCE (S3, gaps G3, part D); README.md tells it as a story. What stands nowhere here is
-- the default of lua/acog.md: the full route list is tried (S3.9), with no pause.
local acog = require "acog"

-- S3.2, S3.8: the host degrades before a response starts, so the next healthy one is asked.
local next_host = { move = "next", charge = 1 }
local no_token = { move = "next", charge = 1, by_time = true } -- S3.7, S3.19

return acog.policy {
  name = "onerouter",

  -- S3.1: hosts of the model that was named. `onerouter/auto` is an alias that you give (S3.4).
  filters = {
    "declared",
    "dialect",
    "pin", -- S3.14: before health, it is that host or none (S3.15)
    "circuit",
  },
  order = { "first_output" }, -- S3.10: the time to the first token is the health signal

  -- S3.14, G3.4: one host, or a list that is not left; S3.15: refused when they all fail.
  pin = { scope = "connection", body = "provider.only", strip = true },

  classify = {
    { cause = { "connect", "closed", "cut" }, class = "network" },
    { clock = "connect", class = "timeout_connect" },
    { clock = "first_output", class = "timeout_first_output" }, -- S3.7
    { clock = "total", class = "timeout_full" },
    { cause = "stream_error", class = "stream_error_first" },
    { cause = "bad_answer", class = "bad_answer" },
    { status = "5xx", class = "server_error" }, -- S3.8
    { status = 429, class = "throttled" },
    { status = { 401, 402, 403 }, class = "auth" },
    { status = 404, class = "not_found" },
    { shape = "context_overflow", class = "context_overflow" }, -- G3.5
    { cause = "status", class = "invalid_request" },
  },

  classes = {
    network = next_host,
    timeout_connect = no_token,
    timeout_first_output = no_token,
    timeout_full = no_token,
    stream_error_first = next_host,
    bad_answer = next_host,
    server_error = next_host,
    throttled = next_host,
    auth = next_host, -- the host refuses the gateway's key, not the client's request
    not_found = next_host,
    context_overflow = { status = 400, export = "context_too_long" },
    invalid_request = { status = 400, relay = "message" }, -- G3.5
    died_after_commit = { charge = 1, export = "upstream_error" }, -- S3.20
  },

  -- G3.3: for each host; off once the response has started (S3.7).
  clocks = { connect = 10, first_output = { stream = true, base = 30 },
    total = { stream = false, base = 30 } },

  health = { mode = "exclude", key = "model_connection", threshold = 3, cooldown = 30 }, -- G3.6

  -- S3.5: the first content byte commits.
  commit = { outputs = { "text", "reasoning", "tool" } },

  response_headers = {
    ["x-onerouter-provider"] = "connection", -- S3.3
    ["x-onerouter-model"] = "resolved_model",
    ["x-onerouter-receipt"] = "plan_id", -- S3.16
  },

  errors = {
    unknown_model = { status = 404, code = "unknown_model",
      message = 'There is no model "%{model}". Live: %{alternatives}.' },
    all_open = { status = 503, code = "model_unavailable", -- S3.21
      message = 'No host of "%{model}" is healthy. Live alternatives: %{alternatives}.' },
    exhausted = { status = 503, code = "model_unavailable", -- S3.21
      message = 'Every host of "%{model}" failed. Live alternatives: %{alternatives}.' },
    exhausted_by_time = { status = 504, code = "request_timeout", -- S3.19, G3.2
      message = 'No host of "%{model}" sent a first token in time.' },
    pin_unmet = { status = 503, code = "model_unavailable", -- S3.15
      message = 'The host "%{detail}" cannot serve "%{model}" now. Nothing was charged.' },
  },

  -- S3.20; D15: an error chunk, then [DONE]; messages and responses one error event.
  stream_error = { chat = { event = "event_and_done", lost = "event_and_done" } },
}
