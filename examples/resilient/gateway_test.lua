--- The sixteen scenarios under the policy that was made for them: 13 pass, 3 safe. And under the
-- default policy, which asks less of the primary: none fails.
local acog = require "acog"
local test = require "acog.test"
local scenarios = require "scenarios"

local function sorted_ids()
  local ids = {}
  for id in pairs(scenarios.rows) do ids[#ids + 1] = id end
  table.sort(ids)
  return ids
end

for _, id in ipairs(sorted_ids()) do
  local row = scenarios.rows[id]
  test(("%s: %s: %s"):format(id, row.name, row.verdict), function(t)
    local verdict, missed = scenarios.play(t, t.gateway "gateway.lua", row)
    t.equal(verdict, row.verdict, missed)
  end)
end

test("thirteen pass, three are safe", function(t)
  local count = { pass = 0, safe = 0 }
  for _, row in pairs(scenarios.rows) do count[row.verdict] = count[row.verdict] + 1 end
  t.equal(count, { pass = 13, safe = 3 })
end)

test("the policy's own clocks end a silence before and after the first output", function(t)
  local gw = t.gateway "gateway.lua"
  local body = { model = "bench", stream = true, messages = t.hello }
  gw.upstream["primary"]:answers { { hang = "head" }, { hang = 3, text = "one two three four" } }
  local reply = gw:post("/v1/chat/completions", body)
  t.equal(reply.why["primary"], "timeout_headers")
  t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, 8000)
  t.equal(reply.connection, "fallback")
  reply = gw:post("/v1/chat/completions", body)
  t.equal(reply.text, "one two")
  t.equal(reply.error_code, "upstream_error")
  t.equal(reply.duration_ms, 20000)
end)

--- What the default policy does otherwise: a 429 and a 500 go on to the fallback at once, and a
-- first output may take two minutes.
local OTHERWISE = { S01 = "partial", S03 = "partial", S07 = "partial", S15 = "partial" }

for _, id in ipairs(sorted_ids()) do
  local row = scenarios.rows[id]
  local expected = OTHERWISE[id] or row.verdict
  test(("%s under policies.acog: %s"):format(id, expected), function(t)
    local gw = t.gateway {
      policy = require "policies.acog",
      connections = {
        acog.connection "primary" { -- nearly every turn is its own
          channel = "custom", dialects = { "chat" }, weight = 1000000,
          models = { bench = { send_id = "primary-1" } }, simulate = true,
        },
        acog.connection "fallback" {
          channel = "custom", dialects = { "chat" },
          models = { bench = { send_id = "fb-ok" } }, simulate = true,
        },
      },
    }
    local verdict, missed = scenarios.play(t, gw, row)
    t.equal(verdict, expected, missed)
  end)
end
