--- acog.model: what models take, as data. A translation between dialects asks it (never a request
-- that goes to a connection of the client's own dialect: there the gateway is not the author).
local version = require "acog.version"

local model = {}

-- Words of effort. "none" among them: the model thinks only where it is not told not to.
local low_to_high = { "low", "medium", "high" }
local low_to_xhigh = { "low", "medium", "high", "xhigh" }
local low_to_max = { "low", "medium", "high", "xhigh", "max" }
local medium_to_xhigh = { "medium", "high", "xhigh" }
local minimal_to_high = { "minimal", "low", "medium", "high" }
local none_to_high = { "none", "low", "medium", "high" }
local none_to_xhigh = { "none", "low", "medium", "high", "xhigh" }
local none_to_max = { "none", "low", "medium", "high", "xhigh", "max" }
local none_to_max_but_xhigh = { "none", "low", "medium", "high", "max" }

-- Of every Claude since Opus 4.7: its own sampling only.
local function newer_claude(rules)
  rules.schema = "native"
  rules.thinking = "adaptive"
  rules.temperature = false
  rules.top_k = false
  rules.prefill = false
  rules.largest_output_tokens = 128000
  return rules
end

-- A model is read as acog.version reads it: no stamp, no wrapping, hyphens for dots. The longest
-- prefix that ends where a word ends has the first say; what it does not say, shorter ones do.
local families = {
  -- Anthropic. Without a native schema, a forced tool stands in for it.
  --   limits          platform.claude.com/docs/en/models/overview, and GET /v1/models
  --   thinking        …/build-with-claude/thinking-troubleshooting: which types a model rejects
  --   efforts         …/build-with-claude/effort
  --   system_anywhere …/build-with-claude/mid-conversation-system-messages, and "what's new" of 5.5
  --   forced_tool     …/models/opus-5-5/whats-new-opus-5-5, which says it of Fable 5.1 too
  --   prefill         …/about-claude/models/whats-new-claude-4-6: a 400 from then on
  --   default_output_tokens  no agent of OpenAI's APIs sends a limit, and a file that a call writes
  --                   must fit: as many as Claude Code asks for, or the model's largest if less
  ["claude"] = {
    temperature_max = 1,
    top_k = true,
    prefill = true,
    schema = "tool",
    default_output_tokens = 32000,
  },
  ["claude-2"] = { largest_output_tokens = 4096 },
  ["claude-instant"] = { largest_output_tokens = 4096 },
  ["claude-sonnet-3"] = { largest_output_tokens = 4096 },
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
  ["claude-sonnet-4-6"] = {
    schema = "native",
    thinking = "adaptive",
    efforts = none_to_max_but_xhigh,
    prefill = false,
    largest_output_tokens = 128000,
  },
  ["claude-opus-4-6"] = {
    schema = "native",
    thinking = "adaptive",
    efforts = none_to_max_but_xhigh,
    prefill = false,
    largest_output_tokens = 128000,
  },
  ["claude-opus-4-7"] = newer_claude { efforts = none_to_max },
  ["claude-opus-4-8"] = newer_claude { efforts = none_to_max, system_anywhere = true },
  ["claude-mythos"] = newer_claude { efforts = { "low", "medium", "high", "max" } },
  ["claude-mythos-5"] = { efforts = low_to_max, system_anywhere = true },
  ["claude-fable"] = newer_claude { efforts = low_to_max, system_anywhere = true },
  ["claude-sonnet-5"] = newer_claude { efforts = none_to_max },
  ["claude-opus-5"] = newer_claude { efforts = none_to_max, system_anywhere = true },
  ["claude-haiku-5"] = newer_claude { efforts = none_to_max },
  ["claude-opus-5-5"] = { efforts = low_to_max, forced_tool = false },
  ["claude-sonnet-5-5"] = { efforts = low_to_max, forced_tool = false, system_anywhere = true },
  ["claude-fable-5-1"] = { forced_tool = false },
  ["claude-fable-5-2"] = { forced_tool = false },
  ["claude-mythos-5-1"] = { forced_tool = false },
  ["claude-mythos-5-2"] = { forced_tool = false },
  -- OpenAI: developers.openai.com/api/docs/models, and models.dev for which words of effort
  ["gpt-3-5"] = { largest_output_tokens = 4096, schema = "none" },
  ["gpt-4"] = { largest_output_tokens = 8192, schema = "none" },
  ["gpt-4-turbo"] = { largest_output_tokens = 4096 },
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
  ["gpt-5-codex"] = { efforts = low_to_high },
  ["gpt-5-pro"] = { efforts = { "high" }, largest_output_tokens = 272000 },
  ["gpt-5-1"] = { efforts = none_to_high },
  ["gpt-5-1-codex"] = { efforts = low_to_high },
  ["gpt-5-1-codex-max"] = { efforts = low_to_xhigh },
  ["gpt-5-2-codex"] = { efforts = low_to_xhigh },
  ["gpt-5-chat"] = {
    temperature = true,
    stop = true,
    thinking = "none",
    largest_output_tokens = 16384,
  },
  ["gpt-5-1-chat"] = { efforts = { "medium" }, largest_output_tokens = 16384 },
  ["gpt-5-2-chat"] = { efforts = { "medium" }, largest_output_tokens = 16384 },
  ["gpt-6"] = {
    temperature = false,
    stop = false,
    max_completion_tokens = true,
    thinking = "effort",
    efforts = low_to_max,
    largest_output_tokens = 128000,
  },
  ["gpt-6-sol"] = { efforts = none_to_max },
  ["gpt-6-luna"] = { efforts = none_to_max },
  ["gpt-6-1-terra"] = { efforts = none_to_max },
  -- Google: ai.google.dev/gemini-api/docs/thinking, and GET /v1beta/models for the limits;
  -- penalties: "Penalty is not enabled for this model" (google-gemini/cookbook#1290), but for 2.0
  -- prefill: …/docs/generate-content/whats-new-gemini-3.6: no more from 3.5 Flash-Lite and 3.6 on
  ["gemini"] = { top_k = true, penalties = false, prefill = false, default_output_tokens = 8192 },
  ["gemini-2-0"] = { penalties = true, prefill = true, largest_output_tokens = 8192 },
  ["gemini-2-5"] = { thinking = "budget", prefill = true, largest_output_tokens = 65536 },
  ["gemini-2-5-pro"] = { efforts = minimal_to_high }, -- no "none": it always thinks
  ["gemini-2-5-flash-image"] = { thinking = "none", largest_output_tokens = 32768 },
  ["gemini-3"] = {
    thinking = "effort",
    efforts = minimal_to_high,
    largest_output_tokens = 65536,
  },
  ["gemini-3-pro"] = { efforts = { "low", "high" }, prefill = true },
  ["gemini-3-flash"] = { prefill = true },
  ["gemini-3-1"] = { prefill = true },
  ["gemini-3-1-pro"] = { efforts = low_to_high },
  ["gemini-3-5-flash"] = { prefill = true },
  ["gemini-3-5-flash-lite"] = { prefill = false },
  -- Others that reason
  ["deepseek-reasoner"] = { temperature = false },
  ["gpt-oss"] = { thinking = "effort", efforts = low_to_high },
}

for _, name in ipairs { "gpt-5-2", "gpt-5-3", "gpt-5-4", "gpt-5-5", "gpt-5-6" } do
  families[name] = { efforts = none_to_xhigh }
  families[name .. "-pro"] = { efforts = medium_to_xhigh }
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
