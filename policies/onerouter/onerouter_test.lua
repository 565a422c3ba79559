-- onerouter_test.lua - each line of CONFORMANCE S3 that is tagged C, P or H and does not wait for
-- the ledger or the admin surface (README.md lists those that do).
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.onerouter"

local CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"

--- Hosts of the model "m" from rows { id, more fields }.
local function hosts(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1])(t.with({ models = { "m" } }, row[2]))
  end
  local gw = t.gateway { policy = policy or base, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function three(t)
  return hosts(t, { { "together" }, { "groq" }, { "spare", { models = { "other" } } } })
end

local function body_of(t, fields)
  return t.with({ model = "m", messages = t.hello, max_tokens = 100 }, fields)
end

local function ask(t, gw, fields, path)
  return gw:post(path or CHAT, body_of(t, fields))
end

local function only(...)
  return { provider = { only = { ... } } }
end

local function all_answer(gw, ids, reply)
  for id in ids:gmatch("%S+") do gw.upstream[id]:answers(reply) end
end

-- -- which host -----------------------------------------------------------------------------------

test("S3.1: hosts of the same model, never another model", function(t)
  local gw = three(t)
  all_answer(gw, "together groq", { status = 500 })
  t.equal(ask(t, gw).tried, "together,groq")
  t.equal(gw.upstream["spare"].count, 0)
  t.equal(ask(t, gw, { model = "nobody" }).error_code, "unknown_model")
end)

test("S3.2, S3.3, S3.8: a host that degrades is left for the next healthy one, which is named",
  function(t)
  for _, failure in ipairs { { status = 500 }, { status = 503 }, { status = 429 },
    { reset = "connect" }, { reset = "head" }, { close = "body" }, { error_event = 0 } } do
    local gw = three(t)
    gw.upstream["together"]:answers(failure)
    local reply = ask(t, gw, { stream = true })
    t.equal(reply.tried, "together,groq")
    t.equal(reply.header["x-onerouter-provider"], "groq")
    t.equal(reply.text, "Hello from groq.")
  end
end)

test("S3.4: onerouter/auto becomes one named model before anything else; then hosts may change",
  function(t)
  local policy = base:with { aliases = { ["onerouter/auto"] = "m" } }
  local gw = hosts(t, { { "together" }, { "groq" }, { "spare", { models = { "other" } } } }, policy)
  gw.upstream["together"]:answers { status = 500 }
  local reply = ask(t, gw, { model = "onerouter/auto" })
  t.equal(reply.tried, "together,groq")
  t.equal(reply.header["x-onerouter-model"], "m")
  t.equal(gw.upstream["groq"].requests[1].model, "m")
  t.equal(gw.upstream["spare"].count, 0)
  t.equal(ask(t, three(t), { model = "onerouter/auto" }).status, 404) -- without an alias
end)

test("S3.10: the host with the best time to first token is first", function(t)
  local gw = three(t)
  gw.upstream["together"]:answers { first_output_delay_ms = 3000 }
  gw.upstream["groq"]:answers { first_output_delay_ms = 200 }
  -- D4: those of unknown time are first, in catalogue order, so each is known after one answer.
  for _, id in ipairs { "together", "groq", "groq" } do
    t.equal(ask(t, gw, { stream = true }).connection, id)
  end
end)

-- -- the first byte -------------------------------------------------------------------------------

test("S3.5, S3.7: no token in thirty seconds: aborted, and the next host", function(t)
  for _, reply in ipairs { { hang = "head" }, { first_output_delay_ms = 40000 } } do
    local gw = three(t)
    gw.upstream["together"]:answers(reply)
    local answer = ask(t, gw, { stream = true }, MESSAGES)
    t.equal(answer.tried, "together,groq")
    t.equal(answer.attempts[1].ended_ms, 30000)
    t.equal(answer.text, "Hello from groq.")
  end
end)

test("S3.5: nothing is written before the first content byte", function(t)
  local gw = three(t)
  gw.upstream["together"]:answers { text = "late", first_output_delay_ms = 5000 }
  local handle = gw:start(MESSAGES, body_of(t, { stream = true }))
  gw:advance(4.9)
  t.equal(handle.reply.status, nil)
  t.equal(handle:wait().text, "late")
end)

test("S3.6, S3.7, S3.9: after it the timer is off, the route is committed, nothing is spliced",
  function(t)
  local gw = three(t)
  gw.upstream["together"]:answers { text = "one two three four", pace_ms = 12000 }
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "together")
  t.is_true(reply.complete and reply.duration_ms > 60000)
  gw = three(t)
  gw.upstream["together"]:answers { text = "one two three", reset = 3 }
  reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "together")
  t.no_match(reply.body, "groq")
end)

test("S3.9: before it the full list of hosts is there", function(t)
  local rows = {}
  for i = 1, 6 do rows[i] = { "h" .. i } end
  local gw = hosts(t, rows)
  for i = 1, 5 do gw.upstream["h" .. i]:answers { status = 500 } end
  t.equal(ask(t, gw).connection, "h6")
end)

test("S3.8, S3.20: a failure after streaming began is upstream_error, and then [DONE]", function(t)
  for _, reply in ipairs { { text = "one two three", reset = 3 },
    { text = "one two three", error_event = 3 } } do
    local gw = three(t)
    gw.upstream["together"]:answers(reply)
    local answer = ask(t, gw, { stream = true })
    t.equal(answer.status, 200)
    t.match(answer.text, "one")
    t.equal(answer.events[#answer.events - 1].data.error.code, "upstream_error")
    t.equal(answer.events[#answer.events].text or answer.events[#answer.events].data, "[DONE]")
  end
  local gw = three(t)
  gw.upstream["together"]:answers { text = "one two three", reset = 5 }
  local answer = ask(t, gw, { stream = true }, MESSAGES)
  t.equal(answer.events[#answer.events].name, "error")
end)

-- -- pins -----------------------------------------------------------------------------------------

test("S3.14: a pin stays on its host, and is not sent on", function(t)
  local gw = three(t)
  local reply = ask(t, gw, only("groq"))
  t.equal(reply.tried, "groq")
  t.equal(gw.upstream["groq"].requests[1].body.provider, nil)
  t.equal(gw.upstream["groq"].requests[1].body.model, "m")
end)

test("S3.15: or it is refused with 503, whatever befell the host: never quietly moved", function(t)
  for _, failure in ipairs { { status = 500 }, { hang = "head" }, { reset = "connect" } } do
    local gw = three(t)
    gw.upstream["together"]:answers(failure)
    local reply = ask(t, gw, only("together"))
    t.equal(reply.tried, "together")
    t.equal(reply.status, 503)
    t.equal(reply.error_code, "model_unavailable")
    t.match(reply.json.error.message, "together")
    t.equal(gw.upstream["groq"].count, 0)
  end
  for _, pin in ipairs { "nobody", "spare" } do -- unknown; without the model
    local reply = ask(t, three(t), only(pin))
    t.equal(reply.status, 503)
    t.equal(reply.error_code, "model_unavailable")
    t.equal(#reply.attempts, 0)
  end
end)

test("S3.15: nor moved because the host is cooling down", function(t)
  local gw = three(t)
  gw.upstream["together"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw, only("together")) end
  local reply = ask(t, gw, only("together"))
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "model_unavailable")
  t.equal(#reply.attempts, 0)
end)

test("G3.4: several hosts: within the list, never outside", function(t)
  local gw = hosts(t, { { "a" }, { "b" }, { "c" } })
  gw.upstream["b"]:answers { status = 500 }
  t.equal(ask(t, gw, only("b", "c")).tried, "b,c")
  gw.upstream["c"]:answers { status = 500 }
  local reply = ask(t, gw, only("b", "c"))
  t.equal(gw.upstream["a"].count, 0)
  t.equal(reply.error_code, "model_unavailable")
end)

-- -- receipts and errors --------------------------------------------------------------------------

test("S3.16: every answer has a receipt, a refusal too; no two are the same", function(t)
  local gw = three(t)
  local seen = {}
  for _, fields in ipairs { {}, {}, { stream = true }, { model = "nobody" }, only("nobody") } do
    local receipt = ask(t, gw, fields).header["x-onerouter-receipt"]
    t.is_true(receipt)
    t.equal(seen[receipt], nil)
    seen[receipt] = true
  end
end)

test("S3.19, G3.2: request_timeout only when every host timed out", function(t)
  local gw = three(t)
  all_answer(gw, "together groq", { hang = "head" })
  local reply = ask(t, gw)
  t.equal(reply.status, 504)
  t.equal(reply.error_code, "request_timeout")
  t.equal(reply.duration_ms, 60000) -- G3.3: each host has thirty seconds
  gw = three(t)
  gw.upstream["together"]:answers { hang = "head" }
  gw.upstream["groq"]:answers { status = 500 }
  t.equal(ask(t, gw).error_code, "model_unavailable")
end)

test("S3.21: every host failed: 503, and live alternatives are named", function(t)
  local gw = hosts(t, { { "together" }, { "groq", { models = { "m", "sick" } } },
    { "spare", { models = { "other", "third" } } } })
  gw.upstream["groq"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw, { model = "sick" }) end -- nobody serves that one now
  gw.upstream["together"]:answers { status = 500 }
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "model_unavailable")
  t.match(reply.json.error.message, "Live alternatives: other, third.")
end)

test("S3.21: the same where all are cooling down; none is said as well", function(t)
  local gw = hosts(t, { { "together" } })
  gw.upstream["together"]:answers { status = 500 }
  for _ = 1, 3 do ask(t, gw) end
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "model_unavailable")
  t.match(reply.json.error.message, "none at this time")
end)

test("G3.5: the request's own fault is returned at once with its message", function(t)
  for _, case in ipairs {
    { { status = 400, error = { message = "bad tool" } }, "invalid_request" },
    { { status = 400, error = { message = "prompt is too long" } }, "context_too_long" },
  } do
    local gw = three(t)
    gw.upstream["together"]:answers(case[1])
    local reply = ask(t, gw)
    t.equal(reply.tried, "together")
    t.equal(reply.status, 400)
    t.equal(reply.error_code, case[2])
  end
end)

test("G3.6: three failures in sequence: thirty seconds aside, then one request", function(t)
  local gw = three(t)
  gw.upstream["together"]:answers { { status = 500 }, { status = 500 }, { status = 500 }, {} }
  for _ = 1, 3 do t.equal(ask(t, gw).tried, "together,groq") end
  t.equal(ask(t, gw).tried, "groq")
  gw:advance(30)
  t.equal(ask(t, gw).tried, "together")
end)
