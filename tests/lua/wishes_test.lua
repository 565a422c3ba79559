-- wishes_test.lua - "What is often wanted" of policies/README.md: each row of that table stands
-- here to the letter (newcomer_test.py looks), and does what it says.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local CHAT = "/v1/chat/completions"

--- "a", "b" and "c" of the same models: "c" is the cheapest, has the lowest priority, is in the EU.
local function gateway(t, fields)
  local connections = {}
  for i, id in ipairs { "a", "b", "c" } do
    local price = 4 - i
    connections[i] = acog.connection(id) {
      channel = "custom", region = id == "c" and "eu" or "us", priority = price,
      models = {
        ["gpt-5-mini"] = { input = price, output = price },
        ["claude-opus-4-8"] = { input = 9, output = 9 },
      },
    }
  end
  return t.gateway { policy = base:with(fields), connections = connections }
end

local function ask(t, gw, fields, headers)
  return gw:post(CHAT, t.with({ model = "gpt-5-mini", messages = t.hello }, fields), headers)
end

local function all_answer(gw, reply)
  for _, id in ipairs { "a", "b", "c" } do gw.upstream[id]:answers(reply) end
end

test("the lowest `priority` first, the cheapest first", function(t)
  for _, fields in ipairs {
    { order = { "priority" }, spread = "none" },
    { order = { "spread" }, spread = "cheapest" },
  } do
    local gw = gateway(t, fields)
    for _ = 1, 5 do t.equal(ask(t, gw).connection, "c") end
  end
end)

test("the fastest first", function(t)
  local gw = gateway(t, { order = { "first_output" }, spread = "none" })
  for id, ms in pairs { a = 500, b = 50, c = 300 } do gw.upstream[id]:answers { delay_ms = ms } end
  for _ = 1, 3 do ask(t, gw, { stream = true }) end
  t.equal(ask(t, gw).connection, "b")
end)

test("a 5xx once more in place, then on", function(t)
  local gw = gateway(t, { classes = { server_error = { same = "first", same_max = 1 } } })
  all_answer(gw, { status = 500 })
  t.equal(ask(t, gw).tried, "a,a,b")
end)

test("a 429 waits as long as it says, up to ten seconds", function(t)
  for told, waited in pairs { [7] = 7000, [60] = 10000 } do
    local gw = gateway(t, { backoff = { retry_after_max = 10 } })
    all_answer(gw, { status = 429, headers = { ["retry-after"] = told } })
    t.equal(ask(t, gw).attempts[2].at_ms, waited)
  end
end)

test("less patience with streams", function(t)
  local gw = gateway(t, { clocks = { first_output = { stream = true, base = 10 }, idle = 15 } })
  gw.upstream["a"]:answers { { hang = "body" }, { text = "one two", hang = 3 } }
  for _, seconds in ipairs { 10, 15 } do
    local attempt = ask(t, gw, { stream = true }).attempts[1]
    t.equal({ attempt.connection, attempt.ended_ms }, { "a", seconds * 1000 })
    for _ = 1, 2 do ask(t, gw) end -- so it is the turn of "a" again
  end
end)

test("a circuit for each connection, opened sooner", function(t)
  local gw = gateway(t, { health = { key = "connection", threshold = 3, cooldown = 10 } })
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 9 do ask(t, gw) end
  t.equal(ask(t, gw).why["a"], "its circuit is open")
  gw:advance(10)
  for _ = 1, 3 do ask(t, gw) end
  t.equal(gw.upstream["a"].count, 4)
end)

test("no other model when one refuses", function(t)
  local gw = gateway(t, { refusal = { fallback_model = false } })
  all_answer(gw, { refusal = true })
  t.equal(#ask(t, gw).attempts, 1)
end)

test("a name of your own for a model", function(t)
  local gw = gateway(t, { aliases = { fast = "gpt-5-mini" } })
  t.equal(ask(t, gw, { model = "fast" }).model, "gpt-5-mini")
end)

test("a team held to some models", function(t)
  local gw = gateway(t, {
    access = { { header = "x-team", value = "interns", models = "gpt-5-mini" } },
  })
  local interns, other = { ["x-team"] = "interns" }, { model = "claude-opus-4-8" }
  t.equal(ask(t, gw, {}, interns).status, 200)
  t.equal(ask(t, gw, other, interns).status, 403)
  t.equal(ask(t, gw, other).status, 200)
end)

test("certain words only to certain connections", function(t)
  local gw = gateway(t, {
    dlp = { { name = "health", words = { "diagnosis" }, regions = "eu" } },
  })
  local messages = { { role = "user", content = "The diagnosis: fine." } }
  for _ = 1, 5 do t.equal(ask(t, gw, { messages = messages }).connection, "c") end
end)

test("one more header in the answer", function(t)
  local gw = gateway(t, { response_headers = { ["x-acog-first-output-ms"] = "first_output_ms" } })
  gw.upstream["a"]:answers { delay_ms = 40 }
  t.equal(ask(t, gw).header["x-acog-first-output-ms"], "40")
end)
