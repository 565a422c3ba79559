-- boundary_test.lua - what shows only at an edge: each of these tests fails when one word of
-- rolter.lua is another.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.rolter"

local CHAT = "/v1/chat/completions"
local FIRST = 1000000 -- against a weight of 1: the strategy's pick, as good as always

--- Targets from rows { id, weight, takes_over }, each with the models "m" and "n".
local function route(t, rows)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1]) { models = { "m", "n" }, weight = row[2],
      takes_over = row[3] }
  end
  return t.gateway { policy = base, connections = connections }
end

local function first_and_second(t)
  return route(t, { { "first", FIRST }, { "second", 1 } })
end

local function body_of(t, fields)
  return t.with({ model = "m", messages = t.hello }, fields)
end

local function ask(t, gw, fields)
  return gw:post(CHAT, body_of(t, fields))
end

test("S1.4: the pick follows the weights", function(t)
  local gw = route(t, { { "heavy", 3 }, { "light", 1 } })
  for _ = 1, 400 do ask(t, gw) end
  local heavy = gw.upstream["heavy"].count
  t.is_true(heavy > 260 and heavy < 340, "heavy got " .. heavy)
end)

test("decision 7: a target that takes over stands where it was declared", function(t)
  local takes = { "server_error" }
  t.cases({
    { name = "after the ordinary ones", to = "ordinary",
      rows = { { "first", FIRST }, { "ordinary", 1 }, { "special", 1, takes } } },
    { name = "before the other ordinary one", to = "special",
      rows = { { "first", FIRST }, { "special", 1, takes }, { "ordinary", 1 } } },
  }, function(row)
    local gw = route(t, row.rows)
    gw.upstream["first"]:answers { status = 500 }
    t.equal(ask(t, gw).connection, row.to)
  end)
end)

test("S1.13: a 451 is a refusal whatever its body says", function(t)
  local gw = route(t, { { "first", 1 }, { "permissive", 1, { "refusal" } } })
  gw.upstream["first"]:answers { status = 451, body = "<html>", content_type = "text/html" }
  t.equal(ask(t, gw).connection, "permissive")
end)

test("S1.11, G1.7: refusals are no fault of the target that refuses", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { status = 451 }
  for _ = 1, 8 do ask(t, gw) end
  t.equal(gw.upstream["first"].count, 8)
end)

test("D8: a 429 parks its target, and never opens the circuit", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { status = 429 }
  for round = 1, 8 do
    t.equal(ask(t, gw).connection, "second")
    t.equal(gw.upstream["first"].count, round)
    gw:advance(6) -- parked for five
  end
end)

test("part D: a longer Retry-After than thirty seconds is not waited for inside a request",
  function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { status = 429, headers = { ["retry-after"] = "50" } }
  local reply = ask(t, gw)
  t.equal(reply.attempts[2].at_ms - reply.attempts[1].ended_ms, 30000)
end)

test("C-15: once the head has come, a whole answer is that target's", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { reset = "body" }
  local reply = ask(t, gw)
  t.is_false(reply.complete)
  t.equal(gw.upstream["second"].count, 0)
end)

test("part D: a circuit is of one model on one target", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  gw.upstream["first"]:answers {}
  t.equal(ask(t, gw).connection, "second")
  t.equal(ask(t, gw, { model = "n" }).connection, "first")
end)

test("part D: what dies after its head is charged, what the client left is not", function(t)
  local gw = first_and_second(t)
  gw.upstream["first"]:answers { hang = "body" }
  for _ = 1, 6 do gw:start(CHAT, body_of(t, { stream = true })):hang_up() end
  gw.upstream["first"]:answers { text = "one two", reset = 2 }
  for _ = 1, 5 do t.equal(ask(t, gw, { stream = true }).connection, "first") end
  t.equal(ask(t, gw, { stream = true }).connection, "second")
end)
