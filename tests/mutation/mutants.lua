--- mutants: one policy with one thing wrong with it.
--
-- A mutant is a change of the policy's evaluated table, named by the path of its field and by what
-- was done there: a number one more, one less or 0, a switch the other way, a word of a closed set
-- the next one of the set, a free text with a byte more or, where that is refused, with one of its
-- %{words} gone; an entry of a list or a named field dropped; two neighbours of a list of steps
-- swapped. Rows that the policy's file writes once and uses twice are two places.
local acog = require "acog"

local m = {}

local left_out = { settlement = true } -- it comes with the ledger
local steps = { filters = true, order = true } -- taken one after the other

--- The fields of the policy that was loaded last.
m.fields = nil

local function is_list(value) return value[1] ~= nil end

local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

--- What an entry of a list is called: a plain one as it is, a row of `classify` by its class and
-- which one of those it is, so that a row more does not give the others other names.
local function entry_name(entries, position)
  local entry = entries[position]
  if type(entry) ~= "table" then return tostring(entry) end
  if not entry.class then return tostring(position) end
  local count = 0
  for i = 1, position do
    if entries[i].class == entry.class then count = count + 1 end
  end
  return count == 1 and entry.class or entry.class .. " " .. count
end

local function name_of(fields, path)
  local text, value = "", fields
  for _, key in ipairs(path) do
    if math.type(key) == "integer" then
      text = text .. "[" .. entry_name(value, key) .. "]"
    elseif key:find("^[%a_][%w_]*$") then
      text = text .. (text == "" and "" or ".") .. key
    else
      text = text .. '["' .. key .. '"]'
    end
    value = value[key]
  end
  return text
end

--- A copy of `value` with what stands at path[at], path[at + 1], … changed; nil drops it, `swap`
-- puts it behind the next one. Only the tables on the way are copied: a row that stands elsewhere
-- too is not touched there.
local function changed(value, path, new, swap, at)
  local copy, key = {}, path[at]
  for name, field in pairs(value) do copy[name] = field end
  if at < #path then
    copy[key] = changed(value[key], path, new, swap, at + 1)
  elseif swap then
    copy[key], copy[key + 1] = value[key + 1], value[key]
  elseif new == nil and is_list(value) then
    table.remove(copy, key)
  else
    copy[key] = new
  end
  return copy
end

--- What a load says of a mutant; nothing when it takes it.
local function refusal_of(list, path, new, swap)
  return list.refusal(changed(list.fields, path, new, swap, 1))
end

local function add(list, path, what, new, swap)
  list[#list + 1] = { path = path, new = new, swap = swap,
    name = name_of(list.fields, path) .. ": " .. what,
    refused = refusal_of(list, path, new, swap) and true or nil }
end

local function shown(value)
  return type(value) == "string" and ('"%s"'):format(value) or tostring(value)
end

local function add_value(list, path, old, new)
  add(list, path, shown(old) .. " -> " .. shown(new), new)
end

local function add_number(list, path, value)
  local seen = { [value] = true }
  for _, new in ipairs { value + 1, value - 1, 0 } do
    if new >= 0 and not seen[new] then add_value(list, path, value, new) end
    seen[new] = true
  end
end

--- The words that a refusal lists as allowed, from the one behind `value` on and around.
local function words_behind(refusal, value)
  local words, start = {}, 0
  for word in (refusal:match("Allowed: ([^\n]*)") or ""):gmatch("[^, ]+") do
    words[#words + 1] = word
    if word == value then start = #words end
  end
  local behind = {}
  for i = 1, #words - 1 do behind[i] = words[(start + i - 1) % #words + 1] end
  return behind
end

--- Each %{word} of a text in its turn; whether there is one.
local function add_form(list, path, value)
  local count = 0
  for first, last in value:gmatch("()%%{[%w_]+()}") do
    count = count + 1
    add(list, path, ("%s, word %d -> x"):format(value:sub(first, last), count),
      value:sub(1, first - 1) .. "x" .. value:sub(last + 1))
  end
  return count > 0
end

local function add_word(list, path, value, refusal)
  for _, word in ipairs(words_behind(refusal, value)) do
    if not refusal_of(list, path, word) then return add_value(list, path, value, word) end
  end
  if not add_form(list, path, value) then add_value(list, path, value, value .. "~") end
end

local function add_text(list, path, value)
  local refusal = refusal_of(list, path, value .. "~")
  if refusal then return add_word(list, path, value, refusal) end
  local start = #value > 20 and "…" .. value:sub(utf8.offset(value, -16)) or value
  add(list, path, shown(start) .. " -> " .. shown(start .. "~"), value .. "~")
end

local add_table

local function add_all(list, path, value)
  if type(value) == "number" then
    add_number(list, path, value)
  elseif type(value) == "boolean" then
    add_value(list, path, value, not value)
  elseif type(value) == "string" then
    add_text(list, path, value)
  elseif type(value) == "table" then
    add_table(list, path, value)
  end
end

function add_table(list, path, value)
  for _, key in ipairs(sorted_keys(value)) do
    if #path > 0 or not left_out[key] then
      local inner = { table.unpack(path) }
      inner[#inner + 1] = key
      add(list, inner, "dropped", nil)
      add_all(list, inner, value[key])
      if #path == 1 and steps[path[1]] and key < #value then
        add(list, inner, ("behind %s"):format(value[key + 1]), nil, true)
      end
    end
  end
end

--- Every mutant of the policy that was loaded last, in an order that is always the same.
-- `refusal(fields)` loads a policy and says why it cannot be.
function m.list(refusal)
  local list = { fields = m.fields, refusal = refusal }
  add_table(list, {}, m.fields)
  list.fields, list.refusal = nil, nil
  return list
end

--- In the place of acog.policy, at the end of a policy's file: a mutant; the policy itself, without
-- a path.
function m.policy(path, new, swap)
  return function(fields)
    m.fields = fields
    return acog.policy(path and changed(fields, path, new, swap, 1) or fields)
  end
end

return m
