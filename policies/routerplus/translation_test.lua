-- translation_test.lua - S0.13 and S0.67: what a deployment speaks is the gateway's own affair.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.routerplus"

local MODEL = "claude-haiku-4-5"
local DIALECTS = { "chat", "messages", "responses", "gemini" }
local SURFACES = {
  chat = "/v1/chat/completions",
  messages = "/v1/messages",
  responses = "/v1/responses",
}

local function gateway(t, dialects)
  local connections = {}
  for i, dialect in ipairs(dialects) do
    connections[i] = acog.connection(dialect) { channel = "custom", dialects = dialect,
      models = { MODEL }, priority = i }
  end
  local gw = t.gateway { policy = base, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function ask(t, gw, surface, fields)
  local body = { model = MODEL }
  if surface == "responses" then
    body.input = "hello"
  else
    body.messages, body.max_tokens = t.hello, 10
  end
  return gw:post(SURFACES[surface], t.with(body, fields))
end

local function each_pair(t, check)
  local rows = {}
  for surface in pairs(SURFACES) do
    for _, dialect in ipairs(DIALECTS) do
      rows[#rows + 1] = { name = surface .. " from " .. dialect, surface = surface,
        dialect = dialect }
    end
  end
  table.sort(rows, function(a, b) return a.name < b.name end)
  t.cases(rows, check)
end

test("S0.13: every model answers every API, whatever its deployment speaks", function(t)
  each_pair(t, function(row)
    local gw = gateway(t, { row.dialect })
    for _, stream in ipairs { false, true } do
      local reply = ask(t, gw, row.surface, { stream = stream })
      t.equal(reply.status, 200)
      t.equal(reply.text, "Hello from " .. row.dialect .. ".")
      t.is_true(reply.complete)
      local sent = gw.upstream[row.dialect].requests
      t.equal(sent[#sent].dialect, row.dialect)
    end
  end)
end)

test("S0.13: an error has the shape of the API that was asked", function(t)
  each_pair(t, function(row)
    local gw = gateway(t, { row.dialect })
    local own = gateway(t, { row.surface })
    for _, status in ipairs { 400, 401, 429, 503 } do
      gw.upstream[row.dialect]:answers { status = status }
      own.upstream[row.surface]:answers { status = status }
      local reply, expected = ask(t, gw, row.surface), ask(t, own, row.surface)
      t.equal(reply.status, expected.status)
      t.equal(reply.json.error, expected.json.error)
      t.equal(reply.json.type, expected.json.type)
    end
  end)
end)

test("S0.13: a stream that breaks ends in the words of the API that was asked", function(t)
  each_pair(t, function(row)
    local gw = gateway(t, { row.dialect })
    gw.upstream[row.dialect]:answers { text = "a b c d e f g h", reset = 7 }
    local reply = ask(t, gw, row.surface, { stream = true })
    local own = ask(t, gateway(t, { row.surface }), row.surface, { stream = true })
    t.equal(reply.status, 200)
    t.equal(reply.attempts[1].outcome, "incomplete")
    t.equal(reply.events[1].name, own.events[1].name)
    for _, ending in ipairs { "[DONE]", "message_stop", "response.completed" } do
      t.no_match(reply.body, ending)
    end
  end)
end)

test("S0.13: the next deployment may speak another dialect", function(t)
  each_pair(t, function(row)
    local first = row.dialect == "messages" and "chat" or "messages"
    local gw = gateway(t, { first, row.dialect })
    gw.upstream[first]:answers { status = 503 }
    for _, stream in ipairs { false, true } do
      local reply = ask(t, gw, row.surface, { stream = stream })
      t.equal(reply.text, "Hello from " .. row.dialect .. ".")
      t.is_true(reply.complete)
    end
  end)
end)

test("S0.67: the fields that a translation leaves out are named, and only those", function(t)
  local fields = { seed = 7, logit_bias = { ["50256"] = -100 }, frequency_penalty = 0.5 }
  local reply = ask(t, gateway(t, { "messages" }), "chat", fields)
  local named = reply.header["x-tm-dropped-params"]
  for name in pairs(fields) do t.match(named, name) end
  t.no_match(named, "max_tokens")
  t.equal(ask(t, gateway(t, { "chat" }), "chat", fields).header["x-tm-dropped-params"], nil)
  t.equal(ask(t, gateway(t, { "messages" }), "chat").header["x-tm-dropped-params"], nil)
end)

test("S0.67: of a request that moves, what the one that answered was not sent", function(t)
  local gw = gateway(t, { "messages", "chat" })
  gw.upstream["messages"]:answers { status = 503 }
  t.equal(ask(t, gw, "chat", { seed = 7 }).header["x-tm-dropped-params"], nil)
end)
