--- The stories, each told under all five policies. Where the policies differ, so does what the
-- client sees; the two runs of one policy must not.
local hello = { { role = "user", content = "hello" } }
local chat = { path = "/v1/chat/completions", body = { model = "m", messages = hello } }
local stream = { path = "/v1/chat/completions",
  body = { model = "m", messages = hello, stream = true } }
local messages = { path = "/v1/messages",
  body = { model = "m", max_tokens = 40, messages = hello } }
local message_stream = { path = "/v1/messages",
  body = { model = "m", max_tokens = 40, messages = hello, stream = true } }
local responses = { path = "/v1/responses", body = { model = "m", input = "hello" } }

--- Two hosts. The first has all the weight where a policy spreads by it, and turns come in order of
-- declaration.
local function two(plays_a, plays_b)
  return { { id = "a", weight = 1000000, plays = plays_a }, { id = "b", plays = plays_b } }
end

local function later(request, after)
  local copy = { after = after }
  for name, value in pairs(request) do copy[name] = value end
  return copy
end

local down, bad, refused = { status = 503 }, { status = 500 }, { reset = "connect" }

return {
  { name = "a whole answer, chat", connections = two(), requests = { chat } },
  { name = "a stream, chat", connections = two({ usage = { input = 7, output = 3 } }),
    requests = { stream } },
  { name = "a whole answer, messages", connections = two(), requests = { messages } },
  { name = "a stream with reasoning and a tool, messages",
    connections = two({ reasoning = "So.", tool = { name = "f", arguments = '{"a":1}' } }),
    requests = { message_stream } },
  { name = "a whole answer, responses", connections = two(), requests = { responses } },
  { name = "503, and the next host answers", connections = two(down), requests = { chat } },
  { name = "503, and the next host streams", connections = two(down),
    requests = { message_stream } },
  { name = "429 with Retry-After, and then again", with = { backoff = { kind = "none" } },
    connections = two({ status = 429, headers = { ["retry-after"] = "7" } }),
    requests = { chat, chat } },
  { name = "a request that no provider takes",
    connections = two({ status = 400 }, { status = 400 }),
    requests = { chat, messages } },
  { name = "a key that is refused", connections = two({ status = 401 }), requests = { messages } },
  { name = "no such model", connections = two(),
    requests = { { path = chat.path, body = { model = "other", messages = hello } } } },
  { name = "every host fails", connections = two(bad, bad), requests = { chat } },
  { name = "every host fails, messages", connections = two(bad, down),
    requests = { message_stream } },
  { name = "nobody is there, and then somebody", connections = two(refused), requests = { chat } },
  { name = "an error event before any output", connections = two({ error_event = 0 }),
    requests = { message_stream } },
  { name = "a stream that dies after its output",
    connections = two({ text = "one two three four", reset = 4, pace_ms = 2000 }),
    requests = { message_stream } },
  { name = "a chat stream that dies after its output",
    connections = two({ text = "one two three four", reset = 4, pace_ms = 2000 }),
    requests = { stream } },
  { name = "a host that says nothing", connections = two({ hang = "head" }),
    with = { clocks = { headers = 20 } }, requests = { stream } },
  { name = "both hosts say nothing", connections = two({ hang = "head" }, { hang = "head" }),
    with = { clocks = { headers = 20 } }, requests = { message_stream } },
  { name = "a host that fails until it is left alone, and comes back",
    with = { health = { threshold = 2, cooldown = 100, cooldown_max = 100 } },
    connections = { { id = "a", plays = { down, down, {} } } },
    requests = { chat, chat, chat, later(chat, 150) } },
  { name = "two choices", connections = two(),
    requests = { { path = chat.path, body = { model = "m", messages = hello, n = 2 } } } },
}
