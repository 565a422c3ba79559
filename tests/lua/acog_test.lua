-- acog_test.lua - the constructors: what they return, and what they refuse.
local acog = require "acog"
local test = require "acog.test"

local base = require "policies.acog"

test("constructors check what they are given and say where", function(t)
  t.error(function() acog.connection(7) end, "acog.connection: expected a string, got a number")
  t.error(function() acog.connection "a" "b" end,
    'acog.connection "a": expected a table, got a string')
  t.error(function() acog.gateway() end, "acog.gateway: expected a table, got a nil")
  t.error(function() acog.policy(1) end, "acog.policy: expected a table, got a number")
  t.error(function() acog.env {} end, "acog.env: expected a string, got a table")
  t.match(t.error(function() acog.env {} end), "acog_test.lua:")
end)

test("what they return is read-only, all the way down", function(t)
  t.error(function() base.attempts.max = 7 end, "read-only")
  t.error(function() base.filters[1] = "x" end, "read-only")
  t.error(function() table.insert(base.filters, "x") end, "read-only")
  t.equal(base.attempts.max, 3)
  t.equal(base.filters[1], "declared")
end)

test("a secret never shows", function(t)
  t.equal(tostring(acog.env "OPENAI_API_KEY"), "acog.env(OPENAI_API_KEY)")
  t.error(function() return "Bearer " .. acog.env "X" end, "concatenate")
end)

test("with changes the fields it names, record by record; lists are replaced", function(t)
  local own = base:with { name = "own", attempts = { max = 2 }, order = { "catalogue" } }
  t.equal(own.name, "own")
  t.equal(own.attempts.max, 2)
  t.equal(own.attempts.not_usable_counts, true)
  t.equal(#own.order, 1)
  t.equal(#own.filters, #base.filters)
  t.equal(base.attempts.max, 3)
  t.equal(own:with { name = "again" }.attempts.max, 2)
end)

test("filters are put before and after others, and taken out", function(t)
  local function keep() return true end
  local filters = base.filters:before("declared", keep):after("circuit", "x"):without("pin")
  t.equal(filters[1], keep)
  t.equal(filters[2], "declared")
  t.equal(filters[#filters], "x")
  t.equal(#filters, #base.filters + 1)
  t.error(function() base.filters:before("crcuit", keep) end,
    'there is no "crcuit" to go by; there are: declared')
end)

-- -- functions
-- --------------------------------------------------------------------------------------

local function gateway(t, fields, connection)
  local more = connection or {}
  more.models = more.models or { "m" }
  more.dialects = { "chat" }
  return t.gateway { policy = base:with(fields), connections = { acog.connection "one"(more) } }
end

local function ask(t, gw, headers)
  return gw:post("/v1/chat/completions", { model = "m", messages = t.hello, max_tokens = 9 },
    headers)
end

test("a filter sees the request and the candidate", function(t)
  local seen = {}
  local gw = gateway(t, { filters = base.filters:after("declared", function(request, candidate)
    seen = { request.model, request.surface, request.stream, request.max_tokens, request.choices,
      request.tools, request.images, request.key_name == nil, request.header["X-Team"],
      candidate.connection, candidate.channel, candidate.model, candidate.family, candidate.dialect,
      candidate.region, candidate.labels.tier, candidate.price.input, candidate.context,
      candidate.max_output_tokens, candidate.reasoning, candidate.default, candidate.slow,
      candidate.priority, candidate.weight, candidate.health, candidate.in_flight,
      candidate.first_output_ms == nil, candidate.maker }
    return request.body_bytes > 0 and request.input_tokens ~= nil
  end) }, {
    region = "eu", labels = { tier = "gold" }, weight = 3, priority = 2, default = true,
      slow = true,
    models = { m = { input = 1, output = 2, context = 1000, max_output_tokens = 50,
      reasoning = true } },
  })
  t.equal(ask(t, gw, { ["x-team"] = "legal" }).status, 200)
  t.equal(seen, { "m", "chat", false, 9, 1, false, false, true, "legal", "one", "direct", "m", "m",
    "chat", "eu", "gold", 1.0, 1000, 50, true, true, true, 2, 3, "closed", 0, true })
end)

test("a filter's reason is told, and an empty plan has its answer", function(t)
  local gw = gateway(t, { filters = base.filters:before("circuit", {
    name = "eu only", when_empty = "dlp",
    keep = function(_, candidate) return candidate.region == "eu", "outside the EU" end,
  }) })
  local reply = ask(t, gw)
  t.equal(reply.status, 403)
  t.equal(reply.error_code, "dlp_route_restricted")
  t.equal(reply.why["one"], "outside the EU")
end)

local function failing(t, filter, message)
  local reply = ask(t, gateway(t, { filters = base.filters:before("circuit", filter) }))
  t.equal(reply.status, 500)
  t.equal(reply.error_code, "policy_error")
  t.match(reply.policy_error, message)
  t.match(reply.policy_error, "acog_test.lua:")
  t.no_match(reply.body, "acog_test.lua")
end

test("a filter without a name or a reason does not tell clients where it stands", function(t)
  local function keep_none() return false end
  local gw = t.gateway {
    policy = base:with { name = "own", filters = base.filters:before("circuit", keep_none) },
    connections = { acog.connection "only" { models = { "m" }, simulate = true } },
  }
  local reply = gw:post("/v1/chat/completions", { model = "m", messages = t.hello })
  t.equal(reply.status, 403)
  t.match(reply.json.error.message, "a rule gave no reason")
  t.no_match(reply.body, ".lua")
end)

test("filters are lists that are not changed", function(t)
  t.error(function() base.filters:insert("x") end, "filters: there is no insert; before(name, ")
  t.error(function() base.filters.before("pin", "x") end, "are called with a colon")
  t.error(function() base.filters:before(function() end, "pin") end,
    "filters: the name to go by: expected a string, got a function")
end)

test("a connection may be made in one call", function(t)
  local gw = t.gateway {
    connections = { acog.connection("only", { models = { "m" }, simulate = true }) },
  }
  local reply = gw:post("/v1/chat/completions", { model = "m", messages = t.hello })
  t.equal(reply.connection, "only")
  t.error(function() acog.connection("only", "m") end, 'acog.connection "only": expected a table')
end)

test("a function that fails is a policy error, with its place in the log alone", function(t)
  failing(t, function(request) return request.modle end,
    'request has no field "modle"; did you mean "model"?')
  failing(t, function(_, candidate) return candidate.chanel end, 'did you mean "channel"?')
  failing(t, function(request) return request.temperature end,
    'request has no field "temperature". Allowed: model, surface, ')
  failing(t, function(request) return request.metadata.region end, 'did you mean "header"?')
  failing(t, function(a, b) return a.weight < b.weight end,
    'request has no field "weight", the other argument has: it is (request, candidate)')
  failing(t, function() end, "answered a nil; it must answer true, or false and a reason")
  failing(t, function() return false, {} end, "the reason must be a text")
  failing(t, function(request) request.model = "x" end, "read-only")
  failing(t, function(request) return request.header["x-" .. "made"] end,
    "is not let through to policies")
  failing(t, function() while true do pcall(error) end end, "the budget of instructions is spent")
end)

test("an order function sorts by its number, the smallest first", function(t)
  local connections = {}
  for i, id in ipairs { "a", "b", "c" } do
    connections[i] = acog.connection(id) { dialects = { "chat" }, labels = { n = 10 - i },
      models = { "m" } }
  end
  local gw = t.gateway {
    policy = base:with {
      order = { function(_, candidate) return candidate.labels.n end }, spread = "none",
    },
    connections = connections,
  }
  t.equal(ask(t, gw).connection, "c")
end)

test("a usable function is asked before sending (S4.13, G4.13)", function(t)
  local open = false
  local gw = gateway(t, {}, { usable = function() return open, "closed today" end })
  local reply = ask(t, gw)
  t.equal(reply.status, 503)
  t.equal(reply.error_code, "connection_not_usable")
  t.equal(reply.why["one"], "closed today")
  open = true
  t.equal(ask(t, gw).status, 200)
end)

test("objects are dead behind their question", function(t)
  local kept
  local gw = gateway(t, { filters = base.filters:before("circuit", function(request)
    kept = request
    return true
  end) })
  ask(t, gw)
  t.error(function() return kept.model end, "while the policy is asked")
end)

test("a matcher of one's own says which entries an id reaches", function(t)
  local gw = gateway(t, { match = function(model, declared)
    return model == "alias" and { declared[1] } or model == "m" and declared or {}
  end })
  local reply = gw:post("/v1/chat/completions", { model = "alias", messages = t.hello })
  t.equal(reply.status, 200)
  t.equal(reply.model, "m")
  t.equal(gw:post("/v1/chat/completions", { model = "other", messages = t.hello }).status, 409)
end)
