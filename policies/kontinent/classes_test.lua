-- classes_test.lua - what follows from each class of failure (D5): the next route is asked, the
-- route has one failure more, and the client reads Kontinent's words.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.kontinent"

local CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"

local function routes(t, ids, model)
  local connections = {}
  for i, id in ipairs(ids) do
    connections[i] = acog.connection(id) { models = { m = model or {} } }
  end
  return t.gateway { policy = base, connections = connections }
end

local function ask(t, gw, fields)
  return gw:post(CHAT, t.with({ model = "m", messages = t.hello, max_tokens = 100 }, fields))
end

local function lasted_ms(attempt) return attempt.ended_ms - attempt.at_ms end

local page = { body = "<html>welcome</html>", content_type = "text/html" }
local unserved = { message = "no available channel" }

local failures = {
  { name = "refused", reply = { reset = "connect" }, class = "network" },
  { name = "torn", reply = { reset = "head" }, class = "network" },
  { name = "cut", reply = { reset = "body" }, class = "network" },
  { name = "never connected", reply = { hang = "connect" }, class = "timeout_connect", ms = 10000 },
  { name = "no first event", reply = { hang = "head" }, class = "timeout_first_event", ms = 15000,
    stream = true },
  { name = "no answer", reply = { hang = "head" }, class = "timeout_full", ms = 20000 },
  { name = "an error event", reply = { error_event = 0 }, class = "stream_error_first",
    stream = true },
  { name = "a page", reply = page, class = "bad_answer" },
  { name = "401", reply = { status = 401 }, class = "auth" },
  { name = "402", reply = { status = 402 }, class = "auth" },
  { name = "403", reply = { status = 403 }, class = "auth" },
  { name = "404", reply = { status = 404 }, class = "not_found" },
  { name = "408", reply = { status = 408 }, class = "status_408" },
  { name = "409", reply = { status = 409 }, class = "conflict" },
  { name = "425", reply = { status = 425 }, class = "conflict" },
  { name = "429", reply = { status = 429 }, class = "throttled" },
  { name = "500", reply = { status = 500 }, class = "server_error" },
  { name = "500 and overloaded", class = "server_error", -- S2.27 names 429 and 503 alone
    reply = { status = 500, error = { message = "The model is overloaded" } } },
  { name = "cannot serve", reply = { status = 400, error = unserved }, class = "cannot_serve" },
}

test("S2.3-S2.7, S2.25: what moves on is one failure of the route, and three demote it",
  function(t)
  t.cases(failures, function(row)
    local gw = routes(t, { "one", "two" })
    gw.upstream["one"]:answers(row.reply)
    for _ = 1, 3 do
      local reply = ask(t, gw, { stream = row.stream })
      t.equal(reply.tried, "one,two")
      t.equal(reply.attempts[1].class, row.class)
      t.equal(lasted_ms(reply.attempts[1]), row.ms or 0)
    end
    t.equal(ask(t, gw).tried, "two")
  end)
end)

test("S2.14, decision 8: it is the last that is not demoted, not the one before the demoted",
  function(t)
  local gw = routes(t, { "a", "b", "c" })
  for _, id in ipairs { "a", "b" } do
    gw.upstream[id]:answers { status = 503, error = { message = "overloaded" } }
  end
  ask(t, gw)
  for _, id in ipairs { "a", "b", "c" } do gw.upstream[id]:answers { hang = "head" } end
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried:sub(1, 5), "c,a,b")
  for i, ms in ipairs { 60000, 15000, 15000 } do t.equal(lasted_ms(reply.attempts[i]), ms) end
end)

test("S2.10, S2.11: a reasoning model's whole answer has the time of its tokens, not the 45 s",
  function(t)
  local gw = routes(t, { "one", "two" }, { reasoning = true })
  gw.upstream["one"]:answers { hang = "head" }
  local reply = ask(t, gw, { max_tokens = 2000 })
  t.equal(lasted_ms(reply.attempts[1]), 115000)
end)

test("S2.17, S2.19: the one more try of a stream has 60 s for its first event, and then no end",
  function(t)
  local gw = routes(t, { "one" })
  gw.upstream["one"]:answers { { hang = "head" },
    { text = "one two three", delay_ms = 59000, pace_ms = 20000 } }
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "one,one")
  t.equal(reply.text, "one two three")
  t.is_true(reply.complete and lasted_ms(reply.attempts[2]) > 80000)
end)

test("S2.6, S2.17: the first event is passed on at once, and what follows it moves nothing",
  function(t)
  local gw = routes(t, { "one", "two" })
  gw.upstream["one"]:answers { text = "late", first_output_delay_ms = 5000 }
  local handle = gw:start(CHAT, { model = "m", messages = t.hello, stream = true })
  gw:advance(0)
  t.equal(handle.reply.status, 200)
  handle:wait()
  gw.upstream["one"]:answers { text = "never", reset = 1 } -- behind the role
  t.equal(ask(t, gw, { stream = true }).tried, "one")
end)

test("S2.37, S2.38: the same form on chat and responses, to the letter", function(t)
  local gw = routes(t, { "one" })
  gw.upstream["one"]:answers { status = 500 }
  local form = '{"error":{"message":"Model %s %s","type":"api_error","param":null,"code":"%s"}}'
  local failed = form:format("m", "is not available right now. Nothing was charged. "
    .. "Retry in a moment.", "PROVIDER_ERROR")
  local unknown = form:format("nobody", "has no route at this time. Nothing was charged.",
    "SUPPLY_NOT_CONFIGURED")
  t.equal(ask(t, gw).body, failed)
  t.equal(ask(t, gw, { model = "nobody" }).body, unknown)
  t.equal(gw:post(RESPONSES, { model = "m", input = "hello" }).body, failed)
  t.equal(gw:post(RESPONSES, { model = "nobody", input = "hello" }).body, unknown)
end)

test("the record says whose policy it was", function(t)
  t.equal(ask(t, routes(t, { "one" })).record.policy, "kontinent")
end)
