-- gemini_test.lua - a connection that speaks Google's generateContent, behind every surface.
local acog, test = require "acog", require "acog.test"
local surfaces = require "surfaces"

local old, new = "gemini-2.5-flash", "gemini-3-flash-preview"

local function google(simulate)
  return acog.connection "google" {
    maker = "google", dialects = { "gemini" }, models = { old, new }, simulate = simulate or true,
  }
end

local function gateway(t, ...)
  return t.gateway { policy = require "policies.acog", connections = { ... } }
end

-- Each surface, whole and streamed: check(path, body, stream).
local function on_each(t, model, check)
  for _, stream in ipairs { false, true } do
    for path, body in pairs(surfaces(t, { model = model, stream = stream })) do
      check(path, body, stream)
    end
  end
end

test("a provider that speaks gemini answers every surface, whole and streamed", function(t)
  on_each(t, old, function(path, body)
    local gw = gateway(t, google { text = "Guten Tag", usage = { input = 7, output = 9 } })
    local reply = gw:post(path, body)
    t.equal(reply.status, 200)
    t.equal(reply.text, "Guten Tag")
    t.equal(reply.complete, true)
    local request = gw.upstream["google"].requests[1]
    t.equal(request.dialect, "gemini")
    t.equal(request.body.contents[1].role, "user")
    t.equal(request.body.contents[1].parts[1].text, "hello")
    t.equal(request.body.model, nil) -- it stands in the path
    t.equal(request.body.stream, nil)
  end)
end)

test("usage and the native words are told in the client's dialect", function(t)
  local usage = { input = 7, output = 9 }
  local gw = gateway(t, google { text = "Hi", usage = usage, finish = "MAX_TOKENS" })
  local chat = gw:post("/v1/chat/completions", { model = old, messages = t.hello }).json
  t.equal(chat.choices[1].finish_reason, "length")
  t.equal(chat.usage.prompt_tokens, 7)
  t.equal(chat.usage.completion_tokens, 9)
  local message = gw:post("/v1/messages", { model = old, max_tokens = 9, messages = t.hello }).json
  t.equal(message.stop_reason, "max_tokens")
  t.equal(message.usage.output_tokens, 9)
  local response = gw:post("/v1/responses", { model = old, input = "hello" }).json
  t.equal(response.status, "incomplete")
  t.equal(response.usage.input_tokens, 7)
end)

test("thoughts are reasoning", function(t)
  local gw = gateway(t, google { reasoning = "Let me see", text = "Hi" })
  local chat = gw:post("/v1/chat/completions", { model = old, messages = t.hello }).json
  t.equal(chat.choices[1].message.reasoning_content, "Let me see")
  t.equal(chat.choices[1].message.content, "Hi")
  local message = gw:post("/v1/messages", { model = old, max_tokens = 9, messages = t.hello }).json
  t.equal(message.content[1].type, "thinking")
  t.equal(message.content[1].thinking, "Let me see")
  t.equal(message.content[2].text, "Hi")
end)

local schema = { type = "object", properties = { city = { type = "string" } } }

-- Two turns of a tool loop; the thought signature comes back with its call, byte for byte.
test("a chat client carries a call's thought signature through the loop", function(t)
  local gw = gateway(t, google { tool = { name = "weather", arguments = '{"city":"Oslo"}' } })
  local body = {
    model = new,
    messages = { { role = "user", content = "rain?" } },
    tools = { { type = "function", ["function"] = { name = "weather", parameters = schema } } },
  }
  local first = gw:post("/v1/chat/completions", body)
  local message = first.json.choices[1].message
  local call = message.tool_calls[1]
  t.equal(first.json.choices[1].finish_reason, "tool_calls")
  t.equal(call["function"].arguments, '{"city":"Oslo"}')
  local declared = gw.upstream["google"].requests[1].body.tools[1].functionDeclarations[1]
  t.equal(declared.parametersJsonSchema.properties.city.type, "string")

  body.messages[2] = message
  body.messages[3] = { role = "tool", tool_call_id = call.id, content = "2 mm" }
  gw.upstream["google"]:answers { text = "Some rain." }
  t.equal(gw:post("/v1/chat/completions", body).text, "Some rain.")
  local contents = gw.upstream["google"].requests[2].body.contents
  t.equal(#contents, 3)
  t.equal(contents[2].parts[1].functionCall.id, call.id)
  t.equal(contents[2].parts[1].functionCall.args.city, "Oslo")
  t.equal(#contents[2].parts[1].thoughtSignature, 64)
  t.equal(contents[2].parts[1].thoughtSignature:sub(1, 2), "Cq")
  t.equal(contents[3].parts[1].functionResponse.name, "weather")
  t.equal(contents[3].parts[1].functionResponse.id, call.id)
  t.equal(contents[3].parts[1].functionResponse.response.output, "2 mm")
end)

test("a messages client carries it too", function(t)
  local gw = gateway(t, google { tool = { name = "weather", arguments = '{"city":"Oslo"}' } })
  local body = {
    model = new,
    max_tokens = 100,
    messages = { { role = "user", content = "rain?" } },
    tools = { { name = "weather", input_schema = schema } },
  }
  local first = gw:post("/v1/messages", body).json
  t.equal(first.stop_reason, "tool_use")
  local use = first.content[#first.content]
  t.equal(use.type, "tool_use")
  body.messages[2] = { role = "assistant", content = first.content }
  body.messages[3] = {
    role = "user",
    content = {
      { type = "tool_result", tool_use_id = use.id, content = "disk full", is_error = true },
    },
  }
  gw.upstream["google"]:answers { text = "Hm." }
  t.equal(gw:post("/v1/messages", body).text, "Hm.")
  local contents = gw.upstream["google"].requests[2].body.contents
  t.equal(contents[2].parts[1].thoughtSignature:sub(1, 2), "Cq")
  t.equal(contents[3].parts[1].functionResponse.response.error, "disk full")
end)

test("in a stream of messages the signature stands before its call", function(t)
  local gw = gateway(t, google { tool = { name = "weather", arguments = '{"city":"Oslo"}' } })
  local reply = gw:post("/v1/messages", {
    model = new, max_tokens = 100, messages = t.hello, stream = true,
    tools = { { name = "weather", input_schema = schema } },
  })
  local blocks = {}
  for _, event in ipairs(reply.events) do
    if event.name == "content_block_start" then
      blocks[#blocks + 1] = event.data.content_block
    end
  end
  t.equal(#blocks, 2)
  t.equal(blocks[1].type, "redacted_thinking")
  t.equal(blocks[1].data, "acog.gemini." .. blocks[2].id .. "." .. blocks[1].data:sub(-64))
  t.equal(blocks[2].type, "tool_use")
end)

test("a responses client carries it too", function(t)
  local gw = gateway(t, google { tool = { name = "weather", arguments = '{"city":"Oslo"}' } })
  local tools = { { type = "function", name = "weather", parameters = schema } }
  local first = gw:post("/v1/responses", { model = new, input = "rain?", tools = tools }).json
  local input = { { role = "user", content = "rain?" } }
  local call
  for _, item in ipairs(first.output) do
    input[#input + 1] = item
    call = item.type == "function_call" and item or call
  end
  input[#input + 1] = { type = "function_call_output", call_id = call.call_id, output = "2 mm" }
  gw.upstream["google"]:answers { text = "Some rain." }
  local second = gw:post("/v1/responses", { model = new, input = input, tools = tools })
  t.equal(second.text, "Some rain.")
  local contents = gw.upstream["google"].requests[2].body.contents
  t.equal(contents[2].parts[1].thoughtSignature:sub(1, 2), "Cq")
  t.equal(contents[3].parts[1].functionResponse.response.output, "2 mm")
end)

test("what cannot go along is named, what would change the answer is refused", function(t)
  local gw = gateway(t, google())
  local reply = gw:post("/v1/chat/completions", {
    model = old, messages = t.hello, seed = 7, logit_bias = { ["1"] = 2 }, top_p = 0.5,
  })
  t.equal(reply.header["x-acog-dropped-params"], "logit_bias")
  t.equal(gw.upstream["google"].requests[1].body.generationConfig.seed, 7)
  local refused = gw:post("/v1/chat/completions", { model = old, messages = t.hello, n = 2 })
  t.equal(refused.status, 400)
  t.equal(gw.upstream["google"].count, 1)
end)

test("a refusal by a filter is the client's kind of refusal", function(t)
  local gw = gateway(t, google { refusal = true, refusal_category = "HARM_CATEGORY_HATE_SPEECH" })
  local chat = gw:post("/v1/chat/completions", { model = old, messages = t.hello }).json
  t.equal(chat.choices[1].finish_reason, "content_filter")
  local message = gw:post("/v1/messages", { model = old, max_tokens = 9, messages = t.hello }).json
  t.equal(message.stop_reason, "refusal")
end)

test("an error before the first output moves on, whatever the next one speaks", function(t)
  on_each(t, old, function(path, body)
    local other = acog.connection "other" {
      dialects = { "chat" }, models = { old }, simulate = { text = "From other." },
    }
    local reply = gateway(t, google { status = 503 }, other):post(path, body)
    t.equal(reply.status, 200)
    t.equal(reply.text, "From other.")
  end)
end)

test("a stream that breaks after output ends with one error of the client's dialect", function(t)
  for path, body in pairs(surfaces(t, { model = old, stream = true })) do
    for _, broken in ipairs {
      { text = "one two three", error_event = 2 },
      { text = "one two three", reset = 2 },
      { text = "one two three", close = 2 }, -- no finish reason: a cut (B59)
    } do
      local reply = gateway(t, google(broken)):post(path, body)
      t.equal(reply.status, 200)
      t.equal(reply.text, "one two")
      t.match(reply.events[#reply.events].text, "error")
    end
  end
end)

test("an event that is no JSON is dropped and the stream goes on", function(t)
  local gw = gateway(t, google { text = "one two", malformed_event = 1, comments = true })
  local body = { model = old, max_tokens = 9, messages = t.hello, stream = true }
  local reply = gw:post("/v1/messages", body)
  t.equal(reply.text, "one two")
  t.equal(reply.complete, true)
end)

test("tokens are not counted by a provider of another dialect", function(t)
  local gw = gateway(t, google())
  local reply = gw:post("/v1/messages/count_tokens", { model = old, messages = t.hello })
  t.equal(reply.status, 501)
  t.equal(gw.upstream["google"].count, 0)
end)
