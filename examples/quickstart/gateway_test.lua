-- The quick start's own test: `acog test examples/quickstart`.
local test = require "acog.test"

local function chat(t, model, stream)
  return { model = model, stream = stream, messages = t.hello }
end

test("each API has its simulated provider", function(t)
  local gw = t.gateway "gateway.lua"
  for _, stream in ipairs { false, true } do
    local reply = gw:post("/v1/chat/completions", chat(t, "gpt-5-mini", stream))
    t.equal(reply.connection, "openai")
    t.match(reply.text, "simulated GPT")
    local body = { model = "claude-haiku-4-5", max_tokens = 64, stream = stream,
      messages = t.hello }
    reply = gw:post("/v1/messages", body)
    t.equal(reply.connection, "anthropic")
    t.match(reply.text, "simulated Claude")
    reply = gw:post("/v1/responses", { model = "gpt-5", stream = stream, input = "hello" })
    t.equal(reply.status, 200)
  end
end)

test("a provider that is down costs the client nothing", function(t)
  local gw = t.gateway "gateway.lua"
  local reply = gw:post("/v1/chat/completions", chat(t, "failover-demo"))
  t.equal(reply.status, 200)
  t.equal(reply.connection, "steady")
  t.equal(reply.header["x-acog-attempts"], "2")
  t.equal(reply.why["flaky"], "server_error")
end)

test("after five failures it is left alone for a while", function(t)
  local gw = t.gateway "gateway.lua"
  for _ = 1, 5 do gw:post("/v1/chat/completions", chat(t, "failover-demo")) end
  t.equal(gw:post("/v1/chat/completions", chat(t, "failover-demo")).header["x-acog-attempts"], "1")
  gw:advance(31)
  t.equal(gw:post("/v1/chat/completions", chat(t, "failover-demo")).header["x-acog-attempts"], "2")
end)

test("a model of one API answers another, and what was left out is named", function(t)
  local gw = t.gateway "gateway.lua"
  local body = { model = "gpt-5-mini", max_tokens = 64, top_k = 5, messages = t.hello }
  local reply = gw:post("/v1/messages", body)
  t.equal(reply.status, 200)
  t.equal(reply.connection, "openai")
  t.equal(reply.json.type, "message")
  t.equal(reply.header["x-acog-dropped-params"], "top_k")
end)
