-- endpoints_test.lua - dedicated endpoints (S0.16-S0.18, S0.69, S0.70): reserved capacity first,
-- then what meets its constraints; what a closed one tells, and the turns of a paced one.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.routerplus"

local CHAT = "/v1/chat/completions"
local MODEL = "claude-haiku-4-5"

--- Deployments from rows { id, more fields }.
local function gateway(t, rows, policy)
  local connections = {}
  for i, row in ipairs(rows) do
    connections[i] = acog.connection(row[1])(t.with({ models = { MODEL }, priority = i }, row[2]))
  end
  local gw = t.gateway { policy = policy, connections = connections }
  t.equal(gw.warnings, {})
  return gw
end

local function body_of(t, fields)
  return t.with({ model = MODEL, max_tokens = 10, messages = t.hello }, fields)
end

local function ask(t, gw, fields)
  return gw:post(CHAT, body_of(t, fields))
end

local function dedicated(t, fields)
  local endpoint = t.with({ model = MODEL }, fields)
  return gateway(t, {
    { "public", { priority = -5 } },
    { "own", { reserved_for = "acme/fast" } },
    { "abroad", { region = "us", priority = -9 } },
    { "another", { models = { "claude-opus-4-8" } } },
  }, base:with { endpoints = { ["acme/fast"] = endpoint } })
end

local function ask_endpoint(t, gw)
  return ask(t, gw, { model = "acme/fast" })
end

test("S0.16, S0.69: reserved capacity first, then public deployments of the same model", function(t)
  local gw = dedicated(t)
  local reply = ask_endpoint(t, gw)
  t.equal(reply.connection, "own")
  t.equal(gw.upstream["own"].requests[1].model, MODEL)
  t.equal(reply.header["x-tm-dedicated-endpoint"], "acme/fast")
  t.equal(reply.header["x-tm-route-role"], "primary")
  t.equal(reply.header["x-tm-provider"], "own")
  t.equal(reply.header["x-tm-upstream-model"], MODEL) -- S0.64: it differs from acme/fast
  t.equal(reply.header["x-tm-queue-ms"], nil)
  gw.upstream["own"]:answers { status = 500 }
  reply = ask_endpoint(t, gw)
  t.equal(reply.tried, "own,abroad")
  t.equal(reply.header["x-tm-route-role"], "fallback")
end)

test("S0.16: those that meet its constraints", function(t)
  local gw = gateway(t, { { "own", { reserved_for = "acme/eu" } }, { "us", { region = "us" } },
    { "eu", { region = "eu" } }, { "vertex", { region = "eu", channel = "vertex" } } },
    base:with { endpoints = { ["acme/eu"] = { model = MODEL, regions = { "eu" },
      channels = "direct" } } })
  gw.upstream["own"]:answers { status = 500 }
  local reply = ask(t, gw, { model = "acme/eu" })
  t.equal(reply.tried, "own,eu")
  t.match(reply.why["us"], "not what the endpoint allows")
  t.match(reply.why["vertex"], "not what the endpoint allows")
end)

test("S0.16: reserved capacity is nobody else's", function(t)
  local gw = dedicated(t)
  for _, id in ipairs { "public", "abroad" } do gw.upstream[id]:answers { status = 500 } end
  t.equal(ask(t, gw).tried, "abroad,public")
  t.equal(ask(t, gw).header["x-tm-dedicated-endpoint"], nil)
  t.equal(ask(t, gw, { model = "acme/other" }).status, 404)
end)

test("S0.17: never another model; without public = true nothing but its own", function(t)
  local gw = dedicated(t, { public = false })
  gw.upstream["own"]:answers { status = 500 }
  t.equal(ask_endpoint(t, gw).tried, "own")
  t.equal(gw.upstream["another"].count + gw.upstream["public"].count, 0)
end)

test("S0.18, S0.62-S0.64: a closed endpoint names routerplus, whichever route served", function(t)
  local gw = dedicated(t, { closed = true })
  for role, reply in pairs { primary = {}, fallback = { status = 500 } } do
    gw.upstream["own"]:answers(reply)
    local header = ask_endpoint(t, gw).header
    t.equal(header["x-tm-provider"], "routerplus")
    t.equal(header["x-tm-route-role"], role)
    t.equal(header["x-tm-served-by"], nil)
    t.equal(header["x-tm-upstream-model"], nil)
  end
end)

test("S0.70: a paced limit: each waits for its turn, and is told how long", function(t)
  local gw = dedicated(t, { pace = { per_minute = 60, wait = 2 } })
  local handles = {}
  for i = 1, 4 do
    handles[i] = gw:start(CHAT, body_of(t, { model = "acme/fast" }))
  end
  t.equal(gw.upstream["own"].count, 1)
  t.equal(handles[4].reply.status, 503) -- three seconds would be more than it allows
  t.equal(handles[4].reply.error_code, "overloaded")
  for i = 1, 3 do
    local reply = handles[i]:wait()
    t.equal(reply.header["x-tm-queue-ms"], tostring((i - 1) * 1000))
    t.equal(reply.attempts[1].at_ms, (i - 1) * 1000)
  end
  t.equal(ask(t, gw).header["x-tm-queue-ms"], nil) -- the others know no pace
  gw:advance(60)
  t.equal(ask_endpoint(t, gw).header["x-tm-queue-ms"], "0")
end)
