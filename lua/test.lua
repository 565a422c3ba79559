--- acog.test: tests of configurations and policies. Reference: lua/test.md; C side: core/simulate.
--
-- A test file says test("name", function(t) … end) as often as it likes; `acog test` then runs
-- each in its turn. A check that does not hold raises an error that names the line of the check.
local core = ...

local t = {}

--- The JSON null, and a table that is an array even when it is empty.
t.null = core.null
t.list = core.list

--- The shortest conversation there is.
t.hello = { { role = "user", content = "hello" } }

--- t.with(table, fields) -> table: a copy with these fields over its own. `fields` may be nil.
function t.with(base, fields)
  local copy = {}
  for key, value in pairs(base) do copy[key] = value end
  for key, value in pairs(fields or {}) do copy[key] = value end
  return copy
end

--- t.gateway "gateway.lua": the configuration beside the test file; or a table of its fields.
t.gateway = core.gateway

-- -- showing values -------------------------------------------------------------------------------

local SHOWN_BYTES = 2000
local SHOWN_DEPTH = 8

local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return escapes[c] or ("\\%d"):format(c:byte())
  end) .. '"'
end

--- The keys of a table: positions first, in order, then the others by their text.
local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if math.type(a) == "integer" and math.type(b) == "integer" then return a < b end
    if type(a) ~= type(b) then return type(a) < type(b) end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local show

local function show_table(value, depth)
  if depth == SHOWN_DEPTH then return "{…}" end
  local parts, position = {}, 1
  for _, key in ipairs(sorted_keys(value)) do
    local shown = show(value[key], depth + 1)
    if key == position then
      position = position + 1
    elseif type(key) == "string" and key:find("^[%a_][%w_]*$") then
      shown = key .. " = " .. shown
    else
      shown = "[" .. show(key, depth + 1) .. "] = " .. shown
    end
    parts[#parts + 1] = shown
  end
  return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
end

--- A value as Lua would write it.
function show(value, depth)
  if value == t.null then return "t.null" end
  if type(value) == "string" then return quote(value) end
  if type(value) == "table" then return show_table(value, depth or 0) end
  return tostring(value)
end

local function shown(value)
  local text = show(value)
  if #text > SHOWN_BYTES then text = text:sub(1, SHOWN_BYTES) .. " …" end
  return text
end

-- -- checks ---------------------------------------------------------------------------------------

local function at_key(path, key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return path .. "." .. key end
  return path .. "[" .. show(key) .. "]"
end

--- Where two values differ first, and by what; nothing when they do not.
local function difference(actual, expected, path)
  if actual == expected then return nil end
  if type(actual) ~= "table" or type(expected) ~= "table" then return path, actual, expected end
  for _, key in ipairs(sorted_keys(expected)) do
    local where, a, e = difference(actual[key], expected[key], at_key(path, key))
    if where then return where, a, e end
  end
  for _, key in ipairs(sorted_keys(actual)) do
    if expected[key] == nil then return at_key(path, key), actual[key], nil end
  end
  return nil
end

--- Raises at the line that called the check.
local function fail(message, text)
  error((message and message .. ": " or "") .. text, 3)
end

--- t.equal(actual, expected [, message]): the same value, tables by their content.
function t.equal(actual, expected, message)
  local where, a, e = difference(actual, expected, "")
  if where then
    local place = where == "" and "" or "at " .. where:gsub("^%.", "") .. ": "
    fail(message, place .. "expected " .. shown(e) .. ", got " .. shown(a))
  end
end

--- t.different(actual, other [, message]): not the same value.
function t.different(actual, other, message)
  if not difference(actual, other, "") then
    fail(message, "expected anything but " .. shown(other))
  end
end

--- t.is_true(value [, message]): neither false nor nil.
function t.is_true(value, message)
  if not value then fail(message, "expected a true value, got " .. shown(value)) end
end

--- t.is_false(value [, message]): false or nil.
function t.is_false(value, message)
  if value then fail(message, "expected false or nil, got " .. shown(value)) end
end

--- t.match(text, part [, message]): the text contains the part, letter by letter.
function t.match(text, part, message)
  if type(text) ~= "string" or not text:find(part, 1, true) then
    fail(message, "expected a text with " .. shown(part) .. ", got " .. shown(text))
  end
end

--- t.no_match(text, part [, message]): the text does not contain the part.
function t.no_match(text, part, message)
  if type(text) ~= "string" or text:find(part, 1, true) then
    fail(message, "expected a text without " .. shown(part) .. ", got " .. shown(text))
  end
end

--- t.error(fn [, part]) -> message: the function raises, and its message contains the part.
function t.error(fn, part)
  local ok, raised = pcall(fn)
  if ok then fail(nil, "expected an error, and there was none") end
  raised = tostring(raised)
  if part and not raised:find(part, 1, true) then
    fail(nil, "expected an error with " .. shown(part) .. ", got " .. shown(raised))
  end
  return raised
end

--- t.fail(message): this must not be reached.
function t.fail(message)
  fail(nil, message or "failed")
end

-- -- tables of cases ------------------------------------------------------------------------------

--- What a row is called: its field `name`, else its place in the table.
local function name_of(key, row)
  if type(row) == "table" and type(row.name) == "string" then return row.name end
  return tostring(key)
end

--- t.cases(rows, function(row, name) … end): each row by itself; one that fails stops no other.
function t.cases(rows, body)
  local keys, failed = sorted_keys(rows), 0
  if #keys == 0 then fail(nil, "there are no cases") end
  for _, key in ipairs(keys) do
    local name = name_of(key, rows[key])
    local ok, raised = pcall(body, rows[key], name)
    if not ok then
      failed = failed + 1
      raised = type(raised) == "string" and raised or "raised " .. shown(raised)
    end
    core.case(name, ok, raised)
  end
  if failed > 0 then fail(nil, ("%d of %d cases failed"):format(failed, #keys)) end
end

--- t.attach(name, value): for the JSON report, beside the result of the test or case that runs.
t.attach = core.attach

-- -- the module -----------------------------------------------------------------------------------

--- test(name, function(t) … end)
local function test(name, body)
  if type(name) ~= "string" then error("test: the name must be a text", 2) end
  if type(body) ~= "function" then
    error(("test %s: expected a function, got a %s"):format(quote(name), type(body)), 2)
  end
  core.add(name, body)
end

--- Runs one test: true, or false and why not.
local function run(body, given)
  local ok, raised = pcall(body, given)
  if ok then return true end
  return false, type(raised) == "string" and raised or "raised " .. shown(raised)
end

return test, t, run
