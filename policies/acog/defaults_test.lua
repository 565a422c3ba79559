-- defaults_test.lua - the default policy where S4 is silent: each row of DESIGN's "The default
-- policy's answers", and the decisions of CONFORMANCE that shape it.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local HAIKU = "claude-haiku-4-5"
local SURFACES = {
  chat = "/v1/chat/completions", messages = "/v1/messages", responses = "/v1/responses",
}

--- Connections from rows { id, channel, more fields }.
local function gateway(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    local fields = t.with({ channel = row[2], models = { HAIKU } }, row[3])
    connections[i] = acog.connection(row[1])(fields)
  end
  return t.gateway { policy = policy or base, connections = connections }
end

--- "a" is asked first, "b" behind it.
local function pair_of(t, policy)
  return gateway(t, { { "a", "direct", { weight = 1000 } }, { "b", "bedrock" } }, policy)
end

local function ask(t, gw, fields, headers, path)
  local body = { model = HAIKU, max_tokens = 10, messages = t.hello }
  if path == SURFACES.responses then body = { model = HAIKU, input = "hello" } end
  return gw:post(path or SURFACES.messages, t.with(body, fields), headers)
end

-- -- circuit key
-- ----------------------------------------------------------------------------------------

local once = base:with { attempts = { max = 1 } }

--- Whether five failures of the first connection keep requests for `model` away from the second.
local function shares(t, first, second, policy)
  first.models, second.models = first.models or { HAIKU }, second.models or { "claude-opus-4-8" }
  local gw = t.gateway { policy = policy or once, connections = {
    acog.connection "a" (first), acog.connection "b" (second),
  } }
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw, { model = first.models[1] }) end
  return ask(t, gw, { model = second.models[1] }).status == 503
end

test("circuit key: channel and maker (S4.16, G4.2)", function(t)
  t.is_true(shares(t, { channel = "bedrock" }, { channel = "bedrock" }))
  t.is_false(shares(t, { channel = "bedrock" }, { channel = "vertex" }), "another channel")
  local llama = { channel = "bedrock", models = { "meta.llama3-70b-instruct-v1:0" } }
  t.is_false(shares(t, { channel = "bedrock" }, llama), "another maker")
end)

test("circuit key: custom, and host", function(t)
  local function custom(host)
    return { channel = "custom", base_url = "https://" .. host .. "/v1" }
  end
  t.is_true(shares(t, custom "one.example", custom "one.example"))
  t.is_false(shares(t, custom "one.example", custom "two.example"))
end)

test("circuit key: \"channel\" is the literal reading of S4.16", function(t)
  local literal = base:with { attempts = { max = 1 }, health = { key = "channel" } }
  local llama = { channel = "bedrock", models = { "meta.llama3-70b-instruct-v1:0" } }
  t.is_true(shares(t, { channel = "bedrock" }, llama, literal))
end)

-- -- charged
-- --------------------------------------------------------------------------------------------

local function opens(t, reply, fields, policy)
  local gw = gateway(t, { { "a", "direct" } }, policy or once)
  gw.upstream["a"]:answers(reply)
  for _ = 1, 5 do ask(t, gw, fields) end
  return ask(t, gw, fields).error_code == "upstream_unavailable" and gw.upstream["a"].count == 5
end

test("charged: network, clocks, 5xx, an error event or a death in a stream (G4.2)", function(t)
  for name, reply in pairs {
    refused = { reset = "connect" }, reset = { reset = "head" }, closed = { close = "head" },
    late = { hang = "head" }, connecting = { hang = "connect" }, timeout = { status = 408 },
    failed = { status = 500 }, overloaded = { status = 529 },
    error_event = { error_event = 0 }, cut = { text = "one two three", reset = 1 },
    died = { text = "one two three", reset = 5 }, error_later = { text = "a b c", error_event = 5 },
  } do
    t.is_true(opens(t, reply, { stream = true }), name)
  end
  t.is_true(opens(t, { first_output_delay_ms = 200000 }, { stream = true },
    once:with { clocks = { idle = false } }), "first output")
end)

test("a 200 that is no answer is a failure: it moves, is charged, and is a 502", function(t)
  local page = { body = "<html>welcome</html>", content_type = "text/html" }
  for _, stream in ipairs { false, true } do
    t.is_true(opens(t, page, { stream = stream }))
    local gw = pair_of(t)
    gw.upstream["a"]:answers(page)
    t.equal(ask(t, gw, { stream = stream }).tried, "a,b")
    gw.upstream["b"]:answers(page)
    local reply = ask(t, gw, { stream = stream })
    t.equal(reply.status, 502)
    t.equal(reply.error_code, "upstream_unavailable")
    t.no_match(reply.body, "welcome")
  end
end)

test("not charged: a 429, the request's faults, a refused key, a refusal (G4.2)", function(t)
  for _, reply in ipairs {
    { status = 429 }, { status = 400 }, { status = 401 }, { status = 403 }, { status = 404 },
    { status = 409 }, { status = 422 }, { refusal = true },
  } do
    t.is_false(opens(t, reply), reply.status)
  end
end)

test("five in sequence: an answer between them starts the count anew (S4.16)", function(t)
  local gw = gateway(t, { { "a", "direct" } }, once)
  for _ = 1, 3 do
    gw.upstream["a"]:answers { { status = 500 }, { status = 500 }, { status = 500 },
      { status = 500 }, {} }
    for turn = 1, 5 do t.equal(ask(t, gw).status, turn == 5 and 200 or 500) end
  end
end)

test("decision 12: a probe that gets a 429 was answered, one that fails opens again", function(t)
  for status, next_status in pairs { [429] = 200, [500] = 503 } do
    local gw = gateway(t, { { "a", "direct" } }, once)
    gw.upstream["a"]:answers { status = 500 }
    for _ = 1, 5 do ask(t, gw) end
    gw:advance(30)
    gw.upstream["a"]:answers { { status = status }, {} }
    t.equal(ask(t, gw).status, status)
    t.equal(ask(t, gw).status, next_status)
  end
end)

test("B70, S4.16: of twenty requests at once after the cooldown one is sent", function(t)
  local gw = gateway(t, { { "a", "direct", { default = true } } })
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  gw:advance(30)
  gw.upstream["a"]:answers { delay_ms = 2000 }
  local under_way, statuses = {}, { [200] = 0, [503] = 0 }
  for i = 1, 20 do
    under_way[i] = gw:start(SURFACES.messages, { model = HAIKU, max_tokens = 10,
      messages = t.hello })
  end
  for _, handle in ipairs(under_way) do
    local reply = handle:wait()
    statuses[reply.status] = statuses[reply.status] + 1
    if reply.status == 503 then t.equal(reply.header["retry-after"], "5") end
  end
  t.equal(statuses, { [200] = 1, [503] = 19 })
  t.equal(gw.upstream["a"].count, 6)
end)

-- -- clocks
-- ---------------------------------------------------------------------------------------------

local function first_attempt_ms(t, reply, fields, policy)
  local gw = pair_of(t, policy)
  gw.upstream["a"]:answers(reply)
  local answer = ask(t, gw, fields)
  t.equal(answer.tried, "a,b")
  local attempt = answer.attempts[1]
  return attempt.ended_ms - attempt.at_ms, attempt.class
end

test("clocks: a whole answer has 60 s and 1 s for each 20 tokens, at most 600 s (D7)", function(t)
  for tokens, wanted in pairs { [10] = 60500, [4000] = 260000, [1000000] = 600000 } do
    local ms, class = first_attempt_ms(t, { hang = "head" }, { max_tokens = tokens })
    t.equal(ms, wanted)
    t.equal(class, "timeout_headers")
  end
end)

test("clocks: the full answer, not only its head (D7)", function(t)
  local patient = base:with { clocks = { idle = false } }
  local ms, class = first_attempt_ms(t, { hang = "body" }, nil, patient)
  t.equal(ms, 60500)
  t.equal(class, "timeout_full")
end)

test("B73a, B73b: no head, or a head and nothing more: the next one answers, charged once",
  function(t)
  for reply, class in pairs { [{ hang = "head" }] = "timeout_headers",
    [{ hang = "body" }] = "timeout_full" } do
    local ms, said = first_attempt_ms(t, reply, { stream = true })
    t.equal(ms, 60000)
    t.equal(said, class)
    local gw = gateway(t, { { "a", "direct" } }, once)
    gw.upstream["a"]:answers(reply)
    for _ = 1, 5 do t.equal(ask(t, gw, { stream = true }).status, 504) end
    t.equal(ask(t, gw, { stream = true }).status, 503)
  end
end)

test("clocks: the first output within 120 s, and a comment is none (B73c)", function(t)
  local ms, class = first_attempt_ms(t,
    { text = "late", delay_ms = 50000, first_output_delay_ms = 1000000 }, { stream = true },
    base:with { clocks = { idle = false } })
  t.equal(ms, 120000)
  t.equal(class, "timeout_first_output")
end)

test("clocks: 60 s of silence after output end the stream, and nobody else is asked (B73d)",
  function(t)
  local gw = pair_of(t)
  gw.upstream["a"]:answers { text = "one two three", hang = 5 }
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "a")
  t.equal(reply.duration_ms >= 60000 and reply.duration_ms < 61000, true)
  t.equal(reply.events[#reply.events].name, "error")
end)

test("B74: a slow stream that goes on is not cut, and reasoning is output", function(t)
  local words = {}
  for i = 1, 90 do words[i] = "w" .. i end
  for _, slow in ipairs {
    { text = table.concat(words, " "), pace_ms = 2000 },
    { reasoning = table.concat(words, " "), pace_ms = 2000, text = "done" },
  } do
    local gw = pair_of(t)
    gw.upstream["a"]:answers(slow)
    local reply = ask(t, gw, { stream = true })
    t.equal(reply.tried, "a")
    t.is_true(reply.complete and reply.duration_ms > 180000)
  end
end)

-- -- what the client is told
-- ----------------------------------------------------------------------------

test("exhausted by network 502, by a clock 504: own body in the client's dialect", function(t)
  for status, reply in pairs { [502] = { reset = "head" }, [504] = { hang = "connect" } } do
    for surface, path in pairs(SURFACES) do
      local gw = pair_of(t)
      gw.upstream["a"]:answers(reply)
      gw.upstream["b"]:answers(reply)
      local answer = ask(t, gw, nil, nil, path)
      t.equal(answer.status, status)
      t.equal(answer.error_code, "upstream_unavailable")
      t.equal(answer.json.type, surface == "messages" and "error" or nil)
      t.equal(answer.json.error.code, "upstream_unavailable")
    end
  end
end)

test("exhausted by 429 or 5xx: that status, own body with the provider's message", function(t)
  for status, code in pairs { [429] = "rate_limited", [503] = "upstream_unavailable" } do
    local gw = pair_of(t)
    local reply = { status = status, error = { message = "come back later" } }
    gw.upstream["a"]:answers(reply)
    gw.upstream["b"]:answers(reply)
    local answer = ask(t, gw)
    t.equal(answer.status, status)
    t.equal(answer.json.error.message, "come back later")
    t.equal(answer.json.error.code, code)
  end
end)

test("decision 11: of a mixed failure the last attempt is told", function(t)
  local gw = pair_of(t)
  gw.upstream["a"]:answers { hang = "head" }
  gw.upstream["b"]:answers { status = 429, headers = { ["retry-after"] = "7" } }
  local reply = ask(t, gw)
  t.equal(reply.status, 429)
  t.equal(reply.header["retry-after"], "7")
end)

test("B69: Retry-After of a 429 is digits only, at most 60", function(t)
  for told, passed in pairs {
    ["5"] = "5", ["0"] = "0", ["999999"] = "60", ["2abc"] = false, ["-3"] = false, [""] = false,
    ["99999999999999999999"] = "60",
  } do
    local gw = gateway(t, { { "a", "direct" } })
    gw.upstream["a"]:answers { status = 429, headers = { ["retry-after"] = told } }
    t.equal(ask(t, gw).header["retry-after"] or false, passed, told)
  end
end)

test("B109: a refused key: its status, own body; a body that tells the key is replaced", function(t)
  local key = "sk-test-0123456789abcdef"
  for status, leak in pairs { [400] = "no: " .. key, [401] = key, [500] = "see ?key=" .. key } do
    local gw = gateway(t, { { "a", "direct", { key = key } } })
    gw.upstream["a"]:answers { status = status, error = { message = leak } }
    local reply = ask(t, gw)
    t.equal(reply.status, status)
    t.no_match(reply.body, "0123456789")
    t.equal(reply.json.type, "error")
  end
end)

test("B67: which failures move, and which are the answer", function(t)
  for _, case in ipairs {
    { { status = 429 }, true }, { { status = 500 }, true }, { { status = 502 }, true },
    { { status = 503 }, true }, { { status = 529 }, true }, { { reset = "connect" }, true },
    { { reset = "head" }, true }, { { status = 400 } }, { { status = 401 } }, { { status = 403 } },
    { { status = 404 } }, { { status = 413 } }, { { status = 422 } },
  } do
    for _, stream in ipairs { false, true } do
      local gw = pair_of(t)
      gw.upstream["a"]:answers(case[1])
      local reply = ask(t, gw, { stream = stream })
      t.equal(reply.tried, case[2] and "a,b" or "a", case[1].status)
      t.equal(reply.status, case[2] and 200 or case[1].status)
    end
  end
end)

test("B67: a 400 keeps its status and its message", function(t)
  local gw = pair_of(t)
  gw.upstream["a"]:answers { status = 400, error = { message = "prompt is too long" } }
  local reply = ask(t, gw)
  t.equal(reply.tried, "a")
  t.equal(reply.status, 400)
  t.match(reply.body, "prompt is too long")
end)

test("a policy that fails is a 500 policy_error without its place", function(t)
  local broken = base:with {
    filters = base.filters:before("circuit", function() error "secret plan" end),
  }
  local reply = ask(t, pair_of(t, broken))
  t.equal(reply.status, 500)
  t.equal(reply.error_code, "policy_error")
  t.no_match(reply.body, "secret plan")
  t.no_match(reply.body, "defaults_test")
  t.match(reply.policy_error, "secret plan")
end)

test("B75: a circuit that is open is not a model that nobody declares", function(t)
  local gw = gateway(t, { { "a", "direct" } }, once)
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  t.equal(ask(t, gw).error_code, "upstream_unavailable")
  t.equal(ask(t, gw, { model = "claude-unheard-of-1" }).error_code, "model_not_configured")
end)

-- -- streams
-- ------------------------------------------------------------------------------------------

test("terminal error: chat an error chunk and no [DONE], messages error, responses response.failed",
  function(t)
  for surface, path in pairs(SURFACES) do
    for _, reply in ipairs { { text = "one two three four five six", reset = 6 },
      { text = "one two three four five six", error_event = 6,
        error = { message = "words of the provider" } } } do
      local gw = pair_of(t)
      gw.upstream["a"]:answers(reply)
      local answer = ask(t, gw, { stream = true }, nil, path)
      t.equal(answer.tried, "a") -- B66
      t.equal(gw.upstream["b"].count, 0)
      t.match(answer.text, "one")
      local last = answer.events[#answer.events]
      t.no_match(last.text, "words of the provider")
      if surface == "chat" then
        t.is_true(last.data.error ~= nil)
        t.no_match(answer.body, "[DONE]")
      else
        t.equal(last.name, surface == "messages" and "error" or "response.failed")
      end
    end
  end
end)

test("B64: an error as the first event moves on, unseen, and is charged", function(t)
  for _, path in pairs(SURFACES) do
    local gw = pair_of(t)
    gw.upstream["a"]:answers { error_event = 0, error = { type = "overloaded_error" } }
    local reply = ask(t, gw, { stream = true }, nil, path)
    t.equal(reply.tried, "a,b")
    t.equal(reply.attempts[1].class, "stream_error_first")
    t.equal(reply.text, "Hello from b.")
    t.no_match(reply.body, "overloaded")
  end
end)

test("G4.8: nothing is written before the first output", function(t)
  local gw = pair_of(t)
  gw.upstream["a"]:answers { text = "late", first_output_delay_ms = 5000 }
  local handle = gw:start(SURFACES.messages,
    { model = HAIKU, max_tokens = 10, messages = t.hello, stream = true })
  gw:advance(4)
  t.equal(handle.reply.status, nil)
  t.equal(handle:wait().text, "late")
end)

test("a stream event that is no JSON is dropped in every dialect", function(t)
  for _, path in pairs(SURFACES) do
    local gw = pair_of(t)
    gw.upstream["a"]:answers { text = "one two three", malformed_event = 4 }
    local reply = ask(t, gw, { stream = true }, nil, path)
    t.equal(reply.text, "one two three")
    t.is_true(reply.complete)
  end
end)

test("B62: a client that leaves before the first output ends it: no retry, no charge", function(t)
  local gw = pair_of(t)
  gw.upstream["a"]:answers { first_output_delay_ms = 20000 }
  for _ = 1, 6 do
    local handle = gw:start(SURFACES.messages,
      { model = HAIKU, max_tokens = 10, messages = t.hello, stream = true })
    gw:advance(0.5)
    handle:hang_up()
    t.is_true(handle.over)
  end
  gw.upstream["a"]:answers {}
  t.equal(ask(t, gw).tried, "a")
  t.equal(gw.upstream["b"].count, 0)
end)

test("B62: a probe whose client leaves is free again", function(t)
  local gw = gateway(t, { { "a", "direct" } }, once)
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  gw:advance(30)
  gw.upstream["a"]:answers { { hang = "head" }, {} }
  local probe = gw:start(SURFACES.messages,
    { model = HAIKU, max_tokens = 10, messages = t.hello })
  t.equal(ask(t, gw).status, 503)
  probe:hang_up()
  t.equal(ask(t, gw).status, 200)
end)

-- -- ids
-- ------------------------------------------------------------------------------------------------

test("B78, B80: the longest family wins, and every spelling reaches what was declared", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "o" { maker = "openai",
      models = { "gpt-4o", "gpt-4o-mini", "o1", "o1-mini" } },
    acog.connection "b" { channel = "bedrock",
      models = { "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4",
        "claude-opus-4-5" } },
  } }
  for asked, sent in pairs {
    ["gpt-4o-mini-2024-07-18"] = "gpt-4o-mini", ["gpt-4o-2024-08-06"] = "gpt-4o",
    ["o1-mini-2024-09-12"] = "o1-mini", ["claude-opus-4-5-20251101"] = "claude-opus-4-5",
    ["claude-opus-4-20250514"] = "claude-opus-4", ["gpt-4o-audio-preview"] = false,
    ["anthropic/claude-sonnet-4.5"] = "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ["claude-sonnet-4-5@20250929"] = "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ["claude-sonnet-4-5"] = "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  } do
    local reply = ask(t, gw, { model = asked }, nil, SURFACES.chat)
    t.equal(reply.status, sent and 200 or 409, asked)
    t.equal(reply.model or false, sent, asked)
  end
end)

-- -- headers and lists
-- --------------------------------------------------------------------------------

test("B106: the attempt that answered is told in every dialect; an error has an id", function(t)
  for surface, path in pairs(SURFACES) do
    local gw = t.gateway { policy = base, connections = {
      acog.connection "a" { models = { HAIKU }, weight = 1000 },
      acog.connection "v" { channel = "vertex", models = { HAIKU .. "@20251001" } },
    } }
    gw.upstream["a"]:answers { status = 500 }
    local header = ask(t, gw, nil, nil, path).header
    t.equal(header["x-acog-connection"], "v")
    t.equal(header["x-acog-channel"], "vertex")
    t.equal(header["x-acog-resolved-model"], HAIKU .. "@20251001") -- S4.32
    t.equal(header["x-acog-attempts"], "2")
    t.equal(header["request-id"], surface == "messages" and header["x-request-id"] or nil)
    local refused = ask(t, gw, { model = "nobody-1" }, { ["x-request-id"] = "mine" }, path)
    t.equal(refused.header["x-request-id"], "mine")
    local odd = ask(t, gw, { model = "nobody-1" }, { ["x-request-id"] = "a b\"c" }, path)
    t.different(odd.header["x-request-id"], "a b\"c")
  end
end)

test("models: Anthropic's shape with anthropic-version, else OpenAI's; one row for each id",
  function(t)
  local gw = gateway(t, { { "a", "direct" }, { "b", "bedrock" },
    { "c", "custom", { models = { "gpt-5-mini" } } } })
  local list = gw:get("/v1/models").json
  t.equal(list.object, "list")
  t.equal(#list.data, 2)
  t.equal(list.data[1].object, "model")
  list = gw:get("/v1/models", { ["anthropic-version"] = "2023-06-01" }).json
  t.equal(list.has_more, false)
  t.equal(#list.data, 2)
  t.equal(list.data[1].type, "model")
  t.equal(gw:get("/v1/models/" .. HAIKU).json.id, HAIKU)
  t.equal(gw:get("/v1/models/nobody").status, 404)
end)

-- -- what a client may not choose
-- -------------------------------------------------------------------------

test("B108: neither body nor header chooses an upstream; the fields travel on", function(t)
  local gw = gateway(t, { { "a", "direct" } })
  local reply = ask(t, gw, {
    api_base = "http://127.0.0.1:9/", api_key = "x", metadata = { api_base = "http://evil" },
    extra_headers = { Host = "evil.example" },
  }, { ["x-base-url"] = "http://evil", ["x-upstream"] = "evil" })
  t.equal(reply.connection, "a")
  local seen = gw.upstream["a"].requests[1]
  t.equal(seen.body.api_base, "http://127.0.0.1:9/")
  t.equal(seen.header["x-base-url"], nil)
  t.equal(seen.header["x-upstream"], nil)
  t.equal(ask(t, gw, nil, { ["x-acog-channel"] = "http://evil" }).status, 409)
end)

test("B101, B102: credentials and hop-by-hop headers stay here", function(t)
  local gw = gateway(t, { { "a", "direct" } })
  ask(t, gw, nil, {
    authorization = "Bearer gw-client-key-1", ["x-api-key"] = "gw-client-key-1", cookie = "sid=1",
    ["api-key"] = "zzz", ["x-goog-api-key"] = "zzz", ["x-forwarded-for"] = "10.0.0.9",
    ["anthropic-version"] = "2023-06-01", connection = "keep-alive, x-secret-hop",
    ["x-secret-hop"] = "1", te = "trailers", ["keep-alive"] = "5",
    ["proxy-authorization"] = "x", ["accept-encoding"] = "gzip, br",
  })
  local header = gw.upstream["a"].requests[1].header
  t.equal(header["anthropic-version"], "2023-06-01")
  for _, name in ipairs { "authorization", "x-api-key", "cookie", "api-key", "x-goog-api-key",
    "x-forwarded-for", "x-secret-hop", "te", "keep-alive", "proxy-authorization",
    "accept-encoding" } do -- B104: the last is the gateway's own affair
    t.equal(header[name], nil, name)
  end
end)

test("B102: nothing of a provider's head goes down, a redirect is a failure", function(t)
  local gw = gateway(t, { { "a", "direct" } }, once)
  gw.upstream["a"]:answers { headers = { ["set-cookie"] = "a=b", server = "internal",
    location = "http://10.0.0.5/" } }
  local reply = ask(t, gw)
  gw.upstream["a"]:answers { status = 302, headers = { location = "http://10.0.0.5/" } }
  local moved = ask(t, gw)
  t.equal(moved.status, 502)
  for _, name in ipairs { "set-cookie", "server", "location" } do
    t.equal(reply.header[name], nil)
    t.equal(moved.header[name], nil)
  end
end)

test("B103: anthropic-beta is merged for direct, and what a connection does not take is told",
  function(t)
  local lines = { ["anthropic-beta"] = { "a-2025-01-01", "b-2025-02-02" } }
  local gw = gateway(t, { { "a", "direct" } })
  ask(t, gw, nil, lines)
  t.equal(gw.upstream["a"].requests[1].header["anthropic-beta"], "a-2025-01-01,b-2025-02-02")
  gw = gateway(t, { { "a", "bedrock", { betas = { "a-2025-01-01" } } } })
  local reply = ask(t, gw, nil, lines)
  t.equal(gw.upstream["a"].requests[1].header["anthropic-beta"], "a-2025-01-01")
  t.match(reply.header["x-acog-dropped-params"], "b-2025-02-02")
end)
