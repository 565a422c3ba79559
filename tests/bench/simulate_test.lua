--- 10,000 simulated requests: what `acog test` costs. Run by bench.py, which takes the time.
local acog = require "acog"
local test = require "acog.test"
local policy = require "policies.acog"

for thousand = 1, 10 do
  test("the requests of thousand " .. thousand, function(t)
    local gw = t.gateway {
      policy = policy,
      connections = {
        acog.connection "one" { dialects = { "chat" }, models = { "m" } },
        acog.connection "two" { dialects = { "chat" }, models = { "m" } },
      },
    }
    gw.upstream["one"]:answers { { status = 503 }, {} }
    for _ = 1, 1000 do
      local reply = gw:post("/v1/chat/completions", { model = "m", messages = t.hello })
      if reply.status ~= 200 then t.fail("status " .. tostring(reply.status)) end
    end
  end)
end
