-- A test for each promise of legal.lua: `acog test examples/scratch`.
local acog = require "acog"
local test = require "acog.test"

local PATHS = {
  chat = "/v1/chat/completions",
  messages = "/v1/messages",
  responses = "/v1/responses",
}

local function body(t, api, stream)
  local asked = { model = "gpt-5-mini", stream = stream }
  if api == "responses" then asked.input = "hello" else asked.messages = t.hello end
  if api == "messages" then asked.max_tokens = 10 end
  return asked
end

local function chat(t, gw, stream, headers)
  return gw:post(PATHS.chat, body(t, "chat", stream), headers)
end

local LEGAL = { ["X-Team"] = "legal" }

test("the cheapest is asked first", function(t)
  t.equal(chat(t, t.gateway "gateway.lua").connection, "us")
end)

test("a 429 moves on at once", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { status = 429, headers = { ["retry-after"] = 7 } }
  local reply = chat(t, gw)
  t.equal(reply.connection, "eu")
  t.equal(reply.attempts[2].at_ms, 0)
end)

test("a 500 is asked once more after 200 ms, then moves on at once", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { { status = 500 }, {} }
  t.equal(chat(t, gw).connection, "us")
  gw.upstream["us"]:answers { status = 500 }
  local reply = chat(t, gw)
  t.equal(reply.connection, "eu")
  t.equal({ reply.attempts[2].connection, reply.attempts[2].at_ms }, { "us", 200 })
  t.equal({ reply.attempts[3].connection, reply.attempts[3].at_ms }, { "eu", 200 })
end)

test("a first output has five seconds", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { first_output_delay_ms = 5001 }
  for _, stream in ipairs { false, true } do
    local reply = chat(t, gw, stream)
    t.equal(reply.connection, "eu")
    t.equal(reply.attempts[1].ended_ms, 5000)
  end
end)

test("whatever breaks before the first output goes on to the next", function(t)
  local rows = {
    { name = "no connection", reset = "connect" },
    { name = "closed", close = "head" },
    { name = "torn", reset = "body" },
    { name = "no answer", body = "<html>", content_type = "text/html" },
    { name = "an error event", error_event = 0 },
    { name = "a redirect", status = 302 },
  }
  t.cases(rows, function(row)
    local gw = t.gateway "gateway.lua"
    local words = {}
    for word, value in pairs(row) do words[word] = value end
    words.name = nil
    gw.upstream["us"]:answers(words)
    t.equal(chat(t, gw, true).connection, "eu")
  end)
end)

test("a stream that is cut ends with one error of its dialect, and nothing moves", function(t)
  t.cases({ chat = {}, messages = {}, responses = {} }, function(_, api)
    local gw = t.gateway "gateway.lua"
    gw.upstream["us"]:answers { text = "one two three four five six", reset = 6 }
    local reply = gw:post(PATHS[api], body(t, api, true))
    t.equal(reply.connection, "us")
    t.equal(gw.upstream["eu"].count, 0)
    t.is_true(reply.complete)
    t.match(reply.events[#reply.events].text, "error")
    t.no_match(reply.body, "[DONE]")
  end)
end)

test("a stream that falls silent is told so after ten seconds", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { text = "one two three", hang = 3 }
  local reply = chat(t, gw, true)
  t.equal(reply.connection, "us")
  t.equal(reply.duration_ms, 10000)
  t.match(reply.events[#reply.events].text, "error")
end)

test("three failures open the circuit for 30 seconds, then one request tests it", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { close = "head" }
  for _ = 1, 3 do chat(t, gw) end
  t.equal(chat(t, gw).why["us"], "its circuit is open")
  t.equal(gw.upstream["us"].count, 3)
  gw:advance(30)
  gw.upstream["us"]:answers { delay_ms = 1000 }
  local handles, served = {}, { us = 0, eu = 0 }
  for i = 1, 20 do handles[i] = gw:start(PATHS.chat, body(t, "chat")) end
  for _, handle in ipairs(handles) do
    local by = handle:wait().connection
    served[by] = served[by] + 1
  end
  t.equal(served, { us = 1, eu = 19 })
  t.equal(chat(t, gw).connection, "us")
end)

test("legal stays in the EU, whatever fails there", function(t)
  local gw = t.gateway "gateway.lua"
  local reply = chat(t, gw, false, LEGAL)
  t.equal(reply.connection, "eu")
  t.equal(reply.why["us"], "legal stays in the EU")
  gw.upstream["eu"]:answers { status = 503 }
  t.equal(chat(t, gw, false, LEGAL).status, 502)
  gw.upstream["eu"]:answers { { refusal = true }, {} }
  t.equal(chat(t, gw, false, LEGAL).model, "gpt-5")
  t.equal(gw.upstream["us"].count, 0)
end)

test("a refusal is asked of the fallback model", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { { refusal = true }, { text = "as you wish" } }
  local reply = chat(t, gw)
  t.equal({ reply.model, reply.text }, { "gpt-5", "as you wish" })
  t.is_true(reply.attempts[2].fallback)
end)

test("errors are of the client's dialect", function(t)
  local gw = t.gateway "gateway.lua"
  for _, id in ipairs { "us", "eu" } do gw.upstream[id]:answers { status = 503 } end
  t.is_true(chat(t, gw).json.error.code)
  local reply = gw:post(PATHS.messages, body(t, "messages"))
  t.equal(reply.json.type, "error")
end)

test("what a translation leaves out is named", function(t)
  local gw = t.gateway { policy = require "legal", connections = {
    acog.connection "claude" { dialects = "messages", models = { "claude-haiku-4-5" } },
  } }
  local asked = { model = "claude-haiku-4-5", seed = 7, messages = t.hello }
  for _, stream in ipairs { false, true } do
    asked.stream = stream
    local reply = gw:post(PATHS.chat, asked)
    t.equal({ reply.status, reply.header["x-acog-dropped-params"] }, { 200, "seed" })
  end
end)

test("a client that leaves ends it, before the first output and after it", function(t)
  for _, words in ipairs { { hang = "head" }, { text = "one two three", pace_ms = 1000 } } do
    local gw = t.gateway "gateway.lua"
    gw.upstream["us"]:answers(words)
    local handle = gw:start(PATHS.chat, body(t, "chat", true))
    gw:advance(1.5)
    handle:hang_up()
    gw:advance(60)
    t.is_true(handle.over)
    t.equal(handle.reply.attempts[1].outcome, "cancelled")
    t.equal(gw.upstream["eu"].count, 0)
  end
end)

test("an outage under many requests costs nobody an answer", function(t)
  local gw = t.gateway "gateway.lua"
  gw.upstream["us"]:answers { status = 503, delay_ms = 50 }
  local handles = {}
  for i = 1, 200 do handles[i] = gw:start(PATHS.chat, body(t, "chat", i % 2 == 0)) end
  for _, handle in ipairs(handles) do t.equal(handle:wait().connection, "eu") end
end)
