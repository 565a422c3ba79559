-- test_test.lua - the module acog.test: its checks, and what it shows of a simulated gateway.
local acog = require "acog"
local test = require "acog.test"

local policy = require "policies.acog"

--- A gateway of connections that all serve the same model in one dialect.
local function gateway(t, dialect, ids, more)
  local connections = {}
  for i, id in ipairs(ids) do
    local fields = t.with({ dialects = { dialect }, models = { "m-1" } }, more)
    connections[i] = acog.connection(id)(fields)
  end
  return t.gateway { listen = "127.0.0.1:0", policy = policy, connections = connections }
end

local function chat(t, fields)
  return t.with({ model = "m-1", messages = t.hello }, fields)
end

local function message(t, fields)
  local body = chat(t, fields)
  body.max_tokens = 10
  return body
end

-- -- what tests are made of ----------------------------------------------------------------------

test("with copies a table and puts fields in place of its own, whole", function(t)
  local base = { a = { 1, 2 }, b = "x", [1] = "first" }
  t.equal(t.with(base, { a = { 3 }, c = false }), { a = { 3 }, b = "x", c = false, [1] = "first" })
  t.equal(t.with(base), base)
  t.with(base).b = "y"
  t.equal(base.b, "x")
end)

-- -- checks -------------------------------------------------------------------------------------

test("equal compares tables by their content", function(t)
  t.equal({ 1, { a = "x" } }, { 1, { a = "x" } })
  t.equal(1, 1.0)
  t.equal(nil, nil)
  t.error(function() t.equal({ a = 1 }, { a = 1, b = 2 }) end, "at b: expected 2, got nil")
  t.error(function() t.equal({ a = { 1, 2 } }, { a = { 1, 3 } }) end, "at a[2]: expected 3, got 2")
  t.error(function() t.equal({ a = 1, z = 2 }, { a = 1 }) end, "at z: expected nil, got 2")
end)

test("a failed check names its line and shows both values", function(t)
  local raised = t.error(function() t.equal("a\n", { 1, b = true }, "sums") end)
  t.match(raised, "test_test.lua:")
  t.match(raised, 'sums: expected { 1, b = true }, got "a\\n"')
end)

test("match looks for the letters, not for a pattern", function(t)
  t.match("100% sure", "0% s")
  t.no_match("100% sure", "%d")
  t.error(function() t.match("abc", ".bc") end, 'expected a text with ".bc", got "abc"')
  t.error(function() t.match(nil, "x") end, "got nil")
end)

test("true, false, different and fail say what they got", function(t)
  t.is_true(0)
  t.is_false(nil)
  t.different(1, 2)
  t.error(function() t.is_true(nil) end, "expected a true value, got nil")
  t.error(function() t.is_false("x") end, 'expected false or nil, got "x"')
  t.error(function() t.different({ 1 }, { 1 }) end, "expected anything but { 1 }")
  t.error(function() t.fail("never") end, "never")
end)

test("error wants an error, and the right one", function(t)
  t.error(function()
    t.error(function() return 1 end)
  end, "expected an error, and there was none")
  t.error(function()
    t.error(function() error("this") end, "that")
  end, 'expected an error with "that"')
end)

test("what a test is given cannot be changed", function(t)
  t.error(function() t.hello = 1 end, "read-only")
  t.error(function() t.hello[1].role = "assistant" end, "read-only")
end)

test("a name that is not there is an error with those that are", function(t)
  local has = t.error(function() return t.equals end, 'not "equals"')
  for name in pairs(t) do t.match(has, name) end
  local gw = gateway(t, "chat", { "one" })
  local reply = gw:post("/v1/chat/completions", chat(t))
  has = t.error(function() return reply.headers end, 'a reply has status, header, ')
  for name in pairs(reply) do t.match(has, name) end
  t.equal(reply.policy_error, nil) -- there, but not this time
  has = t.error(function() return reply.attempts[1].route end, "an attempt has connection, ")
  for name in pairs(reply.attempts[1]) do t.match(has, name) end
  t.equal(reply.attempts[1].class, nil)
  t.equal(reply[1], nil)
end)

test("a test needs a name and a function", function(t)
  t.error(function() test(1, function() end) end, "the name must be a text")
  t.error(function() test("x", 2) end, "expected a function, got a number")
end)

-- -- requests and replies -----------------------------------------------------------------------

test("a reply shows status, header, body, text and who gave it", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { text = "good day", usage = { input = 3, output = 2 } }
  local reply = gw:post("/v1/chat/completions", chat(t), { ["X-Request-ID"] = "abc-1" })
  t.equal(reply.status, 200)
  t.equal(reply.text, "good day")
  t.equal(reply.json.choices[1].message.content, "good day")
  t.match(reply.body, '"good day"')
  t.equal(reply.header["content-type"], "application/json")
  t.equal(reply.request_id, "abc-1")
  t.equal(reply.connection, "one")
  t.equal(reply.channel, "direct")
  t.equal(reply.model, "m-1")
  t.equal(reply.usage, { input = 3, output = 2 })
  t.equal(reply.events, {})
  t.is_true(reply.complete)
  t.is_true(reply.over)
  t.equal(#reply.attempts, 1)
  t.equal(reply.attempts[1].outcome, "completed")
  t.equal(reply.record.model, "m-1")
end)

test("an upstream shows what it received", function(t)
  local gw = gateway(t, "messages", { "one" })
  gw:post("/v1/messages?beta=true", message(t, { stream = true, metadata = {}, tools = t.list {} }),
    { ["anthropic-beta"] = { "a", "b" } })
  local up = gw.upstream["one"]
  t.equal(up.count, 1)
  local request = up.requests[1]
  t.equal(request.surface, "messages")
  t.equal(request.dialect, "messages")
  t.equal(request.model, "m-1")
  t.equal(request.stream, true)
  t.equal(request.query, "beta=true")
  t.equal(request.body.messages, { { role = "user", content = "hello" } })
  t.match(request.text, '"metadata":{}')
  t.match(request.text, '"tools":[]')
  t.match(request.header["anthropic-beta"], "b")
  t.equal(request.at_ms, 0)
end)

test("the events of a stream come with their times", function(t)
  local gw = gateway(t, "messages", { "one" })
  gw.upstream["one"]:answers {
    text = "a b", delay_ms = 100, first_output_delay_ms = 1000, pace_ms = 10,
  }
  local reply = gw:post("/v1/messages", message(t, { stream = true }))
  t.equal(reply.text, "a b")
  t.equal(reply.events[1].name, "message_start")
  t.equal(reply.events[3].data.delta.text, "a")
  t.equal(reply.events[3].at_ms, 1100)
  t.equal(reply.events[4].at_ms, 1110)
  t.equal(reply.events[#reply.events].name, "message_stop")
  t.equal(reply.json, nil)
  t.equal(reply.duration_ms, gw.now_ms)
end)

test("a silence with a length ends in a close; without a silence there is none", function(t)
  local gw = gateway(t, "chat", { "one" })
  local up = gw.upstream["one"]
  up:answers { hang = 3, hang_ms = 30000 }
  local reply = gw:post("/v1/chat/completions", chat(t, { stream = true }))
  t.equal(reply.error_code, "upstream_error")
  t.equal(reply.duration_ms, 30000)
  t.error(function() up:answers { hang_ms = 30000 } end, "hang_ms has no effect without hang")
end)

test("the text of all three dialects is joined", function(t)
  for _, stream in ipairs { true, false } do
    local text = "one two three"
    local gw = gateway(t, "responses", { "r" })
    gw.upstream["r"]:answers { text = text }
    t.equal(gw:post("/v1/responses", { model = "m-1", input = "x", stream = stream }).text, text)
    gw = gateway(t, "chat", { "c" })
    gw.upstream["c"]:answers { text = text }
    t.equal(gw:post("/v1/chat/completions", chat(t, { stream = stream })).text, text)
    gw = gateway(t, "messages", { "m" })
    gw.upstream["m"]:answers { text = text }
    t.equal(gw:post("/v1/messages", message(t, { stream = stream })).text, text)
  end
end)

test("answers come in their order; the last one repeats, or all begin again", function(t)
  local gw = gateway(t, "chat", { "one" })
  local up = gw.upstream["one"]
  local function texts()
    local all = {}
    for i = 1, 4 do all[i] = gw:post("/v1/chat/completions", chat(t)).text end
    return table.concat(all, " ")
  end
  up:answers { { text = "a" }, { text = "b" } }
  t.equal(texts(), "a b b b")
  up:answers { replies = { { text = "a" }, { text = "b" } }, cycle = true }
  t.equal(texts(), "a b a b")
  t.equal(up.count, 8)
end)

test("a provider that is down is left for the next one", function(t) -- the example of lua/test.md
  local gw = gateway(t, "chat", { "one", "two" })
  gw.upstream["one"]:answers { status = 503 }
  gw.upstream["two"]:answers {}
  for _ = 1, 2 do -- whichever the spread puts first
    local reply = gw:post("/v1/chat/completions", chat(t))
    t.equal(reply.status, 200)
    t.equal(reply.connection, "two")
    t.equal(reply.text, "Hello from two.")
    t.equal(reply.why["one"], #reply.attempts == 2 and "server_error" or nil)
  end
  t.equal(gw.upstream["one"].count, 1)
end)

test("the gateway's own answers have a code and no connection", function(t)
  local gw = gateway(t, "chat", { "one" })
  local reply = gw:post("/v1/chat/completions", { model = "other", messages = t.hello })
  t.equal(reply.status, 409)
  t.equal(reply.error_code, "model_not_configured")
  t.equal(reply.connection, nil)
  t.equal(reply.attempts, {})
  t.equal(gw.upstream["one"].count, 0)
  t.equal(gw:get("/healthz").status, 200)
  t.equal(gw:request("DELETE", "/v1/models").status, 405)
end)

test("a text is sent as it is", function(t)
  local gw = gateway(t, "chat", { "one" })
  t.equal(gw:post("/v1/chat/completions", '{"model":').status, 400)
  local body = '{"model":"m-1", "messages":[ {"role":"user","content":"\\u0068i"} ]}'
  t.equal(gw:post("/v1/chat/completions", body).status, 200)
  t.match(gw.upstream["one"].requests[1].text, '"\\u0068i"')
end)

-- -- time ---------------------------------------------------------------------------------------

test("an hour of outage takes no time", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { hang = "head" }
  local reply = gw:post("/v1/chat/completions", chat(t, { stream = true }))
  t.is_true(reply.status >= 500)
  t.is_true(reply.duration_ms >= 60000)
  t.equal(reply.attempts[1].class, "timeout_headers")
  local before = gw.now_ms
  gw:advance(3600)
  t.equal(gw.now_ms, before + 3600000)
  gw.upstream["one"]:answers {}
  t.equal(gw:post("/v1/chat/completions", chat(t)).status, 200)
end)

test("many requests are under way at once", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { text = "slow", delay_ms = 5000 }
  local first = gw:start("/v1/chat/completions", chat(t))
  gw:advance(2)
  local second = gw:start("/v1/chat/completions", chat(t))
  t.equal(first.over, false)
  t.equal(first.reply.status, nil)
  gw:advance(3)
  t.is_true(first.over)
  t.equal(first.reply.text, "slow")
  t.is_false(second.over)
  t.equal(second:wait().duration_ms, 5000)
  t.equal(gw.now_ms, 7000)
end)

test("a client that hangs up has its upstream cancelled", function(t)
  local gw = gateway(t, "messages", { "one" })
  gw.upstream["one"]:answers { text = "one two three", pace_ms = 1000 }
  local handle = gw:start("/v1/messages", message(t, { stream = true }))
  gw:advance(2.5)
  t.match(handle.reply.text, "one")
  t.is_false(handle.reply.complete)
  handle:hang_up()
  local reply = handle:wait()
  t.is_false(reply.complete)
  t.equal(reply.attempts[1].outcome, "cancelled")
  t.equal(gw.now_ms, 2500)
end)

test("a stream that breaks after its first output ends with an error of the dialect", function(t)
  local gw = gateway(t, "messages", { "one", "two" })
  for _, id in ipairs { "one", "two" } do
    gw.upstream[id]:answers { text = "one two three", reset = 4 }
  end
  local reply = gw:post("/v1/messages", message(t, { stream = true }))
  t.equal(reply.status, 200)
  t.equal(reply.text, "one two")
  t.equal(reply.events[#reply.events].name, "error")
  t.equal(#reply.attempts, 1)
end)

test("the same file gives the same bytes", function(t)
  local function run()
    local gw = gateway(t, "responses", { "one", "two", "three" })
    local bodies = {}
    for i = 1, 6 do
      bodies[i] = gw:post("/v1/responses", { model = "m-1", input = "x", stream = true }).body
    end
    return bodies
  end
  t.equal(run(), run())
end)

-- -- wrong use ----------------------------------------------------------------------------------

test("a configuration that cannot be loaded raises all that is wrong with it", function(t)
  local raised = t.error(function()
    t.gateway {
      policy = policy,
      connections = {
        acog.connection "one" { dialects = { "chat" }, models = { "m-1" }, chanel = "direct" },
      },
    }
  end, "chanel")
  t.match(raised, "test_test.lua:")
  t.error(function() t.gateway "there_is_none.lua" end, "there_is_none.lua")
end)

test("words that a reply does not know raise", function(t)
  local gw = gateway(t, "chat", { "one" })
  t.error(function() gw.upstream["one"]:answers { statsu = 503 } end, "statsu")
  t.error(function() gw.upstream["one"]:answers { { status = 200 }, 3 } end, "number")
  t.error(function() gw.upstream["one"]:answers(3) end, "table expected")
end)

test("names that are not there raise with those that are", function(t)
  local gw = gateway(t, "chat", { "one", "two" })
  t.error(function() return gw.upstream["three"] end, 'no connection "three"; there are: one two')
  t.error(function() return gw.clock end, "now_ms")
  t.error(function() return gw.upstream["one"].text end, "requests")
  t.error(function() gw:post("v1/messages", {}) end, "a path starts with /")
  t.error(function() gw:advance(-1) end, "seconds to come")
  t.error(function() gw:post("/v1/messages", {}, { ["x"] = {} , [1] = "a" }) end, "a header is")
end)

test("a body that JSON cannot say raises", function(t)
  local gw = gateway(t, "chat", { "one" })
  local loop = {}
  loop.again = loop
  t.error(function() gw:post("/v1/chat/completions", loop) end, "nested deeper")
  t.error(function() gw:post("/v1/chat/completions", { a = test }) end, "a function has no form")
  t.error(function() gw:post("/v1/chat/completions", { a = 1 / 0 }) end, "no infinity")
end)

local kept

test("a gateway lives as long as its test", function(t)
  kept = gateway(t, "chat", { "one" })
  t.equal(kept.now_ms, 0)
end)

test("and not longer", function(t)
  t.error(function() return kept.now_ms end, "the test of this gateway is over")
end)

-- -- slow readers ---------------------------------------------------------------------------------

test("a client that stops reading stops the provider, and its silence is no fault", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { text = "one two three four", pace_ms = 1000 }
  local handle = gw:start("/v1/chat/completions", chat(t, { stream = true }))
  gw:advance(2)
  handle:pause()
  gw:advance(1) -- what comes now finds no room
  local before = #handle.reply.events
  gw:advance(50)
  t.equal(#handle.reply.events, before)
  t.is_false(handle.over)
  handle:resume()
  local reply = handle:wait()
  t.equal(reply.text, "one two three four")
  t.equal(reply.attempts[1].outcome, "completed")
end)

test("a client that reads nothing for a minute is left (limits.body_ms)", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { text = "one two three four", pace_ms = 1000 }
  local handle = gw:start("/v1/chat/completions", chat(t, { stream = true }))
  handle:pause()
  local reply = handle:wait()
  t.is_false(reply.complete)
  t.equal(reply.attempts[1].outcome, "cancelled")
  t.is_true(gw.now_ms >= 60000)
end)

test("a client that pauses before there is anything to read disturbs nothing", function(t)
  local gw = gateway(t, "chat", { "one" })
  gw.upstream["one"]:answers { delay_ms = 3000, text = "late" }
  local handle = gw:start("/v1/chat/completions", chat(t))
  handle:pause()
  gw:advance(1)
  handle:resume()
  t.equal(handle:wait().text, "late")
end)
