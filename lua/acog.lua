--- acog: the constructors of a configuration and of a policy.
--
-- A constructor only remembers what it was given and where it was called; core/policy checks every
-- field when the whole configuration is there, so that one load tells all that is wrong. What they
-- return is read-only. Each is made by core.at(), which puts the place of the call
-- ("gateway.lua:12") in front of its arguments.
local core = ...

local acog = {}

local function must_be(kind, value, what, place)
  if type(value) ~= kind then
    error(("%s: %s: expected a %s, got a %s"):format(place, what, kind, type(value)), 0)
  end
end

--- acog.env "NAME": a secret that is read from the environment when the configuration is loaded.
-- The value never reaches Lua.
acog.env = core.at(function(place, name)
  must_be("string", name, "acog.env", place)
  return core.object("env", {}, name, nil, place)
end)

--- acog.connection "id" { … }: one way to reach models. acog.connection("id", { … }) is the same.
acog.connection = core.at(function(at_id, id, together)
  if type(id) == "table" then
    error(("%s: acog.connection: the id is missing: acog.connection \"id\" { … }"):format(at_id), 0)
  end
  must_be("string", id, "acog.connection", at_id)
  local function make(place, fields)
    must_be("table", fields, ('acog.connection "%s"'):format(id), place)
    return core.object("connection", fields, id, nil, place)
  end
  if together ~= nil then return make(at_id, together) end
  return core.at(make)
end)

--- acog.gateway { … }: the whole configuration.
acog.gateway = core.at(function(place, fields)
  must_be("table", fields, "acog.gateway", place)
  return core.object("gateway", fields, nil, nil, place)
end)

-- -- filters
-- ------------------------------------------------------------------------------------------

local filter_methods = {}

local function make_filters(list, place)
  return core.object("filters", list, nil, filter_methods, place)
end

--- What a filter is called: a built-in's own name, or the name that a table gives.
local function name_of(filter)
  if type(filter) == "table" then return filter.name end
  return filter
end

local function position_of(filters, name, place)
  local known = {}
  if core.kind(filters) ~= "filters" then
    error(("%s: filters: before, after and without are called with a colon"):format(place), 0)
  end
  must_be("string", name, "filters: the name to go by", place)
  for i, filter in ipairs(filters) do
    if name_of(filter) == name then return i end
    if type(name_of(filter)) == "string" then known[#known + 1] = name_of(filter) end
  end
  error(('%s: filters: there is no "%s" to go by; there are: %s')
    :format(place, tostring(name), table.concat(known, ", ")), 0)
end

local function with_inserted(filters, position, filter)
  local list = {}
  for i, old in ipairs(filters) do list[i] = old end
  table.insert(list, position, filter)
  return list
end

--- filters:before(name, filter): a new list with `filter` in front of the one called `name`.
filter_methods.before = core.at(function(place, self, name, filter)
  return make_filters(with_inserted(self, position_of(self, name, place), filter), place)
end)

--- filters:after(name, filter): a new list with `filter` behind the one called `name`.
filter_methods.after = core.at(function(place, self, name, filter)
  return make_filters(with_inserted(self, position_of(self, name, place) + 1, filter), place)
end)

--- filters:without(name): a new list without the one called `name`.
filter_methods.without = core.at(function(place, self, name)
  local list, position = {}, position_of(self, name, place)
  for i, old in ipairs(self) do
    if i ~= position then list[#list + 1] = old end
  end
  return make_filters(list, place)
end)

-- What other lists have. A list of filters is not changed: it may be a policy's.
for _, name in ipairs { "insert", "add", "append", "remove" } do
  filter_methods[name] = core.at(function(place)
    error(("%s: filters: there is no %s; before(name, filter), after(name, filter) and "
      .. "without(name) return a new list"):format(place, name), 0)
  end)
end

-- -- policies
-- -----------------------------------------------------------------------------------------

local policy_methods = {}

local function make_policy(fields, place)
  local copy = {}
  for key, value in pairs(fields) do copy[key] = value end
  if type(copy.filters) == "table" and core.kind(copy.filters) == nil then
    copy.filters = make_filters(copy.filters, place)
  end
  return core.object("policy", copy, nil, policy_methods, place)
end

--- A table of named fields, as opposed to a list, an object or a plain value.
local function is_record(value)
  return type(value) == "table" and value[1] == nil and core.kind(value) == nil
end

--- A copy of `base` with each field of `changes` in its place, record by record; lists and objects
-- are replaced.
local function merge(base, changes)
  local merged = {}
  for key, value in pairs(base) do merged[key] = value end
  for key, value in pairs(changes) do
    local both = is_record(value) and is_record(merged[key])
    merged[key] = both and merge(merged[key], value) or value
  end
  return merged
end

--- policy:with { … }: a new policy that differs in these fields.
policy_methods.with = core.at(function(place, self, changes)
  if core.kind(self) ~= "policy" then
    error(("%s: policy:with { … } is written with a colon"):format(place), 0)
  end
  must_be("table", changes, "policy:with", place)
  return make_policy(merge(self, changes), place)
end)

--- acog.policy { … }: what is done with a request.
acog.policy = core.at(function(place, fields)
  must_be("table", fields, "acog.policy", place)
  return make_policy(fields, place)
end)

return acog
