-- five_test.lua - the other four gateways of CONFORMANCE can be said in policies of this form (part
-- D). Their own policies and tests stand in policies/; here only the form is held: each loads
-- without a warning, and the row that makes it different does what it says.
local acog = require "acog"
local test = require "acog.test"
local version = require "acog.version"

local transport = {
  { cause = { "connect", "closed", "cut" }, class = "network" },
  { clock = "connect", class = "timeout_connect" },
  { clock = "headers", class = "timeout_headers" },
  { clock = "first_event", class = "timeout_first_event" },
  { clock = "first_output", class = "timeout_first_output" },
  { clock = { "idle", "total" }, class = "timeout_full" },
  { cause = "stream_error", class = "stream_error_first" },
}

local function rows(...)
  local list = {}
  for i, row in ipairs(transport) do list[i] = row end
  for _, row in ipairs { ... } do list[#list + 1] = row end
  list[#list + 1] = { class = "server_error" }
  return list
end

--- A class for each of `names`, all alike.
local function alike(classes, names, row)
  for name in names:gmatch("%S+") do classes[name] = row end
  return classes
end

local FAILED = "network timeout_connect timeout_headers timeout_first_event timeout_first_output "
  .. "timeout_full stream_error_first server_error "

local routerplus = acog.policy {
  name = "routerplus",
  match = { by = version.exact, snapshot = true }, -- S0.7, S0.8
  send_id = "declared_or_client", -- G0.9
  one_choice_only = true, -- S0.32
  filters = { "declared", "dialect", "circuit" },
  order = { "reserved", "priority", "catalogue" },
  classify = rows(
    { cause = "status", shape = "refusal", class = "refusal" }, -- S0.34: before every status
    { status = 429, class = "throttled" },
    { status = { 401, 402, 403 }, class = "auth" },
    { cause = "status", shape = "context_overflow", class = "context_overflow" },
    { status = 404, class = "not_found" },
    { cause = "status", shape = "model_unknown", class = "not_found" },
    { status = "5xx", class = "server_error" },
    { cause = "status", shape = "overload", class = "overloaded" },
    { status = "4xx", class = "invalid_request" }),
  classes = alike({
    refusal = { move = "no", export = "content_policy", uptime = "skip" },
    context_overflow = { move = "no", export = "context_overflow" },
    throttled = { move = "next", charge = 1, uptime = "skip", retryable = true,
      export = "rate_limit",
      retry_after = "upstream", pool = { min = 1, max = 60 } }, -- S0.53, S0.54
    auth = { move = "next", charge = 1, export = "auth" },
    not_found = { move = "next", charge = 1, export = "model_unavailable" },
    invalid_request = { move = "no", export = "upstream_error", uptime = "skip" },
    client_cancel = { charge = "success", uptime = "skip" }, -- S0.55
  }, FAILED .. "overloaded", { move = "next", charge = 1, export = "upstream_error",
    retryable = true }),
  clocks = { connect = 10, headers = 20 },
  health = { mode = "exclude", key = "connection", threshold = 2, cooldown = 30 },
  commit = { outputs = { "text", "reasoning", "tool", "refusal" },
    started_on = { "text", "reasoning", "tool", "refusal", "usage" } },
  response_headers = {
    ["x-request-id"] = "request_id",
    ["x-tm-upstream-model"] = { fact = "upstream_model", only = "differs" },
    ["x-tm-error-code"] = { fact = "error_class", only = "error" },
  },
  errors = {
    unknown_model = { status = 404, code = "model_unavailable", type = "invalid_request_error",
      message = 'model "%{model}" is not in the catalog' },
    all_open = { status = 503, code = "gateway_error", message = "all deployments cooling down",
      retry_after = 5, headers = { ["x-tm-limit-kind"] = "health" } },
    exhausted = { use_last = true },
  },
}

local rolter = acog.policy {
  name = "rolter",
  filters = { "declared", "dialect", "unrestricted", "circuit" },
  order = { "spread_first", "catalogue" },
  spread = "weighted",
  same_model_only = false,
  classify = rows(
    { status = 429, class = "throttled" },
    { status = 408, class = "status_408" },
    { status = "5xx", class = "server_error" },
    { status = 451, class = "refusal" },
    { status = { 400, 403, 422 }, shape = "refusal", class = "refusal" }, -- S1.13
    { status = "4xx", class = "invalid_request" }),
  classes = alike(alike({
    refusal = { move = "restricted", takeover = "refusal", relay = "verbatim" }, -- S1.11
    throttled = { move = "next", charge = 1, takeover = "throttled", retry_after = "upstream",
      pool = { min = 5, max = 300 } },
    invalid_request = { move = "no", relay = "verbatim" }, -- S1.14
  }, FAILED, { move = "next", charge = 1, takeover = "server_error" }),
    "status_408 timeout_connect timeout_headers", { move = "next", charge = 1,
      takeover = "timeout" }),
  attempts = { max = 3, restricted = "declared_order" }, -- S1.6, G1.2
  backoff = { kind = "exponential", min_ms = 100, max_ms = 2000, retry_after_max = 30 },
  clocks = { connect = 10, headers = 60 },
  health = { mode = "exclude", all_open = "fail_open" },
  commit = { hold_until = "headers", whole = "headers" },
  stream_error = { chat = { event = "verbatim", lost = "close" } },
  errors = { unknown_model = { status = 404, code = "model_not_found" } },
}

local kontinent = acog.policy {
  name = "kontinent",
  order = { "catalogue", "demoted_last" },
  classify = rows(
    { status = { 429, 503 }, shape = "overload", class = "overloaded" }, -- S2.27
    { status = { 401, 402, 403, 404, 408, 409, 425, 429 }, class = "conflict" }, -- S2.4
    { status = "5xx", class = "server_error" },
    { cause = "status", shape = "cannot_serve", class = "cannot_serve" }, -- S2.5
    { status = "4xx", class = "invalid_request" }),
  classes = alike(alike({
    overloaded = { move = "next", charge = "trip" },
    invalid_request = { move = "no", status = 400, export = "upstream_invalid_request",
      relay = "message" }, -- S2.8
  }, FAILED .. "conflict cannot_serve", { move = "next", charge = 1 }),
    "timeout_first_event timeout_full", { move = "next", charge = 1, by_time = true }),
  attempts = { max = 0, extra_slow_try = true }, -- S2.18
  clocks = {
    connect = 10,
    first_event = {
      { stream = true, base = 15 }, -- S2.9
      { stream = true, base = 45, reasoning = true, surfaces = "chat" }, -- S2.10
      { stream = true, base = 30, slow = true }, -- S2.12
      { stream = true, base = 60, extra_try = true }, -- S2.19
    },
    total = {
      { stream = false, base = 15, per = 20, add = 1, cap = 300 }, -- S2.11
      { stream = false, base = 60, per = 20, add = 1, cap = 300, extra_try = true },
    },
  },
  last_floor = { to = "last_not_demoted", base = 60 }, -- S2.13, decision 8
  health = { mode = "demote", key = "model_connection", threshold = 3, cooldown = 300, factor = 2,
    cooldown_max = 1800, all_open = "earliest_first" }, -- S2.25-S2.32
  commit = { hold_until = "first_event" },
  on_client_close = { drain = 15 }, -- S2.45
  stream_error = {
    chat = { event = "finish_error", lost = "close" }, -- S2.41, S2.42
    messages = { event = "verbatim", lost = "close" },
    responses = { event = "verbatim", lost = "close" },
  },
  errors = {
    unknown_model = { status = 503, code = "SUPPLY_NOT_CONFIGURED" },
    exhausted = { status = 502, code = "PROVIDER_ERROR", type = "api_error" },
    exhausted_by_time = { status = 502, code = "PROVIDER_ERROR", type = "api_error" },
  },
}

local onerouter = acog.policy {
  name = "onerouter",
  filters = { "declared", "dialect", "pin", "circuit" },
  order = { "first_output", "catalogue" }, -- S3.10
  pin = { scope = "connection", body = "provider.only", failover_inside = true, strip = true },
  classify = rows(
    { status = "5xx", class = "server_error" },
    { status = 429, class = "throttled" },
    { cause = "status", shape = "context_overflow", class = "context_overflow" },
    { status = "4xx", class = "invalid_request" }),
  classes = alike(alike({
    context_overflow = { move = "no", export = "context_too_long" },
    invalid_request = { move = "no", status = 400 },
  }, FAILED .. "throttled", { move = "next", charge = 1 }),
    "timeout_first_output timeout_full", { move = "next", charge = 1, by_time = true }),
  clocks = { connect = 10, first_output = { stream = true, base = 30 },
    total = { stream = false, base = 30 } },
  health = { mode = "exclude", key = "model_connection", threshold = 3 },
  response_headers = { ["x-onerouter-provider"] = "connection",
    ["x-onerouter-receipt"] = "plan_id" },
  errors = {
    exhausted = { status = 503, code = "model_unavailable" },
    exhausted_by_time = { status = 504, code = "request_timeout" }, -- S3.19
    pin_unmet = { status = 503, code = "model_unavailable" }, -- S3.15
  },
  stream_error = { chat = { event = "event_and_done", lost = "event_and_done" } },
}

local function gateway(t, policy, rows_of)
  local connections = {}
  for i, row in ipairs(rows_of) do
    row[2].models = row[2].models or { "m" }
    connections[i] = acog.connection(row[1])(row[2])
  end
  local gw = t.gateway { policy = policy, connections = connections }
  t.equal(gw.warnings, {}, policy.name)
  return gw
end

local function ask(t, gw, fields)
  local body = { model = "m", messages = t.hello }
  for key, value in pairs(fields or {}) do body[key] = value end
  return gw:post("/v1/chat/completions", body)
end

test("RouterPlus: a refusal is found before every status and never moves (S0.34, S0.35)",
  function(t)
  local gw = gateway(t, routerplus, { { "a", { priority = 1 } }, { "b", { priority = 2 } } })
  gw.upstream["a"]:answers { status = 503, error = { message = "no",
    code = "content_policy_violation" } }
  local reply = ask(t, gw)
  t.equal(#reply.attempts, 1)
  t.equal(reply.error_code, "content_policy")
  gw.upstream["a"]:answers { status = 403, error = { message = "bad key" } }
  t.equal(ask(t, gw).connection, "b") -- S0.40
end)

test("Rolter: a restricted target answers only what it takes over (S1.3, S1.5, S1.11)", function(t)
  local gw = gateway(t, rolter, {
    { "premium", { takes_over = { "refusal" } } }, { "cheap", {} },
  })
  t.equal(ask(t, gw).connection, "cheap")
  gw.upstream["cheap"]:answers { status = 451 }
  t.equal(ask(t, gw).connection, "premium")
  gw.upstream["cheap"]:answers { status = 500 }
  local reply = ask(t, gw) -- (ii) of S1.10: never for a 500
  t.equal(#reply.attempts, 1)
  t.equal(reply.status, 502)
end)

test("Kontinent: three failures move a route to the end, and no further (S2.25, S2.31)", function(t)
  local gw = gateway(t, kontinent, { { "a", {} }, { "b", {} } })
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 3 do t.equal(#ask(t, gw).attempts, 2) end
  t.equal(#ask(t, gw).attempts, 1)
  gw.upstream["a"]:answers {}
  gw.upstream["b"]:answers { status = 500 }
  t.equal(ask(t, gw).connection, "a")
end)

test("OneRouter: a pin in the body stays on its host (S3.14, S3.15)", function(t)
  local gw = gateway(t, onerouter, { { "together", {} }, { "groq", {} } })
  local pinned = { provider = { only = { "groq" } } }
  local reply = ask(t, gw, pinned)
  t.equal(reply.connection, "groq")
  t.equal(gw.upstream["groq"].requests[1].body.provider, nil)
  gw.upstream["groq"]:answers { status = 500 }
  t.equal(ask(t, gw, pinned).error_code, "model_unavailable")
  t.equal(gw.upstream["together"].count, 0)
end)
