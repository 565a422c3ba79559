-- sandbox_test.lua - what a chunk can see, and what it cannot do.
local test = require "acog.test"

-- luacheck: globals _ENV, ignore 122
-- (this file does on purpose what nobody may)

test("what is not in the sandbox is an error, not nil", function(t)
  for _, name in ipairs { "print", "load", "dofile", "io", "os", "debug", "package", "setmetatable",
    "getmetatable", "rawset", "collectgarbage", "coroutine" } do
    -- reads the name as a global of the chunk: _ENV is a plain upvalue
    t.error(function() return _ENV[name] end, ('"%s" is not a name of the sandbox'):format(name))
  end
end)

test("a name of Lua's that is not there says what stands in for it", function(t)
  t.error(function() return _ENV["print"] end, "t.attach(name, value)")
  t.error(function() return _ENV["os"] end, 'acog.env "NAME"')
  t.error(function() return _ENV["unpack"] end, "it is table.unpack")
  t.error(function() return _ENV["acog"] end, 'local acog = require "acog"')
  t.error(function() return _ENV["reslut"] end, "local variables need `local`")
end)

test("globals cannot be made or changed", function(t)
  t.error(function() _ENV.answer = 42 end, 'no globals: declare "answer" as local')
  t.error(function() _ENV.pairs = nil end, "no globals")
  t.error(function() string.format = nil end, "read-only")
end)

test("libraries have no dangerous part", function(t)
  for _, name in ipairs { "dump", "pack", "unpack" } do t.equal(string[name], nil) end
  t.equal(math.random, nil)
  t.equal(table.move, nil)
  t.equal(("x").dump, nil)
  t.equal(("abc"):upper(), "ABC")
end)

test("a repetition is bounded", function(t)
  t.equal(("ab"):rep(3, "-"), "ab-ab-ab")
  t.equal((""):rep(1000000000), "")
  t.equal(("x"):rep(-1), "")
  t.error(function() return ("x"):rep(1000000000) end, "at most 1048576 bytes")
end)

test("patterns do what the manual says", function(t)
  t.equal({ ("hello world"):find("o w") }, { 5, 7 })
  t.equal({ ("hello"):find("l", 1, true) }, { 3, 3 })
  t.equal({ ("key = value"):match("^(%w+)%s*=%s*(%w+)$") }, { "key", "value" })
  t.equal(("f(a(b)c)d"):match("%b()"), "(a(b)c)")
  t.equal({ ("THE (quick) fox"):find("%((%a+)%)") }, { 5, 11, "quick" })
  t.equal(("abc"):gsub("%w", "%0%0"), "aabbcc")
  t.equal(("hello world"):gsub("o", { o = "0" }), "hell0 w0rld")
  t.equal(("abc"):gsub("", "-"), "-a-b-c-")
  t.equal(("THE (quick) fox"):gsub("%f[%a]%a+", string.lower), "the (quick) fox")
  local words = {}
  for word in ("one two  three"):gmatch("%a+") do words[#words + 1] = word end
  t.equal(words, { "one", "two", "three" })
  t.error(function() return ("x"):match("[a") end, "missing ']'")
  t.error(function() return ("x"):match("%") end, "ends with '%'")
end)

test("require stays beside the configuration", function(t)
  t.error(function() require "../acog" end, "is no module name")
  t.error(function() require "no.such.file" end, 'no module "no.such.file"')
  t.equal(require "acog", require "acog")
end)
