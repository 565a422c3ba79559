-- boundary_test.lua - what shows only at an edge: each of these tests fails when one word of
-- routerplus.lua is another.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.routerplus"

local CHAT = "/v1/chat/completions"
local REFUSAL_BEGINS = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
  .. '"choices":[{"index":0,"delta":{"role":"assistant","refusal":"I"},"finish_reason":null}]}\n\n'

local function gateway(t, ids)
  local connections = {}
  for i, id in ipairs(ids) do
    connections[i] = acog.connection(id) { models = { "m" }, priority = i }
  end
  return t.gateway { policy = base, connections = connections }
end

local function stream(t, gw)
  return gw:post(CHAT, { model = "m", messages = t.hello, stream = true })
end

test("S0.19, S0.25: each kind of output commits: what dies after it is not asked elsewhere",
  function(t)
  t.cases({
    { name = "text", reply = { text = "one two", reset = 2 } },
    { name = "reasoning", reply = { text = "", reasoning = "hmm", reset = 2 } },
    { name = "tool", reply = { text = "", tool = { name = "f", arguments = "{}" }, reset = 2 } },
    { name = "refusal", reply = { content_type = "text/event-stream", body = REFUSAL_BEGINS } },
  }, function(row)
    local gw = gateway(t, { "one", "two" })
    gw.upstream["one"]:answers(row.reply)
    local reply = stream(t, gw)
    t.equal(#reply.attempts, 1)
    t.equal(reply.attempts[1].outcome, "incomplete")
    t.equal(gw.upstream["two"].count, 0)
  end)
end)

test("S0.11: all deployments are tried, however many there are", function(t)
  local gw = gateway(t, { "one", "two", "three", "four", "five" })
  for _, id in ipairs { "one", "two", "three", "four" } do
    gw.upstream[id]:answers { reset = "head" }
  end
  t.equal(stream(t, gw).connection, "five")
end)

test("S0.37, S0.41: a context that is too long fails over neither as a status nor as an event",
  function(t)
  local error = { message = "too long", type = "invalid_request_error",
    code = "context_length_exceeded" }
  local failures = { { status = 400, error = error }, { error_event = 0, error = error } }
  for _, failure in ipairs(failures) do
    local gw = gateway(t, { "one", "two" })
    gw.upstream["one"]:answers(failure)
    local reply = stream(t, gw)
    t.equal(reply.error_code, "context_overflow")
    t.equal(gw.upstream["two"].count, 0)
  end
end)

test("S0.44, S0.49: an answer that dies after it began is a failure of its deployment", function(t)
  local gw = gateway(t, { "one", "two" })
  gw.upstream["one"]:answers { text = "one two", reset = 2 }
  for _ = 1, 2 do t.equal(stream(t, gw).connection, "one") end
  t.equal(stream(t, gw).connection, "two")
end)
