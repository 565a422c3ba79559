-- classes_test.lua - what follows from each class of failure (S0.39-S0.45, D5): whether the next
-- deployment is asked, whether the circuit is charged, what the client is told.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.routerplus"

local CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"

local function gateway(t, ids)
  local connections = {}
  for i, id in ipairs(ids) do
    connections[i] = acog.connection(id) { models = { "m" }, priority = i }
  end
  return t.gateway { policy = base, connections = connections }
end

local function ask(t, gw, fields, path)
  local body = { model = "m", messages = t.hello, max_tokens = 10 }
  if path == RESPONSES then body = { model = "m", input = "hello" } end
  return gw:post(path or CHAT, t.with(body, fields))
end

local page = { body = "<html>welcome</html>", content_type = "text/html" }

--- What moves: charged, and an upstream_error that may be retried, unless the row says otherwise.
local failures = {
  { name = "refused", reply = { reset = "connect" }, class = "network" },
  { name = "torn", reply = { reset = "head" }, class = "network" },
  { name = "cut", reply = { reset = "body" }, class = "network" },
  { name = "never connected", reply = { hang = "connect" }, class = "timeout_connect", ms = 10000 },
  { name = "no head", reply = { hang = "head" }, class = "timeout_headers", ms = 20000 },
  { name = "an error event", reply = { error_event = 0 }, class = "stream_error_first",
    stream = true },
  { name = "a page", reply = page, class = "bad_answer" },
  { name = "a redirect", reply = { status = 302 }, class = "bad_answer" },
  { name = "500", reply = { status = 500 }, class = "server_error" },
  { name = "500, and of a key", class = "server_error", -- S0.44: only a 400 says auth in words
    reply = { status = 500, error = { code = "invalid_api_key" } } },
  { name = "overloaded", class = "overloaded",
    reply = { status = 400, error = { message = "overloaded" } } },
  { name = "an event: overloaded", class = "overloaded", stream = true,
    reply = { error_event = 0, error = { type = "overloaded_error" } } },
  { name = "404", reply = { status = 404 }, class = "not_found", code = "model_unavailable",
    retry = "false" },
  { name = "an event: no such model", class = "not_found", code = "model_unavailable",
    retry = "false", stream = true,
    reply = { error_event = 0, error = { code = "model_not_found" } } },
  { name = "401", reply = { status = 401 }, class = "auth", code = "auth", retry = "false" },
}

test("S0.39-S0.44, S0.48, S0.49: what moves is charged: two in sequence open the circuit",
  function(t)
  t.cases(failures, function(row)
    local gw = gateway(t, { "one", "two" })
    gw.upstream["one"]:answers(row.reply)
    for _ = 1, 2 do
      local reply = ask(t, gw, { stream = row.stream })
      t.equal(reply.tried, "one,two")
      t.equal(reply.attempts[1].class, row.class)
      t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, row.ms or 0)
    end
    t.equal(ask(t, gw).tried, "two")
  end)
end)

test("S0.39-S0.44, S0.72: the canonical class, and whether another try makes sense", function(t)
  t.cases(failures, function(row)
    local gw = gateway(t, { "one" })
    gw.upstream["one"]:answers(row.reply)
    local reply = ask(t, gw, { stream = row.stream })
    t.equal(reply.error_code, row.code or "upstream_error")
    t.equal(reply.header["x-tm-error-code"], row.code or "upstream_error")
    t.equal(reply.header["x-should-retry"], row.retry or "true")
  end)
end)

test("S0.37, S0.41: a context that is too long is a 400, whatever the provider's status",
  function(t)
  local gw = gateway(t, { "one" })
  gw.upstream["one"]:answers { status = 413, error = { code = "context_length_exceeded" } }
  local reply = ask(t, gw)
  t.equal(reply.status, 400)
  t.equal(reply.error_code, "context_overflow")
end)

test("S0.19, G0.6: a usage report starts the answer, though it commits to nobody", function(t)
  local report = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    .. '"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}\n\n'
  local gw = gateway(t, { "one", "two" })
  gw.upstream["one"]:answers { body = report, content_type = "text/event-stream" }
  local reply = ask(t, gw, { stream = true, stream_options = { include_usage = true } })
  t.equal(reply.tried, "one,two")
  t.equal(reply.attempts[1].outcome, "incomplete")
end)

test("S0.19, G0.8: a reason to stop commits to nobody; that frame is held back too", function(t)
  local gw = gateway(t, { "one", "two" })
  gw.upstream["one"]:answers { text = "", hang = 2, hang_ms = 1000 } -- a role and the reason
  local handle = gw:start(CHAT, { model = "m", messages = t.hello, stream = true })
  gw:advance(0.5)
  t.equal(handle.reply.status, nil)
  handle:wait()
end)

test("S0.30, S0.76: the forms of an error, to the letter", function(t)
  local gw = gateway(t, { "one" })
  for path, form in pairs {
    [CHAT] = { error = { code = "model_unavailable", type = "invalid_request_error",
      metadata = { error_type = "model_unavailable" } } },
    [RESPONSES] = { error = { code = "model_unavailable", type = "invalid_request_error",
      metadata = { error_type = "model_unavailable" } } },
    [MESSAGES] = { type = "error",
      error = { type = "not_found_error", error_type = "model_unavailable" } },
  } do
    local reply = ask(t, gw, { model = "nobody" }, path)
    form.request_id = reply.request_id
    form.error.message = 'model "nobody" is not in the catalog; '
      .. "GET /v1/models lists what this key can serve"
    t.equal(reply.json, form)
  end
end)

test("S0.72, S0.73, S0.75: a good answer has none of the headers of a failure", function(t)
  local header = ask(t, gateway(t, { "one" })).header
  for _, name in ipairs { "x-tm-error-code", "x-tm-error-origin", "x-tm-limit-kind",
    "x-should-retry" } do
    t.equal(header[name], nil)
  end
end)

test("D3: a deployment that does not speak the client's API is passed over", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "one" { dialects = "messages", models = { "m" } },
    acog.connection "two" { dialects = "chat", models = { "m" } },
  } }
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi" }) -- never translated
  t.equal(reply.connection, "two")
  t.equal(reply.why["one"], "does not speak this API")
end)

test("D3, S0.16: of two filters that object the first one is told", function(t)
  local policy = base:with { endpoints = { ["acme/fast"] = { model = "m" } } }
  local gw = t.gateway { policy = policy, connections = {
    acog.connection "own" { models = { "m" }, reserved_for = "acme/fast" },
    acog.connection "mute" { models = { "m" }, reserved_for = "acme/fast", dialects = "messages" },
    acog.connection "public" { models = { "m" } },
  } }
  gw.upstream["own"]:answers { status = 500 }
  for _ = 1, 2 do ask(t, gw, { model = "acme/fast" }) end -- so it rests
  local reply = gw:post("/v1/embeddings", { model = "m", input = "hi" })
  t.equal(reply.why, { mute = "does not speak this API", own = "reserved for an endpoint" })
end)
