--- acog.version: how a model id is read, and when two ids mean the same model.
--
-- An id is a model in some wrapping: "us.anthropic.claude-haiku-4-5-20251001-v1:0" is the model
-- claude-haiku-4-5 of anthropic with the stamp 20251001. Two ids match loosely when maker and model
-- (family, major and minor version) are equal and their stamps are not two different ones (S4.8,
-- S4.10; CONFORMANCE, decision 2). Everything here runs when a configuration is loaded, and once
-- for each new id that a client asks for.

local version = {}

local ID_BYTES_MAX = 200 -- of an id that is read; longer ones only match themselves

-- Before a dot these are makers, as in "anthropic.claude-…"; any other dot belongs to a version.
local dotted_makers = {}
for maker in ([[ai21 amazon anthropic cohere deepseek google luma meta minimax mistral moonshot
                moonshotai nvidia openai qwen stability twelvelabs writer zai ]]):gmatch("%S+") do
  dotted_makers[maker] = true
end

-- One maker, several spellings.
local maker_spellings = {
  ["deepseek-ai"] = "deepseek", ["meta-llama"] = "meta", mistralai = "mistral",
  moonshotai = "moonshot", ["x-ai"] = "xai", ["z-ai"] = "zai",
}

-- Whose a model is when its id does not say. The first that fits.
local makers_by_prefix = {
  { "claude", "anthropic" },
  { "gpt-", "openai" }, { "chatgpt-", "openai" }, { "o1", "openai" }, { "o3", "openai" },
  { "o4", "openai" }, { "codex-", "openai" }, { "text-embedding-", "openai" },
  { "dall-e-", "openai" }, { "whisper-", "openai" }, { "tts-", "openai" },
  { "computer-use-", "openai" }, { "omni-moderation", "openai" },
  { "gemini", "google" }, { "gemma", "google" },
  { "llama", "meta" },
  { "nova-", "amazon" }, { "titan-", "amazon" },
  { "mistral", "mistral" }, { "ministral", "mistral" }, { "mixtral", "mistral" },
  { "codestral", "mistral" }, { "pixtral", "mistral" }, { "magistral", "mistral" },
  { "devstral", "mistral" },
  { "command-", "cohere" }, { "embed-", "cohere" }, { "rerank-", "cohere" },
  { "grok-", "xai" }, { "deepseek", "deepseek" }, { "qwen", "qwen" }, { "qwq", "qwen" },
  { "kimi", "moonshot" }, { "glm-", "zai" }, { "jamba", "ai21" }, { "palmyra", "writer" },
  { "sonar", "perplexity" },
}

local regions = { "us-gov", "us", "eu", "apac", "au", "jp", "global" }

-- -- wrapping
-- -----------------------------------------------------------------------------------------

--- Takes "us.", "anthropic." from the front. Returns what is left and the maker, if one was named.
local function without_dotted_front(id)
  local maker, rest = id:match("^([%w-]+)%.(.+)$")
  if maker and dotted_makers[maker] then return rest, maker end
  for _, region in ipairs(regions) do
    if maker == region then
      local inner, inner_rest = rest:match("^([%w-]+)%.(.+)$")
      if inner and dotted_makers[inner] then return inner_rest, inner end
    end
  end
  return id, nil
end

--- Takes every prefix of platforms and makers from the front. nil: an id that means something only
-- as it is (a fine-tuned model, an account's own profile).
local function without_front(id)
  if id:find("^ft:") then return nil end
  if id:find("^arn:") then
    id = id:match("[:/]inference%-profile/(.+)$") or id:match("[:/]foundation%-model/(.+)$")
    if id == nil then return nil end
  end
  local maker, rest = id:match("^publishers/([^/]+)/models/(.+)$")
  if maker == nil then
    rest = id:match("^models/(.+)$") or id
    local named, name = rest:match("([^/]+)/([^/]+)$")
    if named then maker, rest = named, name end
  end
  local inner, inner_maker = without_dotted_front(rest)
  return inner, inner_maker or maker
end

-- -- stamps
-- -------------------------------------------------------------------------------------------

local function is_month_and_day(month, day)
  month, day = tonumber(month), tonumber(day)
  return month >= 1 and month <= 12 and day >= 1 and day <= 31
end

--- "0613" and "2411": month and day, or year and month, as makers stamp them.
local function is_short_date(digits)
  local first, second = digits:sub(1, 2), digits:sub(3, 4)
  local year = tonumber(first)
  return is_month_and_day(first, second) or (year >= 23 and year <= 39 and is_month_and_day(second,
    1))
end

--- Splits a date from the end: "claude-haiku-4-5-20251001" -> "claude-haiku-4-5", "20251001".
local function split_date(id)
  local base, year, month, day = id:match("^(.+)[-_@](20%d%d)%-?(%d%d)%-?(%d%d)$")
  if base and is_month_and_day(month, day) then return base, year .. month .. day end
  base, month, year = id:match("^(.+)%-(%d%d)%-(20%d%d)$")
  if base and is_month_and_day(month, 1) then return base, year .. month end
  base, month, day = id:match("^(.+%-preview)%-(%d%d)%-(%d%d)$")
  if base and is_month_and_day(month, day) then return base, month .. day end
  local digits
  base, digits = id:match("^(.+)%-(%d%d%d%d)$")
  if base and is_short_date(digits) then return base, digits end
  return id, nil
end

--- Splits any stamp from the end: a date, "@…", "-latest", and Google's "-001".
local function split_stamp(id, maker)
  local base, stamp = split_date(id)
  if stamp then return base, stamp end
  base, stamp = id:match("^(.+)@([%w.-]+)$")
  if base then
    if stamp == "default" or stamp == "latest" then stamp = nil end
    return base, stamp
  end
  if id:find(".%-latest$") then return id:sub(1, -8), nil end
  base, stamp = id:match("^(.+)%-(0%d%d)$")
  if base and (maker == "google" or id:find("^gemini")) then return base, stamp end
  return id, nil
end

--- Takes the platform's revision from the end, "-v1:0". Where nothing else tells versions apart it
-- is one itself ("titan-embed-text-v2:0"), and stays.
local function split_revision(id, maker)
  local base, revision = id:match("^(.+)%-v(%d+):0$")
  if base == nil then base, revision = id:match("^(.+%a)%-(1):0$") end
  local colon = base ~= nil
  if base == nil then base, revision = id:match("^(.+)%-v(%d+)$") end
  if base == nil then return split_stamp(id:match("^(.+%d):0$") or id, maker) end
  local unstamped, stamp = split_stamp(base, maker)
  if stamp or (colon and revision == "1") then return unstamped, stamp end
  return base .. "-v" .. revision, nil
end

-- -- the model
-- ----------------------------------------------------------------------------------------

--- claude-3-5-haiku and claude-haiku-3.5, claude-opus-4-0 and claude-opus-4: one spelling for each.
local function claude_in_order(model)
  local tier, numbers = nil, {}
  for part in model:sub(#"claude-" + 1):gmatch("[^-]+") do
    if part:find("^%d+$") then
      numbers[#numbers + 1] = part
    elseif tier == nil and part:find("^%a+$") then
      tier = part
    else
      return model -- something more than tier and version: left as it is
    end
  end
  if tier == nil or #numbers == 0 then return model end
  if #numbers == 2 and numbers[2] == "0" then numbers[2] = nil end
  return "claude-" .. tier .. "-" .. table.concat(numbers, "-")
end

local function canonical(model)
  model = model:gsub("(%d)%.%f[%d]", "%1-") -- 4.5 is 4-5
  model = model:gsub("^gpt%-35%f[^%d]", "gpt-3-5") -- Azure's spelling
  model = model:gsub("^llama(%d)", "llama-%1")
  if model:find("^claude%-") then return claude_in_order(model) end
  return model
end

local function maker_of(model)
  for _, rule in ipairs(makers_by_prefix) do
    if model:sub(1, #rule[1]) == rule[1] then return rule[2] end
  end
  return nil
end

--- version.read(id) -> { model, maker, stamp }; model is nil for an id that only matches itself.
function version.read(id)
  if type(id) ~= "string" then error("version.read: expected a string, got a " .. type(id), 2) end
  if #id == 0 or #id > ID_BYTES_MAX then return {} end
  local rest, maker = without_front(id:lower())
  if rest == nil then return {} end
  local base, stamp = split_revision(rest, maker)
  maker = maker and (maker_spellings[maker] or maker) or maker_of(base)
  return { model = canonical(base), maker = maker, stamp = stamp }
end

--- Where loosely equal ids meet: maker and model, with the minor version taken out when it does not
-- count.
local function key_of(read, minor_is_loose)
  if read.model == nil then return nil end
  local model = read.model
  if minor_is_loose then
    model = model:gsub("%-(%d%d?)%-%d%d?%f[^%w]", "-%1", 1)
  end
  return (read.maker or "") .. "/" .. model
end

--- How well a declared id answers an asked one: 3 the same text, 2 the same stamp (or both none), 1
-- only one of them has a stamp, nil two different stamps.
local function closeness(asked_id, asked, declared_id, declared)
  if asked_id == declared_id then return 3 end
  if asked.stamp == declared.stamp then return 2 end
  if asked.stamp == nil or declared.stamp == nil then return 1 end
  return nil
end

--- version.same(a, b [, options]) -> whether the two ids match loosely.
function version.same(a, b, options)
  local read_a, read_b = version.read(a), version.read(b)
  if a == b then return true end
  local minor = options ~= nil and options.minor == true
  local key = key_of(read_a, minor)
  return key ~= nil and key == key_of(read_b, minor) and closeness(a, read_a, b, read_b) ~= nil
end

-- -- matchers: made once from what is declared
-- ------------------------------------------------------

local function check_options(options, allowed, name)
  for key in pairs(options) do
    if key ~= "by" and not allowed[key] then
      error(("match.%s: %s knows no such option"):format(tostring(key), name), 0)
    end
    if key ~= "by" and type(options[key]) ~= "boolean" then
      error(("match.%s: must be true or false"):format(key), 0)
    end
  end
end

local function add(lists, key, value)
  if key ~= nil then
    lists[key] = lists[key] or {}
    table.insert(lists[key], value)
  end
end

--- Of two entries on one connection, whether `new` answers better; the newest stamp when they are
-- equally close.
local function is_better(new, old)
  if new.close ~= old.close then return new.close > old.close end
  return (new.read.stamp or "") > (old.read.stamp or "")
end

--- The rows of each connection's closest id, among those that share the asked id's key.
local function closest(rows, model, asked)
  local best = {}
  for _, row in ipairs(rows) do
    local close = closeness(model, asked, row.entry.id, row.read)
    local new = close and { close = close, read = row.read, row = row }
    local old = best[row.entry.connection]
    if new and (old == nil or is_better(new, old)) then best[row.entry.connection] = new end
  end
  return best
end

--- version.loose: the matcher of the default policy (S4.8). On each connection the closest id
-- answers, and an exact one wins over a loose one; the connections stand in the order of the
-- configuration. `minor = true` lets the minor version differ.
function version.loose(declared, options)
  check_options(options, { minor = true }, "version.loose")
  local by_key, by_id = {}, {}
  for _, entry in ipairs(declared) do
    local read = version.read(entry.id)
    entry.family = read.model
    entry.maker = entry.maker or read.maker
    local row = { entry = entry, read = read }
    local key = key_of(read, options.minor)
    if key then add(by_key, key, row) else add(by_id, entry.id, row) end
  end
  return function(model)
    local asked = version.read(model)
    local key = key_of(asked, options.minor)
    local rows = key and by_key[key] or by_id[model] or {}
    local best, reached = closest(rows, model, asked), {}
    for _, row in ipairs(rows) do
      local chosen = best[row.entry.connection]
      if chosen and chosen.row == row then reached[#reached + 1] = row.entry end
    end
    return reached
  end
end

--- version.exact: an id matches itself. `snapshot = true`: a dated snapshot of a declared id
-- matches it too (S0.8).
function version.exact(declared, options)
  check_options(options, { snapshot = true }, "version.exact")
  local by_id = {}
  for _, entry in ipairs(declared) do
    entry.family = entry.id
    add(by_id, entry.id, entry)
  end
  return function(model)
    if by_id[model] == nil and options.snapshot and #model <= ID_BYTES_MAX then
      model = split_date(model)
    end
    return by_id[model] or {}
  end
end

return version
