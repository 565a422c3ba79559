-- classes_test.lua - what follows from each class of failure (D5): whether another connection is
-- asked, whether the circuit is charged, what the client is told.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local MODEL = "claude-haiku-4-5"
local CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"

--- "a" is asked first, "b" behind it; or "a" alone, whose circuit then shows in the answer.
local function gateway(t, count, policy)
  local connections = { acog.connection "a" { models = { MODEL }, weight = 1000 } }
  if count == 2 then
    connections[2] = acog.connection "b" { channel = "bedrock", models = { MODEL } }
  end
  return t.gateway { policy = policy or base, connections = connections }
end

local function ask(t, gw, fields, path)
  local body = t.with({ model = MODEL, max_tokens = 10, messages = t.hello }, fields)
  return gw:post(path or MESSAGES, body)
end

local once = base:with { attempts = { max = 1 } }
local page = { body = "<html>welcome</html>", content_type = "text/html" }
local long = ("event: ping\ndata: {\"type\": \"ping\"}\n\n"):rep(100)
local first_event = once:with { clocks = { first_event = 5 } }
local fail_when_full = once:with { commit = { held_bytes = 1024, when_full = "fail" } }

--- Those that move are charged.
local moving = {
  { name = "refused", reply = { reset = "connect" }, class = "network", status = 502 },
  { name = "torn", reply = { reset = "head" }, class = "network", status = 502 },
  { name = "cut", reply = { text = "one two", reset = 1 }, class = "network", status = 502,
    stream = true },
  { name = "never connected", reply = { hang = "connect" }, class = "timeout_connect",
    status = 504 },
  { name = "no head", reply = { hang = "head" }, class = "timeout_headers", status = 504 },
  { name = "no first event", reply = { hang = "body" }, class = "timeout_first_event",
    status = 504, stream = true, policy = first_event },
  { name = "no first output", class = "timeout_first_output", status = 504, stream = true,
    reply = { first_output_delay_ms = 200000 }, policy = once:with { clocks = { idle = false } } },
  { name = "silence", reply = { hang = "body" }, class = "timeout_full", status = 504 },
  { name = "an error event", class = "stream_error_first", status = 502, stream = true,
    reply = { error_event = 0, error = { message = "their own words" } },
    message = "their own words" },
  { name = "a page", reply = page, class = "bad_answer", status = 502 },
  { name = "a redirect", reply = { status = 302 }, class = "bad_answer", status = 502 },
  { name = "more than is held", class = "bad_answer", status = 502, stream = true,
    reply = { body = long, content_type = "text/event-stream" }, policy = fail_when_full },
  { name = "408", reply = { status = 408 }, class = "status_408", status = 504 },
  { name = "500", reply = { status = 500 }, class = "server_error", status = 500 },
}

test("S4.11, S4.16, G4.9: what moves, what it is told as, and that five of it open the circuit",
  function(t)
  t.cases(moving, function(row)
    local variant = row.policy or once
    local gw = gateway(t, 2, variant:with { attempts = { max = 3 } })
    gw.upstream["a"]:answers(row.reply)
    local reply = ask(t, gw, { stream = row.stream })
    t.equal(reply.tried, "a,b")
    t.equal(reply.attempts[1].class, row.class)
    gw = gateway(t, 1, variant)
    gw.upstream["a"]:answers(row.reply)
    for _ = 1, 5 do
      reply = ask(t, gw, { stream = row.stream })
      t.equal(reply.status, row.status)
      t.equal(reply.error_code, "upstream_unavailable")
      if row.message then t.equal(reply.json.error.message, row.message) end
    end
    t.equal(#ask(t, gw).attempts, 0)
  end)
end)

local final = {
  { status = 400, class = "invalid_request" }, { status = 401, class = "auth" },
  { status = 402, class = "auth" }, { status = 403, class = "auth" },
  { status = 404, class = "not_found" }, { status = 409, class = "conflict" },
  { status = 425, class = "conflict" }, { status = 422, class = "invalid_request" },
}

test("S4.15, G4.9, G4.2: what is returned at once, and is no fault of the connection", function(t)
  for _, row in ipairs(final) do
    local gw = gateway(t, 2)
    gw.upstream["a"]:answers { status = row.status }
    for _ = 1, 6 do
      local reply = ask(t, gw)
      t.equal(reply.tried, "a")
      t.equal(reply.attempts[1].class, row.class)
      t.equal(reply.status, row.status)
      if row.class == "auth" then t.equal(reply.error_code, "upstream_auth_failed") end
    end
  end
end)

test("what no row of `classify` takes is our own failure: a 500 that says nothing of the provider",
  function(t)
  local odd = once:with { classify = { { status = 500, class = "server_error" } } }
  local gw = gateway(t, 1, odd)
  gw.upstream["a"]:answers { { status = 500 }, { status = 500 }, { status = 500 }, { status = 500 },
    { status = 500 }, { status = 418 }, { status = 500 } }
  for _ = 1, 5 do ask(t, gw) end
  gw:advance(30)
  local reply = ask(t, gw) -- the probe
  t.equal(reply.attempts[1].class, "gateway")
  t.equal(reply.status, 500)
  t.equal(reply.error_code, "internal_error")
  t.equal(ask(t, gw).status, 500) -- ours tells nothing of the connection: a probe again
  t.equal(#ask(t, gw).attempts, 0)
end)

-- -- attempts -------------------------------------------------------------------------------------

test("S4.13, G4.13: what its owner switched off is known before, and spends no attempt", function(t)
  local connections = {}
  for i, id in ipairs { "a", "b", "c", "d" } do
    connections[i] = acog.connection(id) { models = { MODEL }, usable = id == "d" or false }
  end
  local gw = t.gateway { policy = base, connections = connections }
  t.equal(ask(t, gw).connection, "d")
end)

test("S4.14: the pause is 50 to 250 ms", function(t)
  for ms, backoff in pairs { [50] = { max_ms = 50 }, [250] = { min_ms = 250 } } do
    local gw = gateway(t, 2, base:with { backoff = backoff, health = { threshold = 255 } })
    gw.upstream["a"]:answers { status = 500 }
    for _ = 1, 40 do
      local attempts = ask(t, gw).attempts
      t.equal(attempts[2].at_ms - attempts[1].ended_ms, ms)
    end
  end
end)

test("overload is a 503, Retry-After 1", function(t)
  local paced = base:with {
    filters = base.filters:after("declared", "reserved"),
    endpoints = { ["acme/slow"] = { model = MODEL, pace = { per_minute = 1, wait = 1 } } },
  }
  local gw = gateway(t, 1, paced)
  t.equal(ask(t, gw, { model = "acme/slow" }).status, 200)
  local reply = ask(t, gw, { model = "acme/slow" })
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "overloaded")
  t.equal(reply.header["retry-after"], "1")
end)

test("D7: the whole answer has at most 600 s, to its last byte", function(t)
  local gw = gateway(t, 2, base:with { clocks = { idle = false } })
  gw.upstream["a"]:answers { hang = "body" }
  local attempt = ask(t, gw, { max_tokens = 1000000 }).attempts[1]
  t.equal(attempt.class, "timeout_full")
  t.equal(attempt.ended_ms - attempt.at_ms, 600000)
end)

-- -- streams --------------------------------------------------------------------------------------

test("D9: a tool call commits, and a reason to stop; a refusal's text alone does not", function(t)
  local refused = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    .. '"choices":[{"index":0,"delta":{"role":"assistant","refusal":"I"},'
    .. '"finish_reason":null}]}\n\n'
  t.cases({
    { name = "tool", reply = { text = "", tool = { name = "f", arguments = "{}" }, hang = 2 },
      to = "a" },
    { name = "stop", reply = { text = "", hang = 2 }, to = "a" }, -- a role and a reason
    { name = "refusal", reply = { body = refused, content_type = "text/event-stream" },
      to = "a,b" },
  }, function(row)
    local gw = gateway(t, 2)
    gw.upstream["a"]:answers(row.reply)
    t.equal(ask(t, gw, { stream = true }, CHAT).tried, row.to)
  end)
end)

test("D5: a stream that dies after its output ends with upstream_error", function(t)
  local gw = gateway(t, 2)
  gw.upstream["a"]:answers { text = "one two three four", reset = 4 }
  local events = ask(t, gw, { stream = true }, CHAT).events
  t.equal(events[#events].data.error.code, "upstream_error")
end)

-- -- what is told ---------------------------------------------------------------------------------

test("D3: a connection that does not speak the client's API is passed over", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "a" { dialects = "messages", models = { MODEL }, weight = 1000 },
    acog.connection "b" { dialects = "chat", models = { MODEL } },
  } }
  local reply = gw:post("/v1/embeddings", { model = MODEL, input = "hi" }) -- never translated
  t.equal(reply.connection, "b")
  t.equal(reply.why["a"], "does not speak this API")
  t.equal(reply.record.policy, "acog")
end)

test("D3: of two filters that object the first one is told: data protection, then the pin, …",
  function(t)
  local gw = t.gateway {
    policy = base:with { dlp = { { name = "health", words = { "diagnosis" },
      channels = { "bedrock", "vertex" } } } },
    connections = {
      acog.connection "d" { models = { MODEL } },
      acog.connection "v" { channel = "vertex", models = { MODEL } },
      acog.connection "b" { channel = "bedrock", models = { MODEL } },
    },
  }
  local reply = gw:post(MESSAGES, { model = MODEL, max_tokens = 9,
    messages = { { role = "user", content = "a diagnosis" } } }, { ["x-acog-channel"] = "vertex" })
  t.equal(reply.why, { d = 'the data rule "health" keeps it away',
    b = "not what the client pinned" })
end)

test("D3: … and what its owner switched off before what rests", function(t)
  local gw = t.gateway { policy = once, connections = {
    acog.connection "off" { channel = "vertex", models = { MODEL }, usable = false },
    acog.connection "v" { channel = "vertex", models = { MODEL }, weight = 1000 },
    acog.connection "b" { channel = "bedrock", models = { MODEL } },
  } }
  gw.upstream["v"]:answers { status = 500 }
  for _ = 1, 5 do ask(t, gw) end
  t.equal(ask(t, gw).why, { off = "usable = false", v = "its circuit is open" })
end)
