-- fallback_test.lua - the policy-block fallback, whatever the client and the provider speak
-- (S4.24-S4.27, decision 10).
local acog, test = require "acog", require "acog.test"
local base = require "policies.acog"
local surfaces = require "surfaces"

local asked, fallback = "claude-haiku-4-5", "claude-opus-4-8"
local note = "The requested model declined to answer; " .. fallback .. " answered instead."

local function gateway(t, dialect, second)
  return t.gateway {
    policy = base:with { refusal = { fallback_model = fallback } },
    connections = {
      acog.connection "a" {
        dialects = { dialect },
        models = { asked, fallback },
        simulate = { { refusal = true }, second },
      },
    },
  }
end

local function each(t, act)
  for _, dialect in ipairs { "chat", "messages", "responses", "gemini" } do
    for _, stream in ipairs { false, true } do
      for path, body in pairs(surfaces(t, { model = asked, stream = stream })) do
        act(dialect, path, body, path .. " by " .. dialect .. (stream and ", streamed" or ""))
      end
    end
  end
end

test("S4.24, S4.26: a refusal is answered by the fallback model, and a note says so", function(t)
  each(t, function(dialect, path, body, what)
    local reply = gateway(t, dialect, { text = "I can." }):post(path, body)
    t.equal(reply.status, 200, what)
    t.equal(reply.header["x-acog-policy-fallback"], "applied", what)
    t.equal(reply.text, note .. "\n\nI can.", what)
    t.equal(#reply.attempts, 2, what)
    t.equal(reply.attempts[2].model, fallback, what)
  end)
end)

test("S4.29: when the fallback model fails, the first refusal is the answer", function(t)
  each(t, function(dialect, path, body, what)
    local reply = gateway(t, dialect, { status = 500 }):post(path, body)
    t.equal(reply.status, 200, what)
    t.equal(reply.header["x-acog-policy-fallback"], "unavailable", what)
    t.equal(reply.complete, true, what)
    t.equal(reply.text or "", "", what)
  end)
end)
