-- acog_test.lua - the default policy keeps each line of CONFORMANCE S4, and DESIGN's "default
-- answers".
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

local HAIKU = "claude-haiku-4-5"
local STAMPED = "claude-haiku-4-5@20251001"

--- Connections from rows { id, channel, model, more fields }.
local function gateway(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    local fields = t.with({ channel = row[2], models = { row[3] or HAIKU } }, row[4])
    connections[i] = acog.connection(row[1])(fields)
  end
  return t.gateway { policy = policy or base, connections = connections }
end

local function message(t, fields)
  return t.with({ model = HAIKU, max_tokens = 10, messages = t.hello }, fields)
end

local function ask(t, gw, headers, fields)
  return gw:post("/v1/messages", message(t, fields), headers)
end

local function fails(gw, replies)
  for id, reply in pairs(replies) do
    gw.upstream[id]:answers(type(reply) == "number" and { status = reply } or reply)
  end
end

-- -- which connection serves
-- --------------------------------------------------------------------------

test("S4.1: the model selects the connections that declared it", function(t)
  local gw = gateway(t, { { "a", "direct", "claude-sonnet-4-5" }, { "b", "direct", HAIKU } })
  t.equal(ask(t, gw).connection, "b")
  t.equal(ask(t, gw, nil, { model = "claude-sonnet-4-5" }).connection, "a")
  -- never chosen in the body
  t.equal(ask(t, gw, nil, { provider = { only = { "a" } } }).connection, "b")
end)

test("S4.2: a model that nobody declares is a 409", function(t)
  local reply = ask(t, gateway(t, { { "a", "direct" } }), nil, { model = "claude-haiku-9" })
  t.equal(reply.status, 409)
  t.equal(reply.error_code, "model_not_configured")
  t.match(reply.body, "claude-haiku-9")
  t.equal(reply.json.type, "error")
end)

test("S4.3: the default connection serves, and only it", function(t)
  local gw = gateway(t, { { "v", "vertex" }, { "d", "custom", HAIKU, { default = true } } })
  for _ = 1, 5 do t.equal(ask(t, gw).connection, "d") end
  fails(gw, { d = { reset = "head" } })
  local reply = ask(t, gw)
  t.equal(reply.tried, "d") -- no failover to others, nor a second try of its own
  t.equal(reply.status, 502)
  t.equal(gw.upstream["v"].count, 0)
end)

test("S4.4: its 429 or 5xx is the answer", function(t)
  for _, status in ipairs { 429, 500, 503, 529 } do
    local gw = gateway(t, { { "d", "direct", HAIKU, { default = true } }, { "v", "vertex" } })
    fails(gw, { d = { status = status, error = { message = "too much" },
      headers = { ["retry-after"] = "7" } } })
    local reply = ask(t, gw)
    t.equal(reply.status, status)
    t.equal(reply.tried, "d")
    t.match(reply.body, "too much")
    if status == 429 then t.equal(reply.header["retry-after"], "7") end
  end
end)

test("S4.5: while its circuit is open: 503, Retry-After 5", function(t)
  local gw = gateway(t, { { "d", "direct", HAIKU, { default = true } }, { "v", "vertex" } })
  fails(gw, { d = 500 })
  for _ = 1, 5 do t.equal(ask(t, gw).status, 500) end
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "upstream_unavailable")
  t.equal(reply.header["retry-after"], "5")
  t.equal(gw.upstream["d"].count, 5)
  t.equal(gw.upstream["v"].count, 0)
end)

test("S4.6: others share the requests", function(t)
  local gw = gateway(t, { { "a", "direct" }, { "b", "direct" } })
  for _ = 1, 10 do t.equal(ask(t, gw).status, 200) end
  t.equal(gw.upstream["a"].count, 5)
  t.equal(gw.upstream["b"].count, 5)
end)

test("G4.11: by turns, as their weights say", function(t)
  local gw = gateway(t, { { "a", "direct", HAIKU, { weight = 3 } }, { "b", "direct" } })
  for _ = 1, 8 do ask(t, gw) end
  t.equal(gw.upstream["a"].count, 6)
  t.equal(gw.upstream["b"].count, 2)
end)

test("S4.7: behind the first by direct, bedrock, vertex, azure, custom", function(t)
  local gw = gateway(t, {
    { "a", "azure", HAIKU, { weight = 100 } }, { "c", "custom" }, { "v", "vertex" }, { "b",
      "bedrock" },
    { "d", "direct" },
  }, base:with { attempts = { max = 0 } })
  fails(gw, { a = 500, d = 500, b = 500, v = 500 })
  t.equal(ask(t, gw).tried, "a,d,b,v,c")
end)

test("S4.8, S4.9: ids match loosely on version, both ways, and the declared one is sent",
  function(t)
  for _, case in ipairs { { HAIKU, STAMPED }, { STAMPED, HAIKU } } do
    local reply = ask(t, gateway(t, { { "v", "vertex", case[2] } }), nil, { model = case[1] })
    t.equal(reply.status, 200)
    t.equal(reply.model, case[2])
    t.equal(reply.header["x-acog-resolved-model"], case[2]) -- S4.32
  end
end)

test("S4.10: never across families or versions", function(t)
  local gw = gateway(t, { { "a", "direct" } })
  for _, model in ipairs { "claude-sonnet-4-5", "claude-haiku-3-5", "claude-haiku-4-6",
    "claude-haiku-4" } do
    t.equal(ask(t, gw, nil, { model = model }).status, 409, model)
  end
  gw = gateway(t, { { "a", "direct" } }, base:with { match = { minor = true } }) -- decision 2
  t.equal(ask(t, gw, nil, { model = "claude-haiku-4-6" }).model, HAIKU)
  t.equal(ask(t, gw, nil, { model = "claude-haiku-3-5" }).status, 409)
end)

test("S4.8: an exact id wins over a loose one on its connection (decision 2)", function(t)
  local gw = t.gateway { policy = base, connections = {
    acog.connection "v" { channel = "vertex", models = { HAIKU, STAMPED } },
  } }
  t.equal(ask(t, gw).model, HAIKU)
  t.equal(ask(t, gw, nil, { model = STAMPED }).model, STAMPED)
  t.equal(ask(t, gw, nil, { model = HAIKU .. "-20250101" }).model, HAIKU)
end)

-- -- failover
-- -----------------------------------------------------------------------------------------

local function pair_of(t)
  return gateway(t, { { "a", "direct", HAIKU, { weight = 1000 } }, { "b", "bedrock" } })
end

test("S4.11: 5xx and network failures are tried on another connection", function(t)
  for _, reply in ipairs { { status = 500 }, { status = 529 }, { reset = "connect" },
    { reset = "head" },
    { close = "head" } } do
    local gw = pair_of(t)
    fails(gw, { a = reply })
    local answer = ask(t, gw)
    t.equal(answer.tried, "a,b")
    t.equal(answer.status, 200)
    t.equal(answer.header["x-acog-attempts"], "2")
    t.equal(answer.header["x-acog-connection"], "b")
    t.equal(answer.header["x-acog-channel"], "bedrock")
  end
end)

test("S4.11: a cut before the first output moves on, unseen", function(t)
  local gw = pair_of(t)
  fails(gw, { a = { text = "never seen", reset = 1 } })
  local reply = ask(t, gw, nil, { stream = true })
  t.equal(reply.tried, "a,b")
  t.equal(reply.text, "Hello from b.")
end)

test("S4.12: a 429 only on a different connection", function(t)
  local gw = pair_of(t)
  fails(gw, { a = 429 })
  t.equal(ask(t, gw).tried, "a,b")
  gw = gateway(t, { { "a", "direct" } })
  fails(gw, { a = { status = 429, headers = { ["retry-after"] = "600" } } })
  local reply = ask(t, gw)
  t.equal(reply.tried, "a")
  t.equal(reply.status, 429)
  t.equal(reply.error_code, "rate_limited")
  t.equal(reply.header["retry-after"], "60") -- D13: the provider's, at most 60
end)

test("G4.12: a 5xx or network failure on the same connection when it is the only one", function(t)
  local gw = gateway(t, { { "a", "direct" } })
  fails(gw, { a = { { status = 500 }, { reset = "head" }, {} } })
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,a,a")
  t.equal(reply.status, 200)
  local never = base:with { classes = { server_error = { same = "never" } } }
  gw = gateway(t, { { "a", "direct" } }, never)
  fails(gw, { a = 500 })
  t.equal(ask(t, gw).tried, "a")
end)

test("S4.13: a connection that is not usable is passed over", function(t)
  local gw = gateway(t, { { "a", "direct", HAIKU, { usable = { false, "contract ended" } } },
    { "b", "bedrock" } })
  local reply = ask(t, gw)
  t.equal(reply.connection, "b")
  t.equal(reply.why["a"], "contract ended")
end)

test("S4.13: nothing usable is a 503 of its own", function(t)
  local gw = gateway(t, { { "a", "direct", HAIKU, { usable = false } } })
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "connection_not_usable")
end)

test("G4.13: a refusal before sending spends one of the three attempts", function(t)
  local gw = gateway(t, {
    { "a", "direct", HAIKU, { weight = 1000, usable = function() return false, "no" end } },
    { "b", "bedrock" }, { "v", "vertex" }, { "c", "custom" },
  })
  fails(gw, { b = 500, v = 500 })
  t.equal(ask(t, gw).tried, "b,v")
end)

test("S4.14: up to three attempts, with a short random pause", function(t)
  local gw = gateway(t, { { "a", "direct", HAIKU, { weight = 1000 } }, { "b", "bedrock" }, { "v",
    "vertex" },
    { "c", "custom" } })
  fails(gw, { a = 500, b = 500, v = 500 })
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,b,v")
  t.equal(reply.status, 500)
  for i = 2, 3 do
    local pause = reply.attempts[i].at_ms - reply.attempts[i - 1].ended_ms
    t.is_true(pause >= 50 and pause <= 250, "pause of " .. pause)
  end
end)

test("S4.15, G4.9: other 4xx are about the request: returned at once, as they came", function(t)
  for _, status in ipairs { 400, 402, 404, 409, 413, 422, 425, 451 } do
    local gw = pair_of(t)
    fails(gw, { a = { status = status, body = '{"type":"error","odd":' .. status .. "}",
      content_type = "application/json" } })
    local reply = ask(t, gw)
    t.equal(reply.tried, "a")
    t.equal(reply.status, status)
    if status ~= 402 then t.equal(reply.body, '{"type":"error","odd":' .. status .. "}") end
  end
end)

test("S4.15: a refused key is returned at once with our own body", function(t)
  for _, status in ipairs { 401, 403 } do
    local gw = pair_of(t)
    fails(gw, { a = { status = status, error = { message = "invalid key sk-12345" } } })
    local reply = ask(t, gw)
    t.equal(reply.tried, "a")
    t.equal(reply.status, status)
    t.no_match(reply.body, "sk-12345")
  end
end)

test("G4.9, G4.10: a 408 and our own clocks move on; all late is a 504", function(t)
  local gw = pair_of(t)
  fails(gw, { a = 408 })
  t.equal(ask(t, gw).tried, "a,b")
  gw = pair_of(t)
  fails(gw, { a = { hang = "head" } })
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,b")
  t.equal(reply.attempts[1].class, "timeout_headers")
  t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, 60500) -- 60 s + 10 tokens / 20
  fails(gw, { a = { hang = "head" }, b = { hang = "head" } })
  reply = ask(t, gw)
  t.equal(reply.status, 504)
  t.equal(reply.error_code, "upstream_unavailable")
end)

test("the clocks of DESIGN: connect 10, headers 60, first output 120, idle 60", function(t)
  for _, case in ipairs {
    { { hang = "connect" }, "timeout_connect", 10000 },
    { { hang = "head" }, "timeout_headers", 60000 },
    { { first_output_delay_ms = 59000, pace_ms = 1, comments = true, hang = 0 }, "timeout_full",
      60000 },
  } do
    local gw = pair_of(t)
    fails(gw, { a = case[1] })
    local reply = ask(t, gw, nil, { stream = true })
    t.equal(reply.tried, "a,b")
    t.equal(reply.attempts[1].class, case[2])
    t.equal(reply.attempts[1].ended_ms - reply.attempts[1].at_ms, case[3])
  end
end)

test("all failed by the network is a 502 with our own body", function(t)
  local gw = pair_of(t)
  fails(gw, { a = { reset = "connect" }, b = { reset = "connect" } })
  local reply = ask(t, gw)
  t.equal(reply.status, 502)
  t.equal(reply.error_code, "upstream_unavailable")
end)

-- -- circuit
-- ------------------------------------------------------------------------------------------

test("S4.16: five failures in sequence, 30 s, then one request tests the channel", function(t)
  local gw = gateway(t, { { "a", "direct", HAIKU, { weight = 1000 } }, { "b", "bedrock" } })
  fails(gw, { a = 500 })
  for _ = 1, 5 do t.equal(ask(t, gw).tried, "a,b") end
  t.equal(ask(t, gw).tried, "b")
  gw:advance(29)
  t.equal(ask(t, gw).tried, "b")
  gw:advance(1.5)
  fails(gw, { a = { delay_ms = 1000 } })
  local probe = gw:start("/v1/messages", message(t))
  t.equal(ask(t, gw).tried, "b") -- the others keep away meanwhile
  t.equal(probe:wait().connection, "a")
  t.equal(ask(t, gw).connection, "a")
end)

test("G4.2: a 429 or the request's fault does not open it, and connections of a channel share it",
  function(t)
  local gw = gateway(t, { { "a", "direct" } })
  for _, status in ipairs { 429, 400, 404 } do
    fails(gw, { a = status })
    for _ = 1, 6 do t.equal(ask(t, gw).status, status) end
  end
  gw = gateway(t, { { "a", "direct", HAIKU, { weight = 1000 } }, { "a2", "direct" } },
    base:with { attempts = { max = 1 } })
  fails(gw, { a = 500 })
  for _ = 1, 5 do ask(t, gw) end
  t.equal(ask(t, gw).status, 503)
  t.equal(gw.upstream["a2"].count, 0)
end)

test("S4.17: open and nowhere else to go: 503 upstream_unavailable, Retry-After 5", function(t)
  local gw = gateway(t, { { "a", "direct" } }, base:with { attempts = { max = 1 } })
  fails(gw, { a = 500 })
  for _ = 1, 5 do ask(t, gw) end
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "upstream_unavailable")
  t.equal(reply.header["retry-after"], "5")
end)

-- -- arbitrage
-- ----------------------------------------------------------------------------------------

local function priced(t, policy)
  local function at(price) return { models = { [HAIKU] = { input = price, output = price } } } end
  local default = at(10)
  default.default = true
  return gateway(t, { { "d", "direct", nil, default }, { "v", "vertex", nil, at(8) }, { "b",
    "bedrock", nil, at(12) } },
    policy)
end

test("S4.18a: with arbitrage on, a cheaper channel takes the request from the default", function(t)
  t.equal(ask(t, priced(t)).connection, "d")
  local gw = priced(t, base:with { arbitrage = { enabled = true } })
  t.equal(ask(t, gw).connection, "v")
  fails(gw, { v = 500 })
  t.equal(ask(t, gw).tried, "v,d") -- and fails over by price
end)

-- -- pin
-- ----------------------------------------------------------------------------------------------

test("S4.18b, S4.19, S4.20: the pin chooses a channel, over the default connection too", function(t)
  local gw = gateway(t, { { "d", "direct", HAIKU, { default = true } }, { "v", "vertex" }, { "b",
    "bedrock" } })
  t.equal(ask(t, gw, { ["x-acog-channel"] = "vertex" }).connection, "v")
  t.equal(ask(t, gw, { ["X-ACOG-Channel"] = "bedrock" }).connection, "b")
  t.equal(ask(t, gw).connection, "d")
end)

test("S4.20: the pin beats arbitrage, and requests fail over inside it", function(t)
  local gw = priced(t, base:with { arbitrage = { enabled = true } })
  t.equal(ask(t, gw, { ["x-acog-channel"] = "bedrock" }).connection, "b")
  gw = gateway(t, { { "v1", "vertex", HAIKU, { weight = 1000 } }, { "v2", "vertex" }, { "d",
    "direct" } })
  fails(gw, { v1 = 500 })
  t.equal(ask(t, gw, { ["x-acog-channel"] = "vertex" }).tried, "v1,v2")
end)

test("S4.19: every channel can be pinned, the default connection's own too", function(t)
  local rows = {}
  for i, channel in ipairs { "direct", "bedrock", "vertex", "azure", "custom" } do
    rows[i] = { channel, channel }
  end
  rows[1][4] = { default = true }
  local gw = gateway(t, rows)
  for _, row in ipairs(rows) do
    local reply = ask(t, gw, { ["x-acog-channel"] = row[2] })
    t.equal(reply.connection, row[1])
    t.equal(reply.header["x-acog-channel"], row[2])
  end
end)

test("S4.20: nothing leaves the pinned channel, even when it fails or rests (S4.17)", function(t)
  local gw = pair_of(t)
  local pin = { ["x-acog-channel"] = "direct" }
  fails(gw, { a = 500 })
  t.equal(ask(t, gw, pin).tried, "a,a,a")
  t.equal(ask(t, gw, pin).tried, "a,a") -- G4.12, until the circuit opens
  local reply = ask(t, gw, pin)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "upstream_unavailable")
  t.equal(reply.header["retry-after"], "5")
  t.equal(gw.upstream["b"].count, 0)
end)

test("S4.21, S4.22: an unknown or unserved channel is a 409", function(t)
  local gw = gateway(t, { { "d", "direct", HAIKU, { default = true } } })
  for _, value in ipairs { "nowhere", "Direct", "direct,vertex", "", "vertex" } do
    local reply = ask(t, gw, { ["x-acog-channel"] = value })
    t.equal(reply.status, 409)
    t.equal(reply.error_code, "model_not_configured")
    t.match(reply.body, value)
  end
  t.equal(ask(t, gw, { ["x-acog-channel"] = { "direct", "nowhere" } }).status, 409)
  t.equal(gw.upstream["d"].count, 0)
end)

test("S4.23: it works beside Authorization and anthropic-version", function(t)
  local gw = gateway(t, { { "d", "direct", "claude-sonnet-4-5" }, { "v", "vertex",
    "claude-sonnet-4-5" } })
  local reply = ask(t, gw, {
    authorization = "Bearer x", ["anthropic-version"] = "2023-06-01", ["x-acog-channel"] = "vertex",
  }, { model = "claude-sonnet-4-5" })
  t.equal(reply.connection, "v")
end)

-- -- streams
-- ------------------------------------------------------------------------------------------

test("D9: after the first output nothing moves; the stream ends with one error of the dialect",
  function(t)
  local gw = pair_of(t)
  fails(gw, { a = { text = "one two three four", reset = 5 } })
  local reply = ask(t, gw, nil, { stream = true })
  t.equal(reply.tried, "a")
  t.match(reply.text, "one")
  t.equal(reply.events[#reply.events].name, "error")
end)

test("D15: chat ends with an error chunk and no [DONE]", function(t)
  local gw = pair_of(t)
  fails(gw, { a = { text = "one two three four", reset = 5 } })
  local reply = gw:post("/v1/chat/completions", message(t, { stream = true }))
  t.match(reply.events[#reply.events].text, '"error"')
  t.no_match(reply.body, "[DONE]")
end)

test("bad_event: what is no JSON is dropped and the stream goes on", function(t)
  local gw = pair_of(t)
  fails(gw, { a = { text = "one two", malformed_event = 3 } })
  local reply = ask(t, gw, nil, { stream = true })
  t.equal(reply.text, "one two")
  t.is_true(reply.complete)
end)

test("x-request-id is the client's when it is sane, else made", function(t)
  local gw = pair_of(t)
  t.equal(ask(t, gw, { ["x-request-id"] = "abc-123" }).header["x-request-id"], "abc-123")
  t.is_true(#ask(t, gw).header["x-request-id"] > 0)
end)
