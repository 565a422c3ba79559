-- boundary_test.lua - what shows only at an edge: each of these tests fails when one word of
-- kontinent.lua is another.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.kontinent"

local CHAT = "/v1/chat/completions"

local function two(t)
  return t.gateway { policy = base, connections = {
    acog.connection "one" { models = { "m" } },
    acog.connection "two" { models = { "m" } },
  } }
end

local function body_of(t)
  return { model = "m", messages = t.hello, stream = true }
end

local function ask(t, gw)
  return gw:post(CHAT, body_of(t))
end

test("S2.24: what dies after it began is a failure of its route, what the client left is not",
  function(t)
  local gw = two(t)
  gw.upstream["one"]:answers { hang = "head" }
  for _ = 1, 4 do gw:start(CHAT, body_of(t)):hang_up() end
  gw:advance(60) -- it is read on for a while (S2.45)
  gw.upstream["one"]:answers { text = "one two", reset = 2 }
  for _ = 1, 3 do t.equal(ask(t, gw).connection, "one") end
  t.equal(ask(t, gw).connection, "two")
end)
