-- boundary_test.lua - what shows only at an edge: each of these tests fails when one word of
-- onerouter.lua is another.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.onerouter"

local CHAT = "/v1/chat/completions"

local function two(t)
  return t.gateway { policy = base, connections = {
    acog.connection "one" { models = { "m", "n" } },
    acog.connection "two" { models = { "m", "n" } },
  } }
end

local function ask(t, gw, fields)
  return gw:post(CHAT, t.with({ model = "m", messages = t.hello, stream = true }, fields))
end

test("S3.5: a tool call commits", function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { text = "", tool = { name = "f", arguments = "{}" }, reset = 2 }
  ask(t, gw)
  t.equal(gw.upstream["two"].count, 0)
end)

test("S3.7, G3.6: a host that sends no first token in time is charged", function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { hang = "body" }
  for round = 1, 3 do
    t.equal(ask(t, gw).connection, "two")
    t.equal(gw.upstream["one"].count, round)
  end
  t.equal(ask(t, gw).connection, "two")
  t.equal(gw.upstream["one"].count, 3)
end)

test("G3.6: a circuit is of one model on one host", function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  gw.upstream["one"]:answers {}
  t.equal(ask(t, gw).connection, "two")
  t.equal(ask(t, gw, { model = "n" }).connection, "one")
end)

test("S3.20, G3.6: an answer that dies after it began is a failure of its host", function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { text = "one two", reset = 2 }
  local pinned = { provider = { only = { "one" } } }
  for _ = 1, 3 do t.equal(ask(t, gw, pinned).connection, "one") end
  t.equal(ask(t, gw, pinned).status, 503)
  t.equal(gw.upstream["one"].count, 3)
end)

test("G3.5: a request's own fault is told in the host's words", function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { status = 422, error = { message = "top_p is above 1",
    type = "invalid_request_error" } }
  local reply = ask(t, gw)
  t.equal(reply.status, 400)
  t.match(reply.json.error.message, "top_p is above 1")
  t.equal(gw.upstream["two"].count, 0)
end)
