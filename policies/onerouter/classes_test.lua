-- classes_test.lua - what follows from each class of failure (D5): the next host is asked, the host
-- has one failure more, the client is told in OneRouter's words.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.onerouter"

local CHAT = "/v1/chat/completions"

local function hosts(t, ids)
  local connections = {}
  for i, id in ipairs(ids) do connections[i] = acog.connection(id) { models = { "m" } } end
  return t.gateway { policy = base, connections = connections }
end

local function ask(t, gw, fields)
  return gw:post(CHAT, t.with({ model = "m", messages = t.hello, max_tokens = 100 }, fields))
end

local page = { body = "<html>welcome</html>", content_type = "text/html" }

local failures = {
  { name = "refused", reply = { reset = "connect" }, class = "network" },
  { name = "torn", reply = { reset = "head" }, class = "network" },
  { name = "cut", reply = { reset = "body" }, class = "network" },
  { name = "never connected", reply = { hang = "connect" }, class = "timeout_connect", ms = 10000 },
  { name = "no first token", reply = { hang = "head" }, class = "timeout_first_output", ms = 30000,
    stream = true },
  { name = "no answer", reply = { hang = "head" }, class = "timeout_full", ms = 30000 },
  { name = "an error event", reply = { error_event = 0 }, class = "stream_error_first",
    stream = true },
  { name = "a page", reply = page, class = "bad_answer" },
  { name = "500", reply = { status = 500 }, class = "server_error" },
  { name = "429", reply = { status = 429 }, class = "throttled" },
  { name = "401", reply = { status = 401 }, class = "auth" },
  { name = "402", reply = { status = 402 }, class = "auth" },
  { name = "403", reply = { status = 403 }, class = "auth" },
  { name = "404", reply = { status = 404 }, class = "not_found" },
}

test("S3.2, S3.8, G3.6: what a host fails by: the next one is asked, and three put it aside",
  function(t)
  t.cases(failures, function(row)
    local gw = hosts(t, { "one", "two" })
    gw.upstream["one"]:answers(row.reply)
    for _ = 1, 3 do
      local reply = ask(t, gw, { stream = row.stream })
      t.equal(reply.tried, "one,two")
      t.equal(reply.attempts[1].class, row.class)
      t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, row.ms or 0)
    end
    t.equal(ask(t, gw).tried, "two")
  end)
end)

test("S3.19, G3.2: request_timeout, whichever clock ran out on each host", function(t)
  for _, reply in ipairs { { hang = "connect" }, { hang = "head" } } do
    local gw = hosts(t, { "one", "two" })
    for _, id in ipairs { "one", "two" } do gw.upstream[id]:answers(reply) end
    for _, stream in ipairs { false, true } do
      local answer = ask(t, gw, { stream = stream })
      t.equal(answer.status, 504)
      t.equal(answer.json.error.code, "request_timeout")
      t.equal(answer.json.error.message, 'No host of "m" sent a first token in time.')
    end
  end
end)

test("G3.5: a context that is too long is a 400 of that name, whatever the host's status",
  function(t)
  local gw = hosts(t, { "one", "two" })
  gw.upstream["one"]:answers { status = 413,
    error = { message = "too long", code = "context_length_exceeded" } }
  for _ = 1, 4 do -- and no failure of the host
    local reply = ask(t, gw)
    t.equal(reply.tried, "one")
    t.equal(reply.status, 400)
    t.equal(reply.error_code, "context_too_long")
  end
end)

test("G3.5: nor is a request's own fault a failure of the host", function(t)
  local gw = hosts(t, { "one", "two" })
  gw.upstream["one"]:answers { status = 400 }
  for _ = 1, 4 do t.equal(ask(t, gw).tried, "one") end
end)

test("S3.4, S3.15, S3.21: the messages, to the letter", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "one" { models = { "m" } }, acog.connection "two" { models = { "other" } },
  } }
  gw.upstream["one"]:answers { status = 500 }
  local function message(fields) return ask(t, gw, fields).json.error.message end
  t.equal(message { model = "nobody" }, 'There is no model "nobody". Live: m, other.')
  t.equal(message(), 'Every host of "m" failed. Live alternatives: other.')
  t.equal(message { provider = { only = { "one" } } },
    'The host "one" cannot serve "m" now. Nothing was charged.')
  ask(t, gw)
  t.equal(message(), 'No host of "m" is healthy. Live alternatives: other.')
end)

test("G3.6: a host rests for thirty seconds, not for a second less", function(t)
  local gw = hosts(t, { "one", "two" })
  gw.upstream["one"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  gw:advance(29.5)
  t.equal(ask(t, gw).tried, "two")
  gw:advance(0.5)
  t.equal(ask(t, gw).tried, "one,two")
end)

test("S3.5: reasoning commits too; a refusal, or a reason to stop, is no content", function(t)
  local refused = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    .. '"choices":[{"index":0,"delta":{"role":"assistant","refusal":"I"},'
    .. '"finish_reason":null}]}\n\n'
  t.cases({
    { name = "reasoning", reply = { text = "", reasoning = "hm hm", reset = 2 }, to = "one" },
    { name = "refusal", to = "one,two",
      reply = { body = refused, content_type = "text/event-stream" } },
    { name = "stop", reply = { text = "", hang = 2 }, to = "one,two" }, -- a role and a reason
  }, function(row)
    local gw = hosts(t, { "one", "two" })
    gw.upstream["one"]:answers(row.reply)
    t.equal(ask(t, gw, { stream = true }).tried, row.to)
  end)
end)

test("D3: a host that does not speak the client's API is passed over, and the record says whose",
  function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "one" { dialects = "messages", models = { "m" } },
    acog.connection "two" { dialects = "chat", models = { "m" } },
  } }
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi" }) -- never translated
  t.equal(reply.connection, "two")
  t.equal(reply.why["one"], "does not speak this API")
  t.equal(reply.record.policy, "onerouter")
end)

test("D3, S3.14: of two filters that object the first one is told; the pin goes before health",
  function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "mute" { dialects = "messages", models = { "m" } },
    acog.connection "sick" { models = { "m" } },
    acog.connection "well" { models = { "m" } },
  } }
  gw.upstream["sick"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw, { provider = { only = { "sick" } } }) end
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi",
    provider = { only = { "well" } } })
  t.equal(reply.why, { mute = "does not speak this API", sick = "not what the client pinned" })
end)
