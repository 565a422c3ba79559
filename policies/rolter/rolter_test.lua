-- rolter_test.lua - each line of CONFORMANCE S1 that is tagged C, P or H and does not wait for the
-- ledger or the admin surface (README.md lists those that do).
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.rolter"

local CHAT = "/v1/chat/completions"

--- Targets of one route, in declared order, from rows { id, takes_over, more fields }.
local function route(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    local fields = t.with({ models = { "m" }, takes_over = row[2] }, row[3])
    connections[i] = acog.connection(row[1])(fields)
  end
  local gw = t.gateway { policy = policy or base, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function ask(t, gw, fields)
  return gw:post(CHAT, t.with({ model = "m", messages = t.hello }, fields))
end

local function refusal(code)
  return { status = 400, error = { message = "no", code = code or "content_policy_violation" } }
end

-- -- who is dialled -------------------------------------------------------------------------------

test("S1.1: the strategy spreads over all, and a retry goes to the next untried one", function(t)
  local gw = route(t, { { "a" }, { "b" }, { "c" } })
  for _ = 1, 60 do ask(t, gw) end
  for _, id in ipairs { "a", "b", "c" } do t.is_true(gw.upstream[id].count > 5, id) end
  for _, id in ipairs { "a", "b", "c" } do gw.upstream[id]:answers { status = 500 } end
  local reply = ask(t, gw)
  local seen = {}
  for _, attempt in ipairs(reply.attempts) do
    t.equal(seen[attempt.connection], nil)
    seen[attempt.connection] = true
  end
  t.equal(#reply.attempts, 3)
end)

test("S1.2, S1.3, S1.4: a restricted target is never dialled first, whatever weights say",
  function(t)
  for _, spread in ipairs { "weighted", "round_robin", "least_in_flight", "power_of_two",
    "first_output", "cheapest" } do
    local gw = route(t, {
      { "premium", { "refusal" }, { weight = 1000, models = { m = { input = 1, output = 1 } } } },
      { "cheap", nil, { models = { m = { input = 9, output = 9 } } } },
    }, base:with { spread = spread })
    for _ = 1, 20 do t.equal(ask(t, gw).tried, "cheap", spread) end
    t.equal(gw.upstream["premium"].count, 0)
  end
end)

test("S1.5, S1.18: it succeeds a failure that matches one of its classes, and no other", function(t)
  for _, case in ipairs {
    { refusal(), "premium" }, { { status = 429 }, "burst" }, { { status = 408 }, "burst" },
    { { hang = "head" }, "burst" }, { { hang = "connect" }, "burst" },
    { { status = 500 } }, { { status = 400 } }, { { reset = "head" } }, { { status = 504 } },
  } do
    local gw = route(t, { { "main" }, { "premium", { "refusal" } },
      { "burst", { "throttled", "timeout" } } })
    gw.upstream["main"]:answers(case[1])
    t.equal(ask(t, gw).tried, "main" .. (case[2] and "," .. case[2] or ""))
  end
end)

test("S1.9, G1.1: server_error and connection may be taken over as well; another word is an error",
  function(t)
  local gw = route(t, { { "main" }, { "spare", { "server_error", "connection" } } })
  gw.upstream["main"]:answers { { status = 503 }, { reset = "head" }, { reset = "connect" } }
  for _ = 1, 3 do t.equal(ask(t, gw).tried, "main,spare") end
  -- decision 6
  t.error(function() route(t, { { "main" }, { "spare", { "teapot" } } }) end, "teapot")
end)

test("S1.6, S1.7: taking over counts as a retry, and needs one that is left", function(t)
  local gw = route(t, { { "a" }, { "b" }, { "c", { "throttled" } }, { "d", { "throttled" } } })
  for _, id in ipairs { "a", "b", "c", "d" } do gw.upstream[id]:answers { status = 429 } end
  t.equal(#ask(t, gw).attempts, 3)
  gw = route(t, { { "a" }, { "premium", { "refusal" } } }, base:with { attempts = { max = 1 } })
  gw.upstream["a"]:answers(refusal())
  t.equal(ask(t, gw).tried, "a")
end)

test("S1.8: the field on one target changes nothing for the others", function(t)
  local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" }, { "p", { "refusal" } } })
  gw.upstream["a"]:answers { status = 500 }
  t.equal(ask(t, gw).tried, "a,b")
end)

test("G1.2, decision 7: where both may follow, declared order, or first, or last", function(t)
  local function order(place)
    local policy = base:with { attempts = { restricted = place } }
    local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" }, { "r", { "throttled" } },
      { "z" } }, policy)
    for _, id in ipairs { "a", "b", "r", "z" } do gw.upstream[id]:answers { status = 429 } end
    return ask(t, gw).tried
  end
  t.equal(order("declared_order"), "a,b,r")
  t.equal(order("first"), "a,r,b")
  t.equal(order("last"), "a,b,z")
end)

-- -- refusals -------------------------------------------------------------------------------------

test("S1.10: the three uses: more trust, burst, another content policy", function(t)
  local gw = route(t, { { "premium", { "refusal" } }, { "cheap" } })
  gw.upstream["cheap"]:answers { refusal(), { status = 500 }, { status = 429 }, {} }
  t.equal(ask(t, gw).tried, "cheap,premium")
  t.equal(ask(t, gw).tried, "cheap")
  t.equal(ask(t, gw).tried, "cheap")
  gw = route(t, { { "burst", { "throttled", "timeout" } }, { "main" } })
  gw.upstream["main"]:answers { { status = 500 }, { status = 429 } }
  t.equal(ask(t, gw).tried, "main") -- never on a 500
  t.equal(ask(t, gw).tried, "main,burst")
end)

test("S1.11: a refusal is never retried onto an ordinary target", function(t)
  local gw = route(t, { { "a" }, { "b" } })
  gw.upstream["a"]:answers(refusal())
  gw.upstream["b"]:answers(refusal())
  t.equal(#ask(t, gw).attempts, 1)
end)

test("S1.12, S1.14: a refusal nobody takes over, and any other client error, come as they are",
  function(t)
  for _, status in ipairs { 400, 401, 403, 404, 409, 413, 422, 451 } do
    local gw = route(t, { { "a" } })
    local body = '{"error" : {"message":"as it came \\u00e9","x":[1, 2]}}'
    gw.upstream["a"]:answers { status = status, body = body }
    local reply = ask(t, gw)
    t.equal(reply.status, status)
    t.equal(reply.body, body)
    t.equal(#reply.attempts, 1)
  end
end)

test("S1.13: what counts as a refusal", function(t)
  for _, case in ipairs {
    { { status = 451 }, true }, { { status = 451, body = "gone" }, true }, -- G1.6
    { { status = 400, error = { code = "content_policy_violation" } }, true }, -- OpenAI
    { { status = 400, error = { code = "content_filter" } }, true }, -- Azure
    { { status = 403, error = { type = "safety_error" } }, true },
    { { status = 422, error = { code = "moderation_blocked" } }, true },
    { { status = 400, refusal = true, refusal_category = "hate" }, true },
    { { status = 401, error = { code = "content_filter" } } }, -- no status of a refusal
    { { status = 400, error = { code = "invalid_api_parameter" } } },
    { { status = 403 } }, { { status = 422 } },
  } do
    local gw = route(t, { { "cheap" }, { "premium", { "refusal" } } })
    gw.upstream["cheap"]:answers(case[1])
    t.equal(ask(t, gw).tried, case[2] and "cheap,premium" or "cheap")
  end
end)

test("S1.15, S1.16, G1.4: a category takes over only what named it", function(t)
  local function after(category, reply)
    local gw = route(t, { { "cheap" }, { "special", { category } } })
    gw.upstream["cheap"]:answers(reply)
    return ask(t, gw).tried
  end
  local hate = { status = 400, refusal = true, refusal_category = "hate" }
  local harm = { status = 400, refusal = true, refusal_category = "self_harm" }
  t.equal(after("refusal:hate", hate), "cheap,special")
  t.equal(after("refusal:violence", hate), "cheap")
  t.equal(after("refusal:self-harm", harm), "cheap,special")
  t.equal(after("refusal:content_policy_violation", refusal()), "cheap,special") -- its code
  t.equal(after("refusal", hate), "cheap,special")
  t.equal(after("refusal:hate", { status = 451, body = "gone" }), "cheap") -- G1.6
end)

test("G1.3: a restricted target that fails is succeeded by the same rule", function(t)
  local gw = route(t, { { "cheap" }, { "p1", { "refusal" } }, { "p2", { "refusal" } } })
  gw.upstream["cheap"]:answers(refusal())
  gw.upstream["p1"]:answers(refusal())
  t.equal(ask(t, gw).tried, "cheap,p1,p2") -- decision 4
end)

test("S1.17: a target may have a model of its own", function(t)
  local gw = route(t, { { "cheap", nil, { models = { m = { send_id = "small-model" } } } },
    { "premium", { "refusal" }, { models = { m = { send_id = "large-model" } } } } })
  gw.upstream["cheap"]:answers(refusal())
  ask(t, gw)
  t.equal(gw.upstream["cheap"].requests[1].model, "small-model")
  t.equal(gw.upstream["premium"].requests[1].model, "large-model")
end)

test("S1.20, S1.21: a route whose every target is restricted is refused by name", function(t)
  t.error(function() route(t, { { "a", { "refusal" } }, { "b", { "throttled" } } }) end,
    "all_targets_restricted")
end)

test("S1.22, G1.5: the reason of the last move to the target that answered", function(t)
  local gw = route(t, { { "cheap" }, { "premium", { "refusal", "throttled" } } })
  t.equal(ask(t, gw).fallback_reason or "", "")
  gw.upstream["cheap"]:answers { refusal(), { status = 429 } }
  local reply = ask(t, gw)
  t.equal(reply.fallback_reason, "refusal:content_policy_violation")
  t.equal(reply.header["x-rolter-fallback-reason"], "refusal:content_policy_violation")
  t.equal(ask(t, gw).fallback_reason, "throttled")
end)

test("S1.24: takes_over holds along the whole chain", function(t)
  local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" }, { "r", { "refusal" } } })
  gw.upstream["a"]:answers { status = 500 }
  gw.upstream["b"]:answers(refusal())
  local reply = ask(t, gw)
  t.equal(reply.tried, "a,b,r")
  t.equal(reply.fallback_reason, "refusal:content_policy_violation")
end)

test("S1.25: a realtime session reaches no target, restricted or not: none is served", function(t)
  local gw = route(t, { { "a" }, { "r", { "refusal" } } })
  local reply = gw:get("/v1/realtime?model=m", {
    connection = "Upgrade", upgrade = "websocket", ["sec-websocket-version"] = "13",
    ["sec-websocket-key"] = "dGhlIHNhbXBsZSBub25jZQ==",
  })
  t.equal(reply.status, 404)
  t.equal(gw.upstream["a"].count + gw.upstream["r"].count, 0)
end)

test("S1.26: a refusal inside a 200 is an answer", function(t)
  local gw = route(t, { { "cheap" }, { "premium", { "refusal" } } })
  gw.upstream["cheap"]:answers { refusal = true, finish = "content_filter" }
  for _, stream in ipairs { false, true } do
    local reply = ask(t, gw, { stream = stream })
    t.equal(reply.tried, "cheap")
    t.match(reply.body, "content_filter")
  end
end)

-- -- the rest of part D ---------------------------------------------------------------------------

test("G1.7: a refusal is no failure of the target", function(t)
  local gw = route(t, { { "a" } })
  gw.upstream["a"]:answers(refusal())
  for _ = 1, 8 do t.equal(#ask(t, gw).attempts, 1) end
end)

test("C-10, D8: when all are open the request is forwarded anyway", function(t)
  local gw = route(t, { { "a" } })
  gw.upstream["a"]:answers { status = 500 }
  for _ = 1, 8 do t.equal(#ask(t, gw).attempts, 1) end
  gw.upstream["a"]:answers {}
  t.equal(ask(t, gw).status, 200)
end)

test("D8: a throttled target is parked for its retry-after, five to three hundred seconds",
  function(t)
  local at_once = base:with { backoff = { kind = "none" } }
  for told, seconds in pairs { ["1"] = 5, ["20"] = 20, ["9999"] = 300 } do
    local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" } }, at_once)
    gw.upstream["a"]:answers { { status = 429, headers = { ["retry-after"] = told } }, {} }
    t.equal(ask(t, gw).tried, "a,b")
    gw:advance(seconds - 0.1)
    t.equal(ask(t, gw).tried, "b", told)
    gw:advance(0.1)
    t.equal(ask(t, gw).tried, "a", told)
  end
end)

test("C-9, D6: full jitter up to two seconds; a 429's retry-after instead, up to thirty",
  function(t)
  local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" } })
  gw.upstream["a"]:answers { { status = 500 },
    { status = 429, headers = { ["retry-after"] = "9" } } }
  t.is_true(ask(t, gw).duration_ms <= 2000)
  t.equal(ask(t, gw).duration_ms, 9000)
end)

test("C-15, C-0: the head commits: an error as the first event of a stream is passed on",
  function(t)
  local gw = route(t, { { "a", nil, { weight = 1000000 } }, { "b" } })
  gw.upstream["a"]:answers { error_event = 0, error = { message = "their own words" } }
  local reply = ask(t, gw, { stream = true })
  t.equal(reply.tried, "a")
  t.equal(reply.status, 200)
  t.match(reply.body, "their own words") -- D15
end)

test("D15: a stream that is lost is just closed", function(t)
  local gw = route(t, { { "a" } })
  gw.upstream["a"]:answers { text = "one two three", reset = 3 }
  local reply = ask(t, gw, { stream = true })
  t.is_false(reply.complete)
  t.no_match(reply.body, "[DONE]")
  t.no_match(reply.body, '"error"')
end)

test("D14: unknown model; all failed: 429, 503 or 502", function(t)
  t.equal(ask(t, route(t, { { "a" } }), { model = "nobody" }).error_code, "model_not_found")
  for status, case in pairs {
    [429] = { { status = 429, headers = { ["retry-after"] = "7" } }, "upstream_rate_limited" },
    [503] = { { reset = "head" }, "upstream_unavailable" },
    [502] = { { status = 500 }, "upstream_error" },
  } do
    local gw = route(t, { { "a" } })
    gw.upstream["a"]:answers(case[1])
    local reply = ask(t, gw)
    t.equal(reply.status, status)
    t.equal(reply.error_code, case[2])
    t.equal(reply.header["retry-after"], status == 429 and "7" or nil) -- C-26
  end
end)
