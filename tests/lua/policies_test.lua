-- policies_test.lua - each of the five policies serves every surface from connections of every
-- dialect, and moves on from one dialect to another.
local acog, test = require "acog", require "acog.test"
local surfaces = require "surfaces"

local MODEL = "claude-haiku-4-5"
local POLICIES = { "acog", "kontinent", "onerouter", "rolter", "routerplus" }
local DIALECTS = { "chat", "gemini", "messages", "responses" }
local SURFACES = { "/v1/chat/completions", "/v1/messages", "/v1/responses" }

--- What an answer calls itself, and a stream its first event.
local WHOLE = { "chat.completion", "message", "response" }
local FIRST = { "chat.completion.chunk", "message_start", "response.created" }

local function gateway(t, policy, ...)
  local connections = {}
  for i, dialect in ipairs { ... } do
    connections[i] = acog.connection(dialect) { channel = "custom", dialects = dialect,
      models = { MODEL }, priority = i }
  end
  return t.gateway { policy = require("policies." .. policy), connections = connections }
end

local function ask(t, gw, path, stream)
  return gw:post(path, surfaces(t, { model = MODEL, stream = stream })[path])
end

local function each(t, check)
  local rows = {}
  for _, policy in ipairs(POLICIES) do
    for i, path in ipairs(SURFACES) do
      for _, stream in ipairs { false, true } do
        rows[#rows + 1] = { policy = policy, path = path, stream = stream,
          kind = stream and FIRST[i] or WHOLE[i],
          name = policy .. ", " .. path .. (stream and ", streamed" or "") }
      end
    end
  end
  t.cases(rows, check)
end

local function is_answer_of(t, reply, dialect, row)
  local said = reply.json or reply.events[1].data
  t.equal(reply.status, 200)
  t.equal(said.type or said.object, row.kind)
  t.equal(reply.text, "Hello from " .. dialect .. ".")
  t.is_true(reply.complete)
end

test("every surface is served by every dialect", function(t)
  each(t, function(row)
    for _, dialect in ipairs(DIALECTS) do
      is_answer_of(t, ask(t, gateway(t, row.policy, dialect), row.path, row.stream), dialect, row)
    end
  end)
end)

test("what fails before its output moves on to any other dialect", function(t)
  each(t, function(row)
    for _, first in ipairs(DIALECTS) do
      for _, second in ipairs(DIALECTS) do
        if first ~= second then
          local gw = gateway(t, row.policy, first, second)
          gw.upstream[first]:answers { status = 503 }
          is_answer_of(t, ask(t, gw, row.path, row.stream), second, row)
        end
      end
    end
  end)
end)

test("an answer that breaks off behind its output has one end, and no other", function(t)
  each(t, function(row)
    for _, dialect in ipairs(DIALECTS) do
      local gw = gateway(t, row.policy, dialect)
      gw.upstream[dialect]:answers { text = "a b c d e f g h", reset = 7 }
      if row.stream then
        local reply = ask(t, gw, row.path, true)
        t.equal(reply.status, 200)
        t.equal(gw.upstream[dialect].count, 1)
        t.no_match(reply.body, "message_stop")
        t.no_match(reply.body, "response.completed")
        t.no_match(reply.body, '"finish_reason":"stop"')
      end
    end
  end)
end)

test("a request that no dialect here can be told is a 400 that nothing was sent for", function(t)
  t.cases(POLICIES, function(policy)
    local gw = gateway(t, policy, "messages", "gemini")
    local reply = gw:post("/v1/chat/completions", { model = MODEL, messages = {
      { role = "user", content = "x" }, { role = "tool", tool_call_id = "c", content = "1" } } })
    t.equal(reply.status, 400)
    t.equal(#reply.attempts, 0)
  end)
end)
