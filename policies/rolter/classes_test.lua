-- classes_test.lua - what follows from each class of failure (D5): who is next, whether the target
-- has one failure more, what the client is told.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.rolter"

local CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
local FIRST = 1000000 -- against a weight of 1: the strategy's pick, as good as always

--- Targets from rows { id, weight, takes_over }.
local function route(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1]) { models = { "m" }, weight = row[2],
      takes_over = row[3] }
  end
  return t.gateway { policy = policy or base, connections = connections }
end

local function first_and_second(t, policy)
  return route(t, { { "first", FIRST }, { "second", 1 } }, policy)
end

local function ask(t, gw, fields)
  return gw:post(CHAT, t.with({ model = "m", messages = t.hello }, fields))
end

local failures = {
  { name = "refused", reply = { reset = "connect" }, class = "network", takeover = "connection",
    status = 503, code = "upstream_unavailable" },
  { name = "torn", reply = { reset = "head" }, class = "network", takeover = "connection",
    status = 503, code = "upstream_unavailable" },
  { name = "never connected", reply = { hang = "connect" }, class = "timeout_connect", ms = 10000,
    takeover = "timeout", status = 503, code = "upstream_unavailable" },
  { name = "no head", reply = { hang = "head" }, class = "timeout_headers", ms = 60000,
    takeover = "timeout", status = 503, code = "upstream_unavailable" },
  { name = "408", reply = { status = 408 }, class = "status_408", takeover = "timeout",
    status = 503, code = "upstream_unavailable" },
  { name = "500", reply = { status = 500 }, class = "server_error", takeover = "server_error",
    status = 502, code = "upstream_error" },
  { name = "a redirect", reply = { status = 302 }, class = "bad_answer", takeover = "server_error",
    status = 502, code = "upstream_error" },
}

test("S1.1, D5: what moves is a failure of the target, and five in sequence put it aside",
  function(t)
  t.cases(failures, function(row)
    local gw = first_and_second(t)
    gw.upstream["first"]:answers(row.reply)
    for _ = 1, 5 do
      local reply = ask(t, gw)
      t.equal(reply.tried, "first,second")
      t.equal(reply.attempts[1].class, row.class)
      t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, row.ms or 0)
    end
    t.equal(ask(t, gw).tried, "second")
  end)
end)

test("S1.9, G1.1: each is taken over by its name; where nobody does, D14 says what is told",
  function(t)
  t.cases(failures, function(row)
    local gw = route(t, { { "main", 1 }, { "spare", 1, { row.takeover } } })
    gw.upstream["main"]:answers(row.reply)
    t.equal(ask(t, gw).tried, "main,spare")
    gw = route(t, { { "main", 1 } })
    gw.upstream["main"]:answers(row.reply)
    local reply = ask(t, gw)
    t.equal(reply.status, row.status)
    t.equal(reply.error_code, row.code)
  end)
end)

test("S1.14: another client error is asked nowhere else, and is no fault of the target", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { status = 404 }
  for _ = 1, 6 do t.equal(ask(t, gw).tried, "first") end
end)

test("D8: a target rests for thirty seconds, not for a second less", function(t)
  local gw = first_and_second(t, base:with { backoff = { kind = "none" } }) -- so no time passes
  gw.upstream["first"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  gw:advance(29.5)
  t.equal(ask(t, gw).tried, "second")
  gw:advance(0.5)
  t.equal(ask(t, gw).tried, "first,second")
end)

test("C-10: when all are open the strategy picks as ever, not the one that opened first",
  function(t)
  local gw = first_and_second(t, base:with { backoff = { kind = "none" } })
  gw.upstream["first"]:answers { status = 429 } -- parked for five seconds, never open
  gw.upstream["second"]:answers { status = 500 }
  for _ = 1, 5 do
    t.equal(ask(t, gw).tried, "first,second")
    gw:advance(5)
  end
  gw.upstream["first"]:answers { status = 500 }
  for _ = 1, 5 do t.equal(ask(t, gw).tried, "first") end
  t.equal(ask(t, gw).tried, "first,second")
end)

test("C-9, D6: a pause is drawn from 100 ms at first, doubled up to two seconds", function(t)
  --- The pauses of a policy whose draws leave no choice.
  local function pauses(backoff)
    local gw = first_and_second(t, base:with { backoff = backoff })
    gw.upstream["first"]:answers { status = 500 }
    gw.upstream["second"]:answers { status = 500 }
    local seen = {}
    for i = 1, 40 do
      local attempts = ask(t, gw).attempts
      if attempts[2] then seen[i] = attempts[2].at_ms - attempts[1].ended_ms end
    end
    return seen
  end
  for _, ms in pairs(pauses { kind = "random", max_ms = 100 }) do t.equal(ms, 100) end
  for _, ms in pairs(pauses { kind = "random", min_ms = 2000 }) do t.equal(ms, 2000) end
  for _, ms in pairs(pauses {}) do t.is_true(ms <= 100) end
end)

test("C-26: the Retry-After of a 429 goes on, up to five minutes", function(t)
  for told, passed in pairs { ["7"] = "7", ["9999"] = "300" } do
    local gw = route(t, { { "main", 1 } })
    gw.upstream["main"]:answers { status = 429, headers = { ["retry-after"] = told } }
    t.equal(ask(t, gw).header["retry-after"], passed)
  end
end)

test("D14: a model that nobody declares is a 404", function(t)
  local reply = ask(t, first_and_second(t), { model = "nobody" })
  t.equal(reply.status, 404)
  t.equal(reply.error_code, "model_not_found")
end)

test("D13: the answer names its target and the model that it was asked for", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "main" { models = { m = { send_id = "small" } } },
  } }
  local reply = ask(t, gw)
  t.equal(reply.header["x-rolter-target"], "main")
  t.equal(reply.header["x-rolter-model"], "small")
  t.equal(reply.record.policy, "rolter")
end)

test("D15: in every dialect an error event is passed on, and a stream that is lost is closed",
  function(t)
  local bodies = {
    [CHAT] = { model = "m", messages = t.hello, stream = true },
    [MESSAGES] = { model = "m", messages = t.hello, stream = true, max_tokens = 9 },
    [RESPONSES] = { model = "m", input = "hello", stream = true },
  }
  for path, body in pairs(bodies) do
    local gw = route(t, { { "main", 1 } })
    gw.upstream["main"]:answers { text = "one two three four five six", error_event = 6,
      error = { message = "their own words" } }
    t.match(gw:post(path, body).body, "their own words")
    gw.upstream["main"]:answers { text = "one two three four five six", reset = 6 }
    local reply = gw:post(path, body)
    t.is_false(reply.complete)
    for _, name in ipairs { '"error":{', "event: error", "response.failed" } do
      t.no_match(reply.body, name)
    end
  end
end)

test("D3: a target that does not speak the client's API is passed over", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "first" { dialects = "messages", models = { "m" }, weight = FIRST },
    acog.connection "second" { dialects = "chat", models = { "m" } },
  } }
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi" }) -- never translated
  t.equal(reply.connection, "second")
  t.equal(reply.why["first"], "does not speak this API")
end)

test("S1.3, D3: where only restricted targets speak the API nobody can be dialled first",
  function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "mute" { dialects = "messages", models = { "m" } },
    acog.connection "special" { models = { "m" }, takes_over = { "throttled" } },
  } }
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi" })
  t.equal(reply.status, 403)
  t.equal(reply.error_code, "route_restricted")
  t.equal(#reply.attempts, 0)
end)
