-- refusal_test.lua - the policy-block fallback of the default policy (S4.24-S4.31, decisions 9
-- and 10): who is asked, what the client gets, what it is told.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local HAIKU = "claude-haiku-4-5"
local SURFACES = {
  chat = "/v1/chat/completions", messages = "/v1/messages", responses = "/v1/responses",
}

--- Connections from rows { id, channel, model, more fields }.
local function gateway(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    local fields = t.with({ channel = row[2], models = { row[3] or HAIKU } }, row[4])
    connections[i] = acog.connection(row[1])(fields)
  end
  return t.gateway { policy = policy or base, connections = connections }
end

local function ask(t, gw, headers, fields, path)
  local body = { model = HAIKU, max_tokens = 10, messages = t.hello }
  if path == SURFACES.responses then body = { model = HAIKU, input = "hello" } end
  return gw:post(path or SURFACES.messages, t.with(body, fields), headers)
end

local OPUS = "claude-opus-4-8"

local function with_opus(t, policy)
  return gateway(t, { { "d", "direct", nil, { models = { HAIKU, OPUS }, default = true } },
    { "v", "vertex", OPUS } }, policy)
end

test("S4.24, S4.25, S4.27: an empty refusal goes to the fallback model, once", function(t)
  for _, stream in ipairs { false, true } do
    local gw = with_opus(t)
    gw.upstream["d"]:answers { { refusal = true }, { text = "Gladly." } }
    local reply = ask(t, gw, nil, { stream = stream })
    t.equal(reply.status, 200)
    t.equal(reply.tried, "d,d")
    t.equal(reply.attempts[2].model, OPUS)
    t.equal(reply.header["x-acog-policy-fallback"], "applied")
    t.match(reply.text, "Gladly.")
  end
end)

test("S4.28: a refusal of the fallback model itself is skipped", function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { refusal = true }
  local reply = ask(t, gw, nil, { model = OPUS })
  t.equal(reply.header["x-acog-policy-fallback"], "skipped")
  t.equal(reply.tried, "d")
  t.equal(reply.json.stop_reason, "refusal")
end)

test("S4.29, S4.31: opted out, not declared there, or declined again: the original refusal",
  function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { refusal = true }
  local reply = ask(t, gw, { ["x-acog-policy-fallback"] = "off" })
  t.equal(reply.header["x-acog-policy-fallback"], "unavailable")
  t.equal(reply.tried, "d")
  gw.upstream["d"]:answers { { refusal = true }, { status = 500 } }
  reply = ask(t, gw)
  t.equal(reply.status, 200)
  t.equal(reply.header["x-acog-policy-fallback"], "unavailable")
  t.equal(reply.json.stop_reason, "refusal")
  t.equal(reply.json.model, HAIKU)
  local both = { models = { HAIKU, OPUS } }
  gw = gateway(t, { { "d", "direct", HAIKU, { default = true } }, { "v", "vertex", nil, both } })
  gw.upstream["d"]:answers { refusal = true }
  reply = ask(t, gw) -- decision 9: same connection only
  t.equal(reply.header["x-acog-policy-fallback"], "unavailable")
  t.equal(gw.upstream["v"].count, 0)
  gw = gateway(t, { { "d", "direct", HAIKU, { default = true } }, { "v", "vertex", nil, both } },
    base:with { refusal = { same_connection = false } }) -- G4.4: the policy may widen it
  gw.upstream["d"]:answers { refusal = true }
  reply = ask(t, gw)
  t.equal(reply.header["x-acog-policy-fallback"], "applied")
  t.equal(reply.tried, "d,v") -- S4.18d: off the default connection
end)

test("S4.29: the fallback model declines too: the first refusal, to the byte", function(t)
  for _, stream in ipairs { false, true } do
    local gw = with_opus(t)
    gw.upstream["d"]:answers { refusal = true }
    local plain = ask(t, gw, { ["x-acog-policy-fallback"] = "off" }, { stream = stream })
    gw = with_opus(t)
    gw.upstream["d"]:answers { { refusal = true }, { refusal = true, refusal_category = "cyber" } }
    local reply = ask(t, gw, nil, { stream = stream })
    t.equal(reply.tried, "d,d")
    t.equal(reply.header["x-acog-policy-fallback"], "unavailable")
    t.equal(reply.body, plain.body)
  end
end)

test("G4.5: already the fallback model comes before opted out", function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { refusal = true }
  local reply = ask(t, gw, { ["x-acog-policy-fallback"] = "off" }, { model = OPUS })
  t.equal(reply.header["x-acog-policy-fallback"], "skipped")
end)

test("G4.6: the fallback has a budget of its own", function(t)
  local gw = gateway(t, { { "a", "direct", nil, { models = { HAIKU, OPUS }, weight = 1000 } },
    { "b", "bedrock", nil, { models = { HAIKU, OPUS } } } })
  gw.upstream["a"]:answers { status = 500 }
  gw.upstream["b"]:answers { { status = 500 }, { refusal = true }, { text = "Gladly." } }
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,b,b,b")
  t.equal(reply.header["x-acog-policy-fallback"], "applied")
end)

test("S4.24 on chat: an empty answer that content_filter ended; one with text is an answer",
  function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { { refusal = true }, { text = "Gladly." },
    { text = "half", finish = "content_filter" } }
  for _, wanted in ipairs { "applied", false } do
    local reply = ask(t, gw, nil, nil, SURFACES.chat)
    t.equal(reply.status, 200)
    t.equal(reply.header["x-acog-policy-fallback"] or false, wanted)
    t.match(reply.text, wanted and "Gladly." or "half")
  end
end)

test("S4.24, B76: a refusal is no failure of the provider", function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { refusal = true }
  for _ = 1, 6 do t.equal(ask(t, gw).status, 200) end
end)

test("S4.30: without a refusal there is no such header", function(t)
  t.equal(ask(t, with_opus(t)).header["x-acog-policy-fallback"], nil)
end)

-- -- routing note
-- -------------------------------------------------------------------------------------

local NOTE = "The requested model declined to answer; claude-opus-4-8 answered instead.\n\n"

test("S4.26: a note stands before the answer's text, whole and streamed, in every dialect",
  function(t)
  for _, path in pairs(SURFACES) do
    for _, stream in ipairs { false, true } do
      for _, answer in ipairs { { text = "Gladly." }, { text = "Gladly.", reasoning = "Hm." },
        { text = "Gladly.", tool = { name = "f", arguments = "{}" } } } do
        local gw = with_opus(t)
        gw.upstream["d"]:answers { { refusal = true }, answer }
        local reply = ask(t, gw, nil, { stream = stream }, path)
        t.equal(reply.header["x-acog-policy-fallback"], "applied")
        t.equal(reply.text, NOTE .. "Gladly.")
        t.is_true(reply.complete)
      end
    end
  end
end)

test("S4.26: it is a block of its own, behind thinking (decision 10)", function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { replies = { { refusal = true },
    { text = "Gladly.", reasoning = "Hm.", tool = { name = "f", arguments = "{}" } } },
    cycle = true }
  local kinds = {}
  for i, block in ipairs(ask(t, gw).json.content) do kinds[i] = block.type end
  t.equal(kinds, { "thinking", "text", "text", "tool_use" })
  local open = nil
  kinds = {}
  for _, event in ipairs(ask(t, gw, nil, { stream = true }).events) do
    local index = event.data.index
    if event.name == "content_block_start" then
      open = (open or -1) + 1
      kinds[open + 1] = event.data.content_block.type
    end
    if index ~= nil then t.equal(index, open) end
  end
  t.equal(kinds, { "thinking", "text", "text", "tool_use" })
end)

test("S4.26: of responses an item of its own; numbers go up by one and the whole tells the same",
  function(t)
  local gw = with_opus(t)
  gw.upstream["d"]:answers { { refusal = true }, { text = "Gladly.", reasoning = "Hm." } }
  local reply = ask(t, gw, nil, { stream = true }, SURFACES.responses)
  local last = nil
  for i, event in ipairs(reply.events) do
    t.equal(event.data.sequence_number, i - 1)
    last = event.data
  end
  t.equal(last.type, "response.completed")
  local kinds = {}
  for i, item in ipairs(last.response.output) do kinds[i] = item.type end
  t.equal(kinds, { "reasoning", "message", "message" })
  t.equal(last.response.output[2].content[1].text, NOTE)
end)

test("S4.26: none with structured output, and none in a policy without a note", function(t)
  local format = { type = "json_schema", json_schema = { name = "n", schema = {} } }
  for _, case in ipairs { { base, { response_format = format } },
    { base:with { refusal = { note = "" } } } } do
    local gw = with_opus(t, case[1])
    gw.upstream["d"]:answers { { refusal = true }, { text = "{}" } }
    local reply = ask(t, gw, nil, case[2], SURFACES.chat)
    t.equal(reply.header["x-acog-policy-fallback"], "applied")
    t.equal(reply.text, "{}")
  end
end)

test("the note has a length", function(t)
  local function load(bytes)
    return with_opus(t, base:with { refusal = { note = ("x"):rep(bytes) } })
  end
  t.match(t.error(function() load(4097) end), "refusal.note")
  local gw = load(4096)
  gw.upstream["d"]:answers { { refusal = true }, { text = "Gladly." } }
  t.equal(ask(t, gw, nil, { stream = true }, SURFACES.responses).text,
    ("x"):rep(4096) .. "\n\nGladly.")
end)

-- -- who may use which models (S4.29)
-- --------------------------------------------------------------------------

local function restricted(t)
  return t.gateway {
    policy = base:with {
      access = { { header = "x-team", value = "interns", models = "claude-sonnet-4-5" } },
      dlp = { { name = "secret", words = { "moonshot" }, channels = "bedrock" } },
    },
    connections = { acog.connection "a" { dialects = "chat", models = { HAIKU } } },
  }
end

test("S4.29: a model that a request may not use is refused, whatever the data says", function(t)
  local reply = restricted(t):post("/v1/chat/completions", {
    model = HAIKU,
    messages = { { role = "user", content = "moonshot" } },
  }, { ["x-team"] = "interns" })
  t.equal(reply.status, 403)
  t.equal(reply.error_code, "model_not_allowed")
  t.equal(reply.why["a"], "no access rule lists it for x-team: interns")
end)

test("S4.29: what nobody could be told is said before what is not allowed", function(t)
  local reply = restricted(t):post("/v1/messages/count_tokens", {
    model = HAIKU,
    messages = { { role = "user", content = "hi" } },
  }, { ["x-team"] = "interns" })
  t.equal(reply.status, 501)
end)
