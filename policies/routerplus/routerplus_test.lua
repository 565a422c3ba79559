-- routerplus_test.lua - each line of CONFORMANCE S0 that is tagged C, P or H and does not wait for
-- the ledger or the admin surface (README.md lists those that do).
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.routerplus"

local CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
local MODEL = "claude-haiku-4-5"

--- Deployments from rows { id, more fields }.
local function gateway(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1])(t.with({ models = { MODEL }, priority = i }, row[2]))
  end
  local gw = t.gateway { policy = policy or base, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function pair_of(t)
  return gateway(t, { { "anthropic" }, { "openrouter" } })
end

local function body_of(t, fields)
  return t.with({ model = MODEL, max_tokens = 10, messages = t.hello }, fields)
end

local function ask(t, gw, fields, path)
  return gw:post(path or CHAT, body_of(t, fields))
end

--- Two counted failures: the circuit of `id` is open.
local function open(t, gw, id)
  gw.upstream[id]:answers { status = 500 }
  for _ = 1, 2 do ask(t, gw) end
  gw.upstream[id]:answers {}
end

-- -- selection ------------------------------------------------------------------------------------

test("S0.1, S0.30, S0.31: an unknown model is a 404 that names it, in exactly this form",
  function(t)
  local gw = pair_of(t)
  local reply = ask(t, gw, { model = "claude-haiku-9" })
  t.equal(reply.status, 404)
  t.equal(reply.json, {
    error = { code = "model_unavailable", type = "invalid_request_error",
      message = 'model "claude-haiku-9" is not in the catalog; '
        .. "GET /v1/models lists what this key can serve",
      metadata = { error_type = "model_unavailable" } },
    request_id = reply.request_id,
  })
  t.equal(gw.upstream["anthropic"].count, 0)
end)

test("S0.7: the id is matched exactly, without aliases", function(t)
  local gw = pair_of(t)
  for _, id in ipairs { "Claude-haiku-4-5", "claude-haiku-4.5", "claude-haiku-4-5-latest",
    "anthropic/claude-haiku-4-5", "claude-haiku" } do
    t.equal(ask(t, gw, { model = id }).status, 404, id)
  end
end)

test("S0.8, G0.9: a dated snapshot routes as its family, and goes to the provider verbatim",
  function(t)
  local gw = pair_of(t)
  local reply = ask(t, gw, { model = MODEL .. "-20251001" })
  t.equal(reply.connection, "anthropic")
  t.equal(gw.upstream["anthropic"].requests[1].model, MODEL .. "-20251001")
  t.equal(reply.header["x-tm-upstream-model"], nil)
end)

test("S0.4, S0.5, S0.10, S0.11: ascending priority, ties in catalogue order", function(t)
  local gw = gateway(t, { { "c", { priority = 2 } }, { "b", { priority = 2 } },
    { "a", { priority = 1 } }, { "z", { priority = -1, models = { "another" } } } })
  for _, id in ipairs { "a", "c" } do gw.upstream[id]:answers { status = 500 } end
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,c,b")
  t.equal(reply.connection, "b")
end)

test("S0.12: the next one is asked with no backoff", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { status = 429, headers = { ["retry-after"] = "30" } }
  local reply = ask(t, gw)
  t.equal(reply.attempts[2].at_ms, reply.attempts[1].ended_ms)
  t.equal(reply.duration_ms, 0) -- G0.5: honoured by the pool and the header, not by waiting
end)

test("S0.6: routing asks nobody", function(t)
  local gw = pair_of(t)
  ask(t, gw, { model = "nobody" })
  ask(t, gw, { n = 2 })
  t.equal(gw.upstream["anthropic"].count + gw.upstream["openrouter"].count, 0)
end)

test("S0.32: n above 1 is a typed 400", function(t)
  local reply = ask(t, pair_of(t), { n = 2 })
  t.equal(reply.status, 400)
  t.equal(reply.json.error.type, "invalid_request_error")
  t.equal(reply.json.error.metadata.error_type, reply.json.error.code)
  t.equal(#reply.attempts, 0)
end)

-- -- the commit boundary --------------------------------------------------------------------------

test("S0.2, S0.20, S0.22: what fails before its first frame is skipped unseen", function(t)
  for _, failure in ipairs { { reset = "connect" }, { reset = "head" }, { status = 503 },
    { close = "head" }, { close = "body" }, { error_event = 0 } } do
    for _, path in ipairs { CHAT, MESSAGES } do
      local gw = pair_of(t)
      gw.upstream["anthropic"]:answers(failure)
      local reply = ask(t, gw, { stream = true }, path)
      t.equal(reply.tried, "anthropic,openrouter")
      t.equal(reply.text, "Hello from openrouter.")
      t.equal(reply.status, 200)
      t.is_true(reply.complete)
    end
  end
end)

test("S0.22: the head has 20 seconds", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { hang = "head" }
  local reply = ask(t, gw)
  t.equal(reply.attempts[1].ended_ms, 20000)
  t.equal(reply.attempts[1].class, "timeout_headers")
  t.equal(reply.connection, "openrouter")
end)

test("S0.19, S0.21, S0.23, G0.8: nothing is written before text, reasoning, a tool call, a refusal",
  function(t)
  for _, output in ipairs { { text = "late" }, { reasoning = "hm", text = "late" },
    { text = "", tool = { name = "f", arguments = "{}" } } } do
    local gw = pair_of(t)
    output.first_output_delay_ms = 5000
    gw.upstream["anthropic"]:answers(output)
    local handle = gw:start(MESSAGES, body_of(t, { stream = true }))
    gw:advance(4.9) -- message_start, with a usage report, has come
    t.equal(handle.reply.status, nil)
    gw:advance(0.2)
    t.equal(handle.reply.status, 200)
    handle:wait()
  end
end)

test("S0.19, G0.8: a stream that dies after its usage report and before output is taken over",
  function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { text = "one", reset = 1 } -- behind message_start
  local reply = ask(t, gw, { stream = true }, MESSAGES)
  t.equal(reply.tried, "anthropic,openrouter")
  t.no_match(reply.body, "one")
end)

--- How many of the events tell an error, in any dialect.
local function error_count(reply)
  local count = 0
  for _, event in ipairs(reply.events) do
    local failed = event.name == "error" or event.name == "response.failed"
    if failed or type(event.data) == "table" and event.data.error then count = count + 1 end
  end
  return count
end

test("S0.24, S0.25, S0.26: once committed nothing moves: the tokens, and one terminal error event",
  function(t)
  for _, reply in ipairs { { text = "one two three four", reset = 5 },
    { text = "one two three four", error_event = 5 } } do
    for path, body in pairs { [CHAT] = body_of(t, { stream = true }),
      [MESSAGES] = body_of(t, { stream = true }),
      ["/v1/responses"] = { model = MODEL, input = "hello", stream = true } } do
      local gw = pair_of(t)
      gw.upstream["anthropic"]:answers(reply)
      local answer = gw:post(path, body)
      t.equal(answer.status, 200)
      t.equal(answer.tried, "anthropic")
      t.match(answer.text, "one")
      t.equal(error_count(answer), 1, path)
      t.equal(gw.upstream["openrouter"].count, 0)
    end
  end
end)

test("S0.76: the canonical class is in the stream's error event too", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { text = "one two three", reset = 4 }
  local events = ask(t, gw, { stream = true }).events
  t.equal(events[#events].data.error.metadata.error_type, "upstream_error")
  gw = pair_of(t)
  gw.upstream["anthropic"]:answers { text = "one two three", reset = 4 }
  events = ask(t, gw, { stream = true }, MESSAGES).events
  t.equal(events[#events].data.error.error_type, "upstream_error")
end)

-- -- what never fails over ------------------------------------------------------------------------

test("S0.3, S0.34, S0.35, S0.42: a refusal goes before every status, and never moves", function(t)
  for _, status in ipairs { 400, 403, 429, 451, 500, 503 } do
    for _, path in ipairs { CHAT, MESSAGES } do
      local gw = pair_of(t)
      gw.upstream["anthropic"]:answers { status = status,
        error = { message = "bad words", code = "content_policy_violation" } }
      local reply = ask(t, gw, nil, path)
      t.equal(reply.tried, "anthropic")
      t.equal(reply.error_code, "content_policy")
      t.equal(reply.status, 400)
      t.no_match(reply.body, "bad words") -- S0.36, S0.77
    end
  end
end)

test("S0.33, S0.34: as the first event of a stream likewise", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { error_event = 0,
    error = { message = "no", code = "content_policy_violation" } }
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "anthropic")
  t.equal(reply.error_code, "content_policy")
end)

test("S0.3: a refusal in a 200 is the answer", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { refusal = true }
  t.equal(ask(t, gw, nil, MESSAGES).tried, "anthropic")
  t.equal(ask(t, gw, { stream = true }, MESSAGES).tried, "anthropic")
  t.equal(gw.upstream["openrouter"].count, 0)
end)

test("S0.37-S0.45: the class table: name, retryable, and whether it moves", function(t)
  for _, case in ipairs {
    { { status = 429 }, "rate_limit", "true", true }, -- S0.39
    { { status = 401 }, "auth", "false", true }, -- S0.40
    { { status = 402 }, "auth", "false", true },
    { { status = 403 }, "auth", "false", true },
    { { status = 400, error = { code = "api_key_invalid" } }, "auth", "false", true }, -- Gemini
    { { status = 400, error = { message = "credit balance is too low" } }, "auth", "false", true },
    { { status = 400, error = { message = "prompt is too long" } }, "context_overflow", "false" },
    { { status = 400, error = { code = "content_filter" } }, "content_policy", "false" },
    { { status = 404 }, "model_unavailable", "false", true }, -- S0.43
    { { status = 400, error = { code = "model_not_found" } }, "model_unavailable", "false", true },
    { { status = 500 }, "upstream_error", "true", true }, -- S0.44
    { { status = 529 }, "upstream_error", "true", true },
    { { status = 400, error = { message = "overloaded" } }, "upstream_error", "true", true },
    { { reset = "head" }, "upstream_error", "true", true },
    { { status = 400 }, "upstream_error", "false" }, -- S0.45
    { { status = 408 }, "upstream_error", "false" },
    { { status = 409 }, "upstream_error", "false" },
    { { status = 413, error = { code = "other" } }, "upstream_error", "false" },
    { { status = 422 }, "upstream_error", "false" },
  } do
    local gw = pair_of(t)
    gw.upstream["anthropic"]:answers(case[1])
    gw.upstream["openrouter"]:answers(case[1])
    local reply = ask(t, gw)
    local name = case[2] .. " of " .. (case[1].status or "a torn connection")
    t.equal(reply.error_code, case[2], name)
    t.equal(reply.header["x-should-retry"], case[3], name)
    t.equal(#reply.attempts, case[4] and 2 or 1, name)
  end
end)

test("S0.46, S0.47: an auth error drains the provider, and is told only when all failed",
  function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { status = 402 }
  for _ = 1, 2 do t.equal(ask(t, gw).status, 200) end
  t.equal(ask(t, gw).tried, "openrouter") -- its circuit is open
  gw.upstream["openrouter"]:answers { status = 401 }
  local reply = ask(t, gw)
  t.equal(reply.error_code, "auth")
end)

test("G0.1: of a mixed failure the last class is told, retry-after only for a rate limit",
  function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { status = 429, headers = { ["retry-after"] = "7" } }
  gw.upstream["openrouter"]:answers { status = 500 }
  local reply = ask(t, gw)
  t.equal(reply.error_code, "upstream_error")
  t.equal(reply.header["retry-after"], nil)
end)

-- -- circuits -------------------------------------------------------------------------------------

test("S0.9, S0.48, S0.49: two failures open a deployment's own circuit for thirty seconds",
  function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { status = 500 }
  t.equal(ask(t, gw).tried, "anthropic,openrouter")
  t.equal(ask(t, gw).tried, "anthropic,openrouter")
  local reply = ask(t, gw)
  t.equal(reply.tried, "openrouter")
  t.match(reply.why["anthropic"], "circuit")
  gw:advance(29)
  t.equal(ask(t, gw).tried, "openrouter")
  gw.upstream["anthropic"]:answers {}
  gw:advance(1)
  t.equal(ask(t, gw).tried, "anthropic")
end)

test("S0.49: a success between two failures starts the count anew; a buyer's fault does not (G0.3)",
  function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { { status = 500 }, {}, { status = 500 }, { status = 400 },
    { status = 500 }, {} }
  for _ = 1, 5 do ask(t, gw) end
  t.equal(ask(t, gw).tried, "openrouter") -- 500, 400, 500: two in sequence
end)

test("S0.50, S0.60, G0.4: one live request is the probe, everyone else keeps skipping", function(t)
  local gw = gateway(t, { { "anthropic" } })
  open(t, gw, "anthropic")
  gw:advance(30)
  gw.upstream["anthropic"]:answers { { delay_ms = 1000 }, {} }
  local probe = gw:start(CHAT, body_of(t))
  t.equal(ask(t, gw).error_code, "gateway_error")
  t.equal(probe:wait().status, 200)
  t.equal(ask(t, gw).status, 200) -- S0.51: it closed
end)

test("S0.51: a failed probe opens for another thirty seconds", function(t)
  local gw = gateway(t, { { "anthropic" } })
  open(t, gw, "anthropic")
  gw:advance(30)
  gw.upstream["anthropic"]:answers { status = 500 }
  t.equal(#ask(t, gw).attempts, 1)
  gw:advance(29)
  t.equal(#ask(t, gw).attempts, 0)
  gw:advance(1)
  t.equal(#ask(t, gw).attempts, 1)
end)

test("S0.52, G0.2: a buyer's fault never charges, and as a probe it closes", function(t)
  for _, failure in ipairs { { status = 400 }, { status = 413 },
    { status = 400, error = { code = "content_filter" } },
    { status = 400, error = { message = "prompt is too long" } } } do
    local gw = gateway(t, { { "anthropic" } })
    gw.upstream["anthropic"]:answers(failure)
    for _ = 1, 3 do t.equal(#ask(t, gw).attempts, 1) end
    open(t, gw, "anthropic")
    gw:advance(30)
    gw.upstream["anthropic"]:answers(failure)
    for _ = 1, 2 do t.equal(#ask(t, gw).attempts, 1) end
  end
end)

test("S0.53: a 429 charges the circuit", function(t)
  local gw = pair_of(t)
  gw.upstream["anthropic"]:answers { status = 429, headers = { ["retry-after"] = "1" } }
  ask(t, gw)
  gw:advance(1)
  ask(t, gw)
  gw:advance(1) -- the pool is warm again, the circuit is open
  t.equal(ask(t, gw).tried, "openrouter")
end)

test("S0.54: a 429 cools the pool for its retry-after, one to sixty seconds", function(t)
  for told, seconds in pairs { ["7"] = 7, ["0"] = 1, ["600"] = 60 } do
    local gw = pair_of(t)
    gw.upstream["anthropic"]:answers { { status = 429, headers = { ["retry-after"] = told } }, {} }
    ask(t, gw)
    gw:advance(seconds - 0.1)
    t.equal(ask(t, gw).tried, "openrouter", told)
    gw:advance(0.1)
    t.equal(ask(t, gw).tried, "anthropic", told)
  end
end)

test("S0.55: a client that cancels counts in the provider's favour", function(t)
  local gw = gateway(t, { { "anthropic" } })
  gw.upstream["anthropic"]:answers { { status = 500 }, { hang = "head" }, { status = 500 }, {} }
  ask(t, gw)
  gw:start(CHAT, body_of(t)):hang_up()
  ask(t, gw)
  t.equal(ask(t, gw).status, 200) -- never two in sequence
end)

-- -- everything cooling down ----------------------------------------------------------------------

test("S0.58, S0.59, S0.75: everything open is refused at once, in this form", function(t)
  local gw = pair_of(t)
  open(t, gw, "anthropic")
  open(t, gw, "openrouter")
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.header["retry-after"], "5")
  t.equal(reply.header["x-tm-error-code"], "gateway_error")
  t.equal(reply.header["x-tm-limit-kind"], "health")
  t.equal(reply.json.error.message, "all deployments cooling down")
  t.equal(reply.json.error.metadata.error_type, "gateway_error")
  t.equal(reply.duration_ms, 0)
  t.equal(#reply.attempts, 0)
end)

-- -- headers and bodies ---------------------------------------------------------------------------

test("S0.29, S0.61-S0.66, S0.68: the headers of an answer", function(t)
  local gw = gateway(t, { { "anthropic" },
    { "openrouter", { models = { [MODEL] = { send_id = "anthropic/claude-haiku-4.5" } } } } })
  local header = ask(t, gw).header
  t.equal(header["x-tm-provider"], "anthropic")
  t.equal(header["x-tm-upstream-model"], nil) -- S0.64: only when it differs
  t.equal(header["x-tm-attempts"], "1")
  t.equal(header["x-tm-upstream-status"], "200")
  t.equal(header["x-tm-error-code"], nil)
  t.is_true(header["x-request-id"])
  t.is_true(header["x-tm-route-plan-id"])
  gw.upstream["anthropic"]:answers { reset = "connect" }
  header = ask(t, gw, { stream = true }).header
  t.equal(header["x-tm-provider"], "openrouter")
  t.equal(header["x-tm-upstream-model"], "anthropic/claude-haiku-4.5")
  t.equal(header["x-tm-attempts"], "2")
end)

test("S0.63: who ran the model behind an aggregator; absent elsewhere and on a closed endpoint",
  function(t)
  local whole = '{"id":"1","object":"chat.completion","created":1,"model":"m","provider":"Google",'
    .. '"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},'
    .. '"finish_reason":"stop"}]}'
  local chunks = 'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",'
    .. '"provider":"Google","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},'
    .. '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  for _, case in ipairs { { true, "Google" }, { false, nil } } do
    local gw = gateway(t, { { "openrouter", { aggregator = case[1] } } })
    gw.upstream["openrouter"]:answers { { body = whole },
      { body = chunks, content_type = "text/event-stream" } }
    t.equal(ask(t, gw).header["x-tm-served-by"], case[2])
    t.equal(ask(t, gw, { stream = true }).header["x-tm-served-by"], case[2])
  end
  local gw = gateway(t, { { "openrouter", { aggregator = true } } },
    base:with { endpoints = { ["a/b"] = { model = MODEL, closed = true } } })
  gw.upstream["openrouter"]:answers { body = whole }
  t.equal(ask(t, gw, { model = "a/b" }).header["x-tm-served-by"], nil)
end)

test("S0.67: what was stripped from the request is named", function(t)
  local gw = gateway(t, { { "anthropic", { betas = { "a-2025-01-01" } } } })
  local reply = gw:post(MESSAGES, body_of(t),
    { ["anthropic-beta"] = "a-2025-01-01,b-2025-02-02" })
  t.match(reply.header["x-tm-dropped-params"], "b-2025-02-02")
  t.equal(ask(t, gw).header["x-tm-dropped-params"], nil)
end)

test("S0.65, S0.66, S0.72, S0.73: the headers of a failure tell what, whose, and how often",
  function(t)
  local gw = pair_of(t)
  for _, case in ipairs {
    { { status = 503 }, "upstream_error", "upstream", "503" },
    { { status = 429 }, "rate_limit", "upstream_quota", "429" },
    { { reset = "head" }, "upstream_error", "upstream", nil },
  } do
    gw = pair_of(t)
    gw.upstream["anthropic"]:answers(case[1])
    gw.upstream["openrouter"]:answers(case[1])
    local header = ask(t, gw).header
    t.equal(header["x-tm-error-code"], case[2])
    t.equal(header["x-tm-error-origin"], case[3])
    t.equal(header["x-tm-upstream-status"], case[4])
    t.equal(header["x-tm-attempts"], "2")
  end
  t.equal(ask(t, gw, { model = "nobody" }).header["x-tm-error-origin"], "gateway_admission")
end)

test("S0.39, S0.74: retry-after of a rate limit, at most sixty seconds", function(t)
  for told, passed in pairs { ["7"] = "7", ["600"] = "60" } do
    local gw = gateway(t, { { "anthropic" } })
    gw.upstream["anthropic"]:answers { status = 429, headers = { ["retry-after"] = told } }
    t.equal(ask(t, gw).header["retry-after"], passed)
  end
end)

test("S0.76: the canonical class beside each dialect's native type", function(t)
  for _, case in ipairs { { 429, "rate_limit_error", "rate_limit_error", "rate_limit" },
    { 500, "server_error", "api_error", "upstream_error" },
    { 404, "invalid_request_error", "not_found_error", "model_unavailable" } } do
    local gw = gateway(t, { { "anthropic" } })
    gw.upstream["anthropic"]:answers { status = case[1] }
    local reply = ask(t, gw)
    t.equal(reply.json.error.type, case[2])
    t.equal(reply.json.error.metadata, { error_type = case[4] })
    gw = gateway(t, { { "anthropic" } })
    gw.upstream["anthropic"]:answers { status = case[1] }
    reply = ask(t, gw, nil, MESSAGES)
    t.equal(reply.json.type, "error")
    t.equal(reply.json.error.type, case[3])
    t.equal(reply.json.error.error_type, case[4])
    t.equal(reply.json.error.code, nil)
  end
end)

test("S0.36, S0.77: a provider's words are never relayed", function(t)
  for _, status in ipairs { 400, 401, 404, 429, 500 } do
    local gw = gateway(t, { { "anthropic" } })
    gw.upstream["anthropic"]:answers { status = status, error = { message = "their own words" } }
    for _, path in ipairs { CHAT, MESSAGES } do
      t.no_match(ask(t, gw, nil, path).body, "their own words")
    end
  end
end)
