-- dlp_test.lua - a data protection rule restricts where a request may go (S4.18c, decision 1).
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local MODEL = "claude-haiku-4-5"
local PATHS = { chat = "/v1/chat/completions", messages = "/v1/messages",
  responses = "/v1/responses" }
local SSN = "%d%d%d%-%d%d%-%d%d%d%d"

local function gateway(t, rules, changes)
  local policy = base:with { name = "guarded", dlp = rules, refusal = { fallback_model = false } }
  return t.gateway { policy = changes and policy:with(changes) or policy, connections = {
    acog.connection "d" { models = { MODEL }, default = true },
    acog.connection "b" { channel = "bedrock", region = "eu", models = { MODEL } },
    acog.connection "v" { channel = "vertex", region = "us", models = { MODEL } },
  } }
end

local function health(words, patterns)
  return { { name = "health data", words = words, patterns = patterns,
    channels = { "bedrock", "vertex" } } }
end

--- A request that says `text` in its last message.
local function ask(gw, text, headers, path)
  local messages = { { role = "user", content = "hello" }, { role = "user", content = text } }
  local body = { model = MODEL, max_tokens = 10, messages = messages }
  if path == PATHS.responses then body = { model = MODEL, input = messages } end
  return gw:post(path or PATHS.messages, body, headers)
end

local function touched(gw, text)
  return ask(gw, text).connection ~= "d"
end

test("S4.18, S4.18c: a rule moves a request off the default; it spreads and fails over there",
  function(t)
  local gw = gateway(t, health { "diagnosis" })
  t.equal(ask(gw, "good morning").connection, "d")
  for _, path in pairs(PATHS) do
    local reply = ask(gw, "The diagnosis: fine.", nil, path)
    t.different(reply.connection, "d")
    t.match(reply.why["d"], 'the data rule "health data"')
  end
  gw.upstream["b"]:answers { status = 500 }
  for _ = 1, 2 do t.equal(ask(gw, "diagnosis").connection, "v") end
end)

test("DESIGN: a rule that leaves nothing is a 403 dlp_route_restricted", function(t)
  local gw = gateway(t, { { name = "x", words = { "secret" }, channels = "azure" } })
  local reply = ask(gw, "a secret")
  t.equal(reply.status, 403)
  t.equal(reply.error_code, "dlp_route_restricted")
  t.no_match(reply.body, "secret")
end)

test("decision 1: a pin never widens where data may go", function(t)
  local gw = gateway(t, health { "diagnosis" })
  local pin = { ["x-acog-channel"] = "direct" }
  t.equal(ask(gw, "hello", pin).connection, "d")
  local reply = ask(gw, "diagnosis", pin)
  t.equal(reply.status, 403)
  t.equal(reply.error_code, "dlp_route_restricted")
  t.equal(ask(gw, "diagnosis", { ["x-acog-channel"] = "vertex" }).connection, "v")
  -- S4.22 all the same: nobody is there
  t.equal(ask(gw, "diagnosis", { ["x-acog-channel"] = "azure" }).status, 409)
end)

test("decision 1: overrides_dlp gives S4.20 to the letter", function(t)
  local gw = gateway(t, health { "diagnosis" }, { pin = { overrides_dlp = true } })
  t.equal(ask(gw, "diagnosis", { ["x-acog-channel"] = "direct" }).connection, "d")
  t.different(ask(gw, "diagnosis").connection, "d")
end)

test("several rules: where all of them allow; regions too", function(t)
  local gw = gateway(t, { { name = "one", words = { "one" }, channels = { "bedrock", "vertex" } },
    { name = "two", words = { "two" }, regions = { "eu" } } })
  for _ = 1, 3 do t.equal(ask(gw, "one and two").connection, "b") end
  t.equal(ask(gw, "two").connection, "b")
end)

test("words: in any case, whole, phrases too", function(t)
  local gw = gateway(t, health { "Diagnosis", "project titan", "caf\u{e9}" })
  for _, text in ipairs { "DIAGNOSIS", "(diagnosis)", "x diagnosis", "Project Titan!",
    "caf\u{e9}" } do
    t.is_true(touched(gw, text), text)
  end
  for _, text in ipairs { "diagnosiss", "prediagnosis", "project titanic", "diagnosi", "_diagnosis",
    "caf\u{e9}s" } do
    t.is_false(touched(gw, text), text)
  end
end)

test("patterns: classes, sets, repeats; whole numbers and words only", function(t)
  local gw = gateway(t, health(nil, { SSN, "[A-Z][A-Z]%d+", "id:%s*[^%s]*x", "a?b+c.d" }))
  for _, text in ipairs { "123-45-6789", "is 123-45-6789.", "DE12", "(AB999)", "id:  qqqx", "id:x",
    "abbbc-d", "bczd" } do
    t.is_true(touched(gw, text), text)
  end
  for _, text in ipairs { "1123-45-6789", "123-45-67890", "12-45-6789", "de12", "XDE12", "DE",
    "id: q", "ac.d", "abcd" } do
    t.is_false(touched(gw, text), text)
  end
end)

test("B86, B88: tool arguments and results, escapes decoded, JSON in a string once more",
  function(t)
  local gw = gateway(t, health(nil, { SSN }))
  local function with(message)
    local body = ('{"model":"%s","messages":[{"role":"user","content":"hi"},%s]}')
      :format(MODEL, message)
    return gw:post(PATHS.chat, body).connection ~= "d"
  end
  t.is_true(with [[{"role":"user","content":"12\u0033-45-6789"}]])
  t.is_false(with [[{"role":"user","content":"12\\u0033-45-6789"}]]) -- decoded once only
  local call = [[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",]]
    .. [["function":{"name":"f","arguments":"{\"n\":\"12\\u0033-45-6789\"}"}}]},]]
    .. [[{"role":"tool","tool_call_id":"1","content":"sent"}]]
  t.is_true(with(call))
  local body = { model = MODEL, max_tokens = 9, messages = { { role = "user", content = "hi" },
    { role = "assistant", content = { { type = "tool_use", id = "1", name = "f",
      input = { deep = { { "123-45-6789" } } } } } },
    { role = "user", content = { { type = "tool_result", tool_use_id = "1", content = "ok" } } } } }
  t.different(gw:post(PATHS.messages, body).connection, "d")
end)

test("B90: blocks of one message are looked at joined, two messages are not", function(t)
  local gw = gateway(t, health(nil, { SSN }))
  local function text(part) return { type = "text", text = part } end
  local function say(...) return { role = "user", content = { ... } } end
  local function post(...)
    local body = { model = MODEL, max_tokens = 9, messages = { ... } }
    return gw:post(PATHS.messages, body).connection ~= "d"
  end
  t.is_true(post(say(text "my number 123-4", text "5-6789 thanks")))
  t.is_false(post(say(text "my number 123-4"), say(text "5-6789 thanks")))
end)

test("a request that is too long to be looked through touches every rule", function(t)
  local patterns = {}
  for i = 1, 64 do patterns[i] = "%a+%s%a+%s%a*q" .. i end
  local gw = gateway(t, health(nil, patterns))
  t.is_false(touched(gw, ("a "):rep(1000)))
  t.is_true(touched(gw, ("a "):rep(500000)))
end)

test("what is bad is told at load", function(t)
  for finding, rule in pairs {
    ["needs a name"] = { words = { "x" }, channels = "azure" },
    ["needs words or patterns"] = { name = "x", channels = "azure" },
    ["needs channels or regions"] = { name = "x", words = { "x" } },
    ["fits the empty text"] = { name = "x", patterns = { "a*" }, channels = "azure" },
    ["cannot stand here"] = { name = "x", patterns = { "^a" }, channels = "azure" },
    ["a [ without its ]"] = { name = "x", patterns = { "[a" }, channels = "azure" },
    ["% needs one of"] = { name = "x", patterns = { "a%" }, channels = "azure" },
    ["more than 64 items"] = { name = "x", patterns = { ("a"):rep(65) }, channels = "azure" },
    ["is empty"] = { name = "x", words = { "" }, channels = "azure" },
  } do
    t.error(function() gateway(t, { rule }) end, finding)
  end
  t.error(function()
    gateway(t, health { "x" }, { filters = base.filters:without "dlp" })
  end, 'filters lack "dlp"')
end)
