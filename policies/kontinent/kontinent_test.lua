-- kontinent_test.lua - each line of CONFORMANCE S2 that is tagged C, P or H and does not wait for
-- the ledger or the status page (README.md lists those that do).
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.kontinent"

local CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"

--- Supply routes of the model "m" in their order, from rows { id, more fields }.
local function supply(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1])(t.with({ models = { "m" } }, row[2]))
  end
  local gw = t.gateway { policy = policy or base, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function routes(t, count, fields)
  local rows = {}
  for i = 1, count do rows[i] = { ("abcdef"):sub(i, i), fields } end
  return supply(t, rows)
end

local function body_of(t, fields)
  return t.with({ model = "m", messages = t.hello, max_tokens = 100 }, fields)
end

local function ask(t, gw, fields, path)
  return gw:post(path or CHAT, body_of(t, fields))
end

local function stream(t, gw, path)
  return ask(t, gw, { stream = true }, path)
end

--- How long each attempt lasted, in seconds.
local function lasted(reply)
  local seconds = {}
  for i, attempt in ipairs(reply.attempts) do
    seconds[i] = (attempt.ended_ms - attempt.at_ms) / 1000
  end
  return seconds
end

--- All routes are silent behind their head.
local function silent(gw, ids)
  for id in ids:gmatch("%S") do gw.upstream[id]:answers { hang = "head" } end
end

local function all_answer(gw, ids, reply)
  for id in ids:gmatch("%S") do gw.upstream[id]:answers(reply) end
end

-- -- moving on ------------------------------------------------------------------------------------

test("S2.1, S2.2: the first route; if it fails the same request goes to the next", function(t)
  local gw = routes(t, 3)
  for _ = 1, 3 do t.equal(ask(t, gw).tried, "a") end
  gw.upstream["a"]:answers { status = 500 }
  local reply = ask(t, gw, { temperature = 0.5 })
  t.equal(reply.tried, "a,b")
  t.equal(reply.text, "Hello from b.")
  t.equal(gw.upstream["b"].requests[1].text, gw.upstream["a"].requests[4].text)
end)

test("S2.3: no answer, or the route closes the connection", function(t)
  for _, failure in ipairs { { reset = "connect" }, { reset = "head" }, { close = "head" },
    { close = "body" } } do
    for _, streams in ipairs { false, true } do
      local gw = routes(t, 2)
      gw.upstream["a"]:answers(failure)
      local reply = ask(t, gw, { stream = streams })
      t.equal(reply.tried, "a,b")
      t.equal(reply.status, 200)
    end
  end
end)

test("S2.4, G2.7: the statuses that move on", function(t)
  for _, status in ipairs { 401, 402, 403, 404, 408, 409, 425, 429, 500, 502, 503, 504, 529 } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { status = status }
    t.equal(ask(t, gw).tried, "a,b", status)
  end
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { status = 403, error = { code = "content_policy_violation" } }
  t.equal(ask(t, gw).tried, "a,b")
end)

test("S2.5: it says that it cannot serve this model at this time, whatever the status", function(t)
  for _, status in ipairs { 400, 422, 424 } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { status = status, error = { message = "no available channel" } }
    t.equal(ask(t, gw).tried, "a,b", status)
  end
end)

test("S2.6: the first event of a stream is an error", function(t)
  for _, path in ipairs { CHAT, MESSAGES } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { error_event = 0 }
    local reply = stream(t, gw, path)
    t.equal(reply.tried, "a,b")
    t.equal(reply.text, "Hello from b.")
  end
end)

test("S2.8, G2.6: a refusal of the request is a 400 with the model's message", function(t)
  for _, status in ipairs { 400, 405, 413, 415, 422, 451 } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { status = status, error = { message = "prompt is too long" } }
    local reply = ask(t, gw)
    t.equal(reply.tried, "a")
    t.equal(reply.status, 400)
    t.equal(reply.json.error, { message = "prompt is too long", type = "invalid_request_error",
      param = t.null, code = "upstream_invalid_request" })
  end
end)

-- -- first-byte limits ----------------------------------------------------------------------------

test("S2.7, S2.9, S2.13, S2.16: 15 seconds for the first event, 60 for the last route", function(t)
  for _, path in ipairs { CHAT, MESSAGES } do
    local gw = routes(t, 3)
    silent(gw, "abc")
    local reply = stream(t, gw, path)
    t.equal(reply.tried, "a,b,c,a") -- and the one more try
    t.equal(lasted(reply), { 15, 15, 60, 60 })
    t.equal(reply.attempts[1].class, "timeout_first_event")
  end
end)

test("S2.10, S2.15: 45 for a reasoning model's stream on chat alone", function(t)
  for path, seconds in pairs { [CHAT] = 45, [MESSAGES] = 15 } do
    local gw = routes(t, 2, { models = { m = { reasoning = true } } })
    silent(gw, "ab")
    t.equal(lasted(stream(t, gw, path)), { seconds, 60, 60 })
  end
  local gw = routes(t, 2, { models = { m = { reasoning = true } } })
  silent(gw, "ab")
  t.equal(lasted(gw:post(RESPONSES, { model = "m", input = "hello", stream = true })),
    { 15, 60, 60 })
end)

test("S2.11, G2.3: without a stream 15 s and 1 s for 20 tokens, at most 300 s", function(t)
  for tokens, expected in pairs { [10] = { 15.5, 60, 60.5 }, [100] = { 20, 60, 65 },
    [2000] = { 115, 115, 160 }, [90000] = { 300, 300, 300 } } do
    local gw = routes(t, 2)
    silent(gw, "ab")
    t.equal(lasted(ask(t, gw, { max_tokens = tokens })), expected)
  end
end)

test("G2.2: max_tokens absent: the model's own limit, else the cap", function(t)
  local gw = supply(t, { { "a", { models = { m = { max_output_tokens = 1000 } } } }, { "b" } })
  silent(gw, "ab")
  t.equal(lasted(gw:post(CHAT, { model = "m", messages = t.hello })), { 65, 300, 110 })
end)

test("S2.12, G2.4: 30 for a route that is slow but usually answers, or more where more is due",
  function(t)
  local gw = supply(t, { { "a", { slow = true } }, { "b" } })
  silent(gw, "ab")
  t.equal(lasted(stream(t, gw)), { 30, 60, 60 })
  gw = supply(t, { { "a", { slow = true, models = { m = { reasoning = true } } } }, { "b" } })
  silent(gw, "ab")
  t.equal(lasted(stream(t, gw)), { 45, 60, 60 })
  gw = supply(t, { { "a", { slow = true } }, { "b" } })
  silent(gw, "ab")
  t.equal(lasted(ask(t, gw)), { 20, 60, 65 })
end)

test("S2.14, G2.1, decision 8: a demoted last route leaves the 60 s to the one before it",
  function(t)
  local gw = routes(t, 3)
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 3 do stream(t, gw) end
  silent(gw, "abc")
  local reply = stream(t, gw)
  t.equal(reply.tried, "b,c,a,b")
  t.equal(lasted(reply), { 15, 60, 15, 60 })
end)

test("S2.17: after the first byte the limit stops", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { text = "one two three", pace_ms = 100000 }
  local reply = stream(t, gw)
  t.equal(reply.tried, "a")
  t.is_true(reply.complete)
  t.is_true(reply.duration_ms > 300000)
end)

-- -- one more try ---------------------------------------------------------------------------------

test("S2.18, S2.21: all failed, one only because of time: one more, once", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { { delay_ms = 20000 }, { delay_ms = 59000 } }
  gw.upstream["b"]:answers { status = 500 }
  local reply = stream(t, gw)
  t.equal(reply.tried, "a,b,a")
  t.equal(reply.status, 200)
  t.equal(reply.text, "Hello from a.")
  gw.upstream["a"]:answers { status = 500 }
  t.equal(#stream(t, gw).attempts, 2) -- nobody failed by time
end)

test("S2.19, S2.23: it has 60 seconds, then it is the 502", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { delay_ms = 61000 }
  gw.upstream["b"]:answers { status = 500 }
  local reply = stream(t, gw)
  t.equal(reply.tried, "a,b,a")
  t.equal(lasted(reply)[3], 60)
  t.equal(reply.status, 502)
end)

test("S2.20: the one that failed the fewest times in sequence, else the first", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { { status = 500 }, { hang = "head" } }
  gw.upstream["b"]:answers { {}, { hang = "head" }, {} }
  stream(t, gw)
  t.equal(stream(t, gw).tried, "a,b,b")
  gw = routes(t, 2)
  gw.upstream["a"]:answers { { hang = "head" }, {} }
  gw.upstream["b"]:answers { hang = "head" }
  t.equal(stream(t, gw).tried, "a,b,a")
end)

test("S2.22: none for a client that closed the connection", function(t)
  local gw = routes(t, 1)
  gw.upstream["a"]:answers { hang = "head" }
  local handle = gw:start(CHAT, body_of(t, { stream = true }))
  gw:advance(10)
  handle:hang_up()
  gw:advance(200)
  t.is_true(handle.over)
  t.equal(gw.upstream["a"].count, 1)
end)

-- -- order changes --------------------------------------------------------------------------------

test("S2.24: the record is kept for each route of each model", function(t)
  local gw = routes(t, 2, { models = { "m", "other" } })
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  t.equal(ask(t, gw).tried, "b")
  t.equal(ask(t, gw, { model = "other" }).tried, "a,b")
end)

test("S2.25, S2.28, S2.29: three in sequence, five minutes at the end, then one request tries it",
  function(t)
  local gw = routes(t, 3)
  gw.upstream["a"]:answers { { status = 500 }, { status = 500 }, { status = 500 }, {} }
  for _ = 1, 3 do t.equal(ask(t, gw).tried, "a,b") end
  t.equal(ask(t, gw).tried, "b")
  gw:advance(299)
  t.equal(ask(t, gw).tried, "b")
  gw:advance(1)
  t.equal(ask(t, gw).tried, "a")
  t.equal(ask(t, gw).tried, "a") -- S2.29
end)

test("S2.28: one request, the others keep the changed order meanwhile", function(t)
  local gw = routes(t, 2)
  all_answer(gw, "a", { status = 500 })
  for _ = 1, 3 do ask(t, gw) end
  gw:advance(300)
  gw.upstream["a"]:answers { { delay_ms = 1000 }, {} }
  local probe = gw:start(CHAT, body_of(t))
  t.equal(ask(t, gw).tried, "b")
  t.equal(probe:wait().connection, "a")
  t.equal(ask(t, gw).tried, "a")
end)

test("G2.5: a success in between starts the count anew", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { { status = 500 }, { status = 500 }, {}, { status = 500 },
    { status = 500 }, {} }
  for _ = 1, 5 do ask(t, gw) end
  t.equal(ask(t, gw).tried, "a")
end)

test("S2.26: a timeout is one failure, and the one more try adds none", function(t)
  local gw = routes(t, 1)
  gw.upstream["a"]:answers { hang = "head" }
  for _ = 1, 2 do t.equal(#stream(t, gw).attempts, 2) end
  gw = routes(t, 2)
  gw.upstream["a"]:answers { hang = "head" }
  gw.upstream["b"]:answers { status = 500 }
  for _ = 1, 2 do t.equal(stream(t, gw).tried, "a,b,a") end -- would be four of a's
  gw.upstream["a"]:answers {}
  t.equal(stream(t, gw).tried, "a") -- and is two
end)

test("S2.27: too much load moves it to the end after one failure", function(t)
  for status, text in pairs { [429] = "The model is overloaded", [503] = "We are at capacity" } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { status = status, error = { message = text } }
    t.equal(ask(t, gw).tried, "a,b")
    t.equal(ask(t, gw).tried, "b")
  end
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { status = 429, error = { message = "requests per minute" } }
  for _ = 1, 2 do t.equal(ask(t, gw).tried, "a,b") end
end)

test("S2.30: each failed try doubles the time, to thirty minutes", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  for _, minutes in ipairs { 5, 10, 20, 30, 30 } do
    gw:advance(minutes * 60 - 1)
    t.equal(ask(t, gw).tried, "b", minutes)
    gw:advance(1)
    t.equal(ask(t, gw).tried, "a,b", minutes)
  end
  gw.upstream["a"]:answers { {}, { status = 500 } }
  gw:advance(1800)
  for _ = 1, 4 do ask(t, gw) end
  gw:advance(300) -- G2.5: an answer takes the doubling back
  t.equal(ask(t, gw).tried, "a,b")
end)

test("S2.31, S2.33, G2.9: a route is never removed: those at the end are tried too", function(t)
  local gw = routes(t, 3)
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  all_answer(gw, "bc", { status = 500 })
  t.equal(ask(t, gw).tried, "b,c,a")
end)

test("S2.32: all at the end: the one that failed first is first", function(t)
  local gw = routes(t, 3)
  local overloaded = { status = 503, error = { message = "overloaded" } }
  gw.upstream["a"]:answers { {}, { status = 500 } }
  gw.upstream["b"]:answers(overloaded)
  gw.upstream["c"]:answers(overloaded)
  for _ = 1, 3 do
    ask(t, gw)
    gw:advance(1)
  end
  all_answer(gw, "abc", { status = 500 })
  ask(t, gw)
  gw:advance(1)
  local reply = ask(t, gw)
  t.equal(#reply.attempts, 3)
  t.equal(reply.tried, "b,c,a") -- a was demoted last
end)

test("S2.34: an error that comes from the request changes nothing", function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { status = 400, error = { message = "prompt is too long" } }
  for _ = 1, 4 do t.equal(ask(t, gw).tried, "a") end
end)

-- -- what the client is told ----------------------------------------------------------------------

test("S2.37, S2.39: no route can answer: 502, in exactly this form", function(t)
  for _, failure in ipairs { { status = 500 }, { status = 429 }, { hang = "head" } } do
    local gw = routes(t, 2)
    all_answer(gw, "ab", failure)
    local reply = ask(t, gw)
    t.equal(reply.status, 502)
    t.equal(reply.body, '{"error":{"message":"Model m is not available right now. '
      .. 'Nothing was charged. Retry in a moment.","type":"api_error","param":null,'
      .. '"code":"PROVIDER_ERROR"}}')
    t.equal(reply.header["retry-after"], nil) -- C-26
  end
  local gw = routes(t, 1)
  gw.upstream["a"]:answers { status = 500 }
  local reply = ask(t, gw, nil, MESSAGES)
  t.equal(reply.status, 502)
  t.equal(reply.json.error.type, "api_error")
end)

test("S2.38, S2.39: a model without a route: 503 SUPPLY_NOT_CONFIGURED", function(t)
  local reply = ask(t, routes(t, 1), { model = "nobody" })
  t.equal(reply.status, 503)
  t.equal(reply.json.error.code, "SUPPLY_NOT_CONFIGURED")
end)

test("S2.57: every request has an id, a failed one too", function(t)
  local gw = routes(t, 1)
  t.is_true(ask(t, gw).header["x-request-id"])
  t.is_true(ask(t, gw, { model = "nobody" }).header["x-request-id"])
end)

-- -- a stream that stops --------------------------------------------------------------------------

test("S2.40, S2.41, G2.8: chat, an error event: the last frame says so, no usage, no [DONE]",
  function(t)
  local gw = routes(t, 2)
  gw.upstream["a"]:answers { text = "one two three", error_event = 3 }
  local reply = ask(t, gw, { stream = true, stream_options = { include_usage = true } })
  t.equal(reply.tried, "a")
  local last = reply.events[#reply.events].data
  t.equal(last.choices[1].finish_reason, "error")
  for _, event in ipairs(reply.events) do
    t.is_true(event.data.usage == nil or event.data.usage == t.null)
  end
  t.no_match(reply.body, "[DONE]")
end)

test("S2.42: chat, the connection closes: the stream stops without [DONE]", function(t)
  for _, way in ipairs { "reset", "close" } do
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { text = "one two three", [way] = 3 }
    local reply = stream(t, gw)
    t.equal(reply.tried, "a")
    t.match(reply.text, "one")
    t.no_match(reply.body, "[DONE]")
    t.no_match(reply.body, "finish_reason\":\"error")
    t.is_false(reply.complete)
  end
end)

test("S2.43: messages and responses: the model's own error event, or a closed connection",
  function(t)
  for _, path in ipairs { MESSAGES, RESPONSES } do
    local body = path == RESPONSES and { model = "m", input = "hello", stream = true }
      or body_of(t, { stream = true })
    local gw = routes(t, 2)
    gw.upstream["a"]:answers { text = "one two three", error_event = 6,
      error = { message = "their own words" } }
    local reply = gw:post(path, body)
    t.equal(reply.tried, "a")
    t.match(reply.body, "their own words")
    gw = routes(t, 2)
    gw.upstream["a"]:answers { text = "one two three", reset = 6 }
    reply = gw:post(path, body)
    t.is_false(reply.complete)
    for _, name in ipairs { "event: error", "response.failed" } do t.no_match(reply.body, name) end
  end
end)

-- -- a client that closes -------------------------------------------------------------------------

test("S2.45: the model is heard out for fifteen seconds", function(t)
  local function after_hanging_up(pace_ms)
    local gw = routes(t, 1)
    gw.upstream["a"]:answers { text = "one two three four", pace_ms = pace_ms }
    local handle = gw:start(CHAT, body_of(t, { stream = true }))
    gw:advance(pace_ms / 1000 + 0.1)
    handle:hang_up()
    local left = gw.now_ms
    t.is_false(handle.over)
    while not handle.over do gw:advance(0.1) end
    return (gw.now_ms - left) / 1000
  end
  t.is_true(after_hanging_up(1000) < 10) -- it completed in that time
  local waited = after_hanging_up(10000)
  t.is_true(waited > 14.9 and waited < 15.2) -- it did not, and was stopped
end)
