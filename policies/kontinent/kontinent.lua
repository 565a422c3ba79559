--- policies/kontinent: Kontinent AI "Reliability" as data. Each value names its line in CONFORMANCE
-- (S2, gaps G2, part D); README.md tells it as a story. What stands nowhere here is the default of
-- lua/acog.md: the fixed order is that of the configuration (S2.1), every route is tried (S2.31),
-- with no pause, and each answer has an x-request-id (S2.57).
local acog = require "acog"

-- S2.3, S2.4: it goes to the next route, and the route has one failure more.
local moves_on = { move = "next", charge = 1 }
-- S2.7, S2.26: likewise, and such a route may get the one more try (S2.18).
local too_late = { move = "next", charge = 1, by_time = true }

return acog.policy {
  name = "kontinent",

  order = { "demoted_last" }, -- S2.25, S2.32

  classify = {
    { cause = { "connect", "closed", "cut" }, class = "network" }, -- S2.3
    { clock = "connect", class = "timeout_connect" },
    { clock = "first_event", class = "timeout_first_event" }, -- S2.7
    { clock = "total", class = "timeout_full" },
    { cause = "stream_error", class = "stream_error_first" }, -- S2.6
    { cause = "bad_answer", class = "bad_answer" },
    { status = { 429, 503 }, shape = "overload", class = "overloaded" }, -- S2.27
    { status = { 401, 402, 403 }, class = "auth" }, -- S2.4, and G2.7
    { status = 404, class = "not_found" },
    { status = 408, class = "status_408" },
    { status = { 409, 425 }, class = "conflict" },
    { status = 429, class = "throttled" },
    { status = "5xx", class = "server_error" },
    { shape = "cannot_serve", class = "cannot_serve" }, -- S2.5
    { cause = "status", class = "invalid_request" }, -- S2.8, G2.6: everything else
  },

  classes = {
    network = moves_on,
    timeout_connect = moves_on,
    timeout_first_event = too_late,
    timeout_full = too_late,
    stream_error_first = moves_on,
    bad_answer = moves_on,
    overloaded = { move = "next", charge = "trip" }, -- S2.27: after one failure
    auth = moves_on,
    not_found = moves_on,
    status_408 = moves_on,
    conflict = moves_on,
    throttled = moves_on,
    server_error = moves_on,
    cannot_serve = moves_on,
    -- S2.8: the request's own fault: the model's message, and no failure of the route (S2.34).
    invalid_request = { status = 400,
      export = "upstream_invalid_request", relay = "message" },
    died_after_commit = { charge = 1 },
  },

  attempts = { extra_slow_try = true }, -- S2.18, S2.21

  clocks = {
    connect = 10,
    first_event = {
      { stream = true, base = 15 }, -- S2.9, S2.15
      { stream = true, base = 45, reasoning = true, surfaces = "chat" }, -- S2.10
      { stream = true, base = 30, slow = true }, -- S2.12, G2.4
      { stream = true, base = 60, extra_try = true }, -- S2.19
    },
    total = {
      { stream = false, base = 15, per = 20, add = 1, cap = 300 }, -- S2.11, G2.2
      { stream = false, base = 60, per = 20, add = 1, cap = 300, extra_try = true }, -- S2.19
    },
  },
  last_floor = { to = "last_not_demoted", base = 60 }, -- S2.13, S2.14; decision 8

  -- S2.24-S2.33: three failures in sequence, five minutes at the end; failed tries: 10, 20, 30.
  health = { mode = "demote", key = "model_connection", threshold = 3, cooldown = 300, factor = 2,
    cooldown_max = 1800 },

  commit = { hold_until = "first_event" }, -- S2.6, S2.17

  on_client_close = { drain = 15 }, -- S2.45

  errors = {
    unknown_model = { status = 503, code = "SUPPLY_NOT_CONFIGURED", type = "api_error", -- S2.38
      message = "Model %{model} has no route at this time. Nothing was charged." },
    exhausted = { status = 502, code = "PROVIDER_ERROR", type = "api_error", -- S2.37
      message = "Model %{model} is not available right now. Nothing was charged. "
        .. "Retry in a moment." },
    exhausted_by_time = { status = 502, code = "PROVIDER_ERROR", type = "api_error",
      message = "Model %{model} is not available right now. Nothing was charged. "
        .. "Retry in a moment." },
  },
  error_body = { -- S2.37 to the letter
    chat = '{"error":{"message":"%{message}","type":"%{type}","param":null,"code":"%{code}"}}',
    responses = '{"error":{"message":"%{message}","type":"%{type}","param":null,"code":"%{code}"}}',
  },

  stream_error = {
    chat = { event = "finish_error", lost = "close" }, -- S2.41, S2.42
    messages = { event = "verbatim", lost = "close" }, -- S2.43
    responses = { event = "verbatim", lost = "close" },
  },
}
