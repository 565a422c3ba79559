--- acog.model: what models take, as data. A translation between dialects asks it (never a request
-- that goes to a connection of the client's own dialect: there the gateway is not the author).
local version = require "acog.version"

local model = {}

local low_to_high = { "low", "medium", "high" }
local minimal_to_high = { "minimal", "low", "medium", "high" }
local none_to_xhigh = { "none", "low", "medium", "high", "xhigh" }
local low_to_max = { "low", "medium", "high", "max" }
local low_to_xhigh_max = { "low", "medium", "high", "xhigh", "max" }

-- A model is read as acog.version reads it: no stamp, no wrapping, hyphens for dots. The longest
-- prefix that ends where a word ends has the first say; what it does not say, shorter ones do.
local families = {
  -- Anthropic. Without a native schema, a forced tool stands in for it.
  ["claude"] = { temperature_max = 1, top_k = true, schema = "tool", default_output_tokens = 4096 },
  ["claude-haiku-3"] = { largest_output_tokens = 4096 },
  ["claude-opus-3"] = { largest_output_tokens = 4096 },
  ["claude-haiku-3-5"] = { largest_output_tokens = 8192 },
  ["claude-sonnet-3-5"] = { largest_output_tokens = 8192 },
  ["claude-sonnet-3-7"] = { thinking = "budget", largest_output_tokens = 64000 },
  ["claude-opus-4"] = { thinking = "budget", largest_output_tokens = 32000 },
  ["claude-sonnet-4"] = { thinking = "budget", largest_output_tokens = 64000 },
  ["claude-haiku-4-5"] = { thinking = "budget", schema = "native", largest_output_tokens = 64000 },
  ["claude-sonnet-4-5"] = { schema = "native" },
  ["claude-opus-4-1"] = { schema = "native" },
  ["claude-opus-4-5"] = { schema = "native", largest_output_tokens = 64000 },
  ["claude-sonnet-4-6"] = { schema = "native", thinking = "adaptive", efforts = low_to_max },
  ["claude-opus-4-6"] = {
    schema = "native",
    thinking = "adaptive",
    efforts = low_to_max,
    largest_output_tokens = 128000,
  },
  -- From here on: no sampling, and a system turn may stand between the others.
  ["claude-opus-4-7"] = {
    schema = "native",
    thinking = "adaptive",
    efforts = low_to_xhigh_max,
    temperature = false,
    top_k = false,
    system_anywhere = true,
    largest_output_tokens = 128000,
  },
  -- OpenAI
  ["gpt-3-5"] = { largest_output_tokens = 4096, schema = "none" },
  ["gpt-4"] = { largest_output_tokens = 4096, schema = "none" },
  ["gpt-4o"] = { largest_output_tokens = 16384, schema = "native" },
  ["gpt-4-1"] = { largest_output_tokens = 32768, schema = "native" },
  ["gpt-5"] = {
    temperature = false,
    stop = false,
    max_completion_tokens = true,
    thinking = "effort",
    efforts = minimal_to_high,
    largest_output_tokens = 128000,
  },
  ["gpt-5-1"] = { efforts = { "none", "low", "medium", "high" } },
  ["gpt-5-chat"] = {
    temperature = true,
    stop = true,
    thinking = "none",
    largest_output_tokens = 16384,
  },
  -- Google
  ["gemini"] = { top_k = true, default_output_tokens = 8192 },
  ["gemini-2-0"] = { largest_output_tokens = 8192 },
  ["gemini-2-5"] = { thinking = "budget", largest_output_tokens = 65535 },
  ["gemini-2-5-pro"] = { efforts = minimal_to_high }, -- no "none": it always thinks
  ["gemini-3"] = {
    thinking = "effort",
    efforts = { "low", "high" },
    largest_output_tokens = 65535,
  },
  ["gemini-3-flash"] = { efforts = minimal_to_high },
  -- Others that reason
  ["deepseek-reasoner"] = { temperature = false },
  ["gpt-oss"] = { thinking = "effort", efforts = low_to_high },
}

for _, name in ipairs { "gpt-5-2", "gpt-5-4", "gpt-5-5", "gpt-5-6" } do
  families[name] = { efforts = none_to_xhigh }
end
for _, name in ipairs {
  "claude-opus-4-8",
  "claude-sonnet-5",
  "claude-opus-5",
  "claude-haiku-5",
  "claude-fable-5",
} do
  families[name] = families["claude-opus-4-7"]
end
for _, name in ipairs { "o1", "o3", "o4" } do
  families[name] = {
    temperature = false,
    stop = false,
    max_completion_tokens = true,
    thinking = "effort",
    efforts = low_to_high,
    largest_output_tokens = 100000,
  }
end

-- The words before a hyphen, longest first: "a-b-c", "a-b", "a".
local function prefixes(name)
  local list = { name }
  for at = #name, 1, -1 do
    if name:sub(at, at) == "-" then
      list[#list + 1] = name:sub(1, at - 1)
    end
  end
  return list
end

--- What is known of a model by its id, in any spelling: a table with some of the fields of a
-- model's `rules` (lua/model.md), empty when nothing is known. May be called at load.
function model.rules(id)
  local rules = {}
  local name = version.read(id).model
  if name == nil then
    return rules
  end
  for _, prefix in ipairs(prefixes(name)) do
    for field, value in pairs(families[prefix] or {}) do
      if rules[field] == nil then
        rules[field] = value
      end
    end
  end
  return rules
end

return model
