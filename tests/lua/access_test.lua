-- access_test.lua - who may use which models; the fallback model is one of them (S4.29).
local acog, test = require "acog", require "acog.test"
local base = require "policies.acog"

local small, large = "claude-haiku-4-5", "claude-opus-4-8"

local function gateway(t, access, extra, simulate)
  local fields = { access = access }
  for name, value in pairs(extra or {}) do
    fields[name] = value
  end
  return t.gateway {
    policy = base:with(fields),
    connections = {
      acog.connection "a" {
        dialects = { "messages" }, models = { small, large }, simulate = simulate or true,
      },
    },
  }
end

local function ask(t, gw, model, team)
  local body = { model = model, max_tokens = 10, messages = t.hello }
  return gw:post("/v1/messages", body, team and { ["x-team"] = team } or {})
end

local interns = { header = "X-Team", value = "interns", models = small }

test("a request that a rule is about may use what the rule lists, in any spelling", function(t)
  local gw = gateway(t, { interns })
  t.equal(ask(t, gw, small, "interns").status, 200)
  t.equal(ask(t, gw, small .. "-20251001", "interns").status, 200)
  local refused = ask(t, gw, large, "interns")
  t.equal(refused.status, 403)
  t.equal(refused.json.error.message, 'This request may not use the model "' .. large .. '".')
  t.equal(refused.why["a"], "no access rule lists it for x-team: interns")
  t.equal(#gw.upstream["a"].requests, 2)
end)

test("a request that no rule is about may use everything", function(t)
  local gw = gateway(t, { interns })
  t.equal(ask(t, gw, large).status, 200)
  t.equal(ask(t, gw, large, "lawyers").status, 200)
end)

test("rules add up", function(t)
  local gw = gateway(t, { interns, { header = "x-team", models = { large } } })
  t.equal(ask(t, gw, small, "interns").status, 200)
  t.equal(ask(t, gw, large, "interns").status, 200)
  t.equal(ask(t, gw, small, "lawyers").status, 403)
end)

test("a rule without a header is about every request", function(t)
  local gw = gateway(t, { { models = { small } } })
  t.equal(ask(t, gw, small).status, 200)
  t.equal(ask(t, gw, large).status, 403)
  t.equal(ask(t, gw, large).why["a"], "no access rule lists it")
end)

test("S4.29: a fallback model that the request may not use is unavailable", function(t)
  local refusing = { refusal = true }
  local fallback = { refusal = { fallback_model = large } }
  local gw = gateway(t, { interns }, fallback, refusing)
  local reply = ask(t, gw, small, "interns")
  t.equal(reply.header["x-acog-policy-fallback"], "unavailable")
  t.equal(reply.json.stop_reason, "refusal")
  t.equal(#gw.upstream["a"].requests, 1)
  t.equal(#reply.attempts, 1)
  ask(t, gw, small, "lawyers")
  t.equal(#gw.upstream["a"].requests, 3) -- the refusal, and the fallback model's
end)

test("each line of a header counts: another one before it is no way out", function(t)
  local gw = gateway(t, { interns })
  local body = { model = large, max_tokens = 10, messages = t.hello }
  t.equal(gw:post("/v1/messages", body, { ["x-team"] = { "lawyers", "interns" } }).status, 403)
end)
