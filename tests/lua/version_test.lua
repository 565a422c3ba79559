-- version_test.lua - how model ids are read and when two match (S4.8-S4.10, decision 2, G4.1, B78,
-- B80).
local acog = require "acog"
local test = require "acog.test"
local version = require "acog.version"

local function reads(t, id, model, maker, stamp)
  local read = version.read(id)
  t.equal(read.model, model, id)
  t.equal(read.maker, maker, id)
  t.equal(read.stamp, stamp, id)
end

test("the wrapping of platforms is taken off", function(t)
  reads(t, "claude-haiku-4-5", "claude-haiku-4-5", "anthropic", nil)
  reads(t, "claude-haiku-4-5-20251001", "claude-haiku-4-5", "anthropic", "20251001")
  reads(t, "claude-haiku-4-5@20251001", "claude-haiku-4-5", "anthropic", "20251001")
  reads(t, "claude-opus-4-7@default", "claude-opus-4-7", "anthropic", nil)
  reads(t, "claude-3-5-haiku-latest", "claude-haiku-3-5", "anthropic", nil)
  reads(t, "us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude-haiku-3-5", "anthropic",
    "20241022")
  reads(t, "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "anthropic",
    "20250929")
  reads(t, "anthropic.claude-haiku-4-5@20251001", "claude-haiku-4-5", "anthropic", "20251001")
  reads(t, "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "anthropic", nil)
  reads(t, "publishers/anthropic/models/claude-opus-4-1", "claude-opus-4-1", "anthropic", nil)
  reads(t, "models/gemini-2.5-flash", "gemini-2-5-flash", "google", nil)
  reads(t, "gemini-2.0-flash-lite-001", "gemini-2-0-flash-lite", "google", "001")
  reads(t, "gpt-4o-2024-08-06", "gpt-4o", "openai", "20240806")
  reads(t, "gpt-5.2_2025-12-11", "gpt-5-2", "openai", "20251211")
  reads(t, "gpt-4-0613", "gpt-4", "openai", "0613")
  reads(t, "gpt-35-turbo", "gpt-3-5-turbo", "openai", nil)
  reads(t, "openai.gpt-oss-120b-1:0", "gpt-oss-120b", "openai", nil)
  reads(t, "meta.llama3-3-70b-instruct-v1:0", "llama-3-3-70b-instruct", "meta", nil)
  reads(t,
    "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "claude-haiku-4-5", "anthropic", "20251001")
end)

test("what only looks like a stamp stays", function(t)
  reads(t, "amazon.titan-embed-text-v2:0", "titan-embed-text-v2", "amazon", nil)
  reads(t, "cohere.rerank-v3-5:0", "rerank-v3-5", "cohere", nil)
  reads(t, "anthropic.claude-instant-v1", "claude-instant-v1", "anthropic", nil)
  reads(t, "gpt-4-9999", "gpt-4-9999", "openai", nil)
  reads(t, "model-20251399", "model-20251399", nil, nil)
  reads(t, "qwen3:120b", "qwen3:120b", "qwen", nil)
end)

test("ids of an account only match themselves", function(t)
  for _, id in ipairs { "ft:gpt-4o-mini:acme::abc", "",
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", ("x"):rep(300) } do
    t.equal(version.read(id).model, nil, id)
    t.is_true(version.same(id, id))
    t.is_false(version.same(id, "gpt-4o-mini"))
  end
end)

test("what is no text raises and names the function", function(t)
  t.error(function() version.read(7) end, "version.read: expected a string, got a number")
  t.error(function() version.same("a") end, "version.read: expected a string, got a nil")
end)

test("the module is read-only", function(t)
  t.error(function() version.read = nil end, "read-only")
end)

-- -- pairs
-- ------------------------------------------------------------------------------------------

local function all_same(t, ids)
  for _, a in ipairs(ids) do
    for _, b in ipairs(ids) do t.is_true(version.same(a, b), a .. " and " .. b) end
  end
end

test("every spelling of one model matches every other (S4.8, B80)", function(t)
  all_same(t, {
    "claude-sonnet-4-5", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-latest", "claude-sonnet-4-5@default",
    "apac.anthropic.claude-sonnet-4-5", "au.anthropic.claude-sonnet-4-5",
      "jp.anthropic.claude-sonnet-4-5",
  })
  all_same(t, { "claude-opus-4-0", "claude-opus-4", "claude-opus-4-20250514",
    "claude-4-opus-20250514" })
end)

test("a match never crosses family, version or stamp (S4.10, G4.1)", function(t)
  for _, pair in ipairs {
    { "claude-haiku-4-5", "claude-sonnet-4-5" },
    { "claude-haiku-4-5", "claude-haiku-3-5" },
    { "claude-3-5-sonnet", "claude-3-7-sonnet" },
    { "claude-sonnet-4-5", "claude-sonnet-4-6" },
    { "claude-opus-4", "claude-opus-4-1" },
    { "claude-opus-4-20250514", "claude-opus-4-1-20250805" },
    { "claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20241022" },
    { "claude-haiku-4-5@20251001", "claude-haiku-4-5-20250101" },
    { "gpt-4o", "gpt-4o-mini" },
    { "gpt-4", "gpt-4.1" },
    { "gpt-4", "gpt-4o" },
    { "gpt-4o", "gpt-4o-audio-preview" },
    { "gpt-4o-2024-08-06", "gpt-4o-2024-11-20" },
    { "o1", "o1-mini" },
    { "gemini-2.5-flash", "gemini-2.5-flash-lite" },
    { "gemini-2.5-flash", "gemini-2.5-flash-preview-09-2025" },
    { "meta/llama-3", "groq/llama-3" },
    { "acme/m", "m" },
  } do
    t.is_false(version.same(pair[1], pair[2]), pair[1] .. " and " .. pair[2])
    t.is_false(version.same(pair[2], pair[1]), pair[2] .. " and " .. pair[1])
  end
end)

test("minor = true loosens the minor version and nothing else (decision 2)", function(t)
  local loosely = { minor = true }
  t.is_true(version.same("claude-sonnet-4-5", "claude-sonnet-4-6", loosely))
  t.is_true(version.same("gpt-4", "gpt-4.1", loosely))
  t.is_true(version.same("gpt-4.1-mini", "gpt-4-mini", loosely))
  t.is_false(version.same("claude-sonnet-4-5", "claude-sonnet-5", loosely))
  t.is_false(version.same("gpt-4.1", "gpt-4.1-mini", loosely))
  t.is_false(version.same("claude-haiku-4-5", "claude-sonnet-4-5", loosely))
end)

-- -- matchers
-- ---------------------------------------------------------------------------------------

local function declare(ids)
  local declared = {}
  for i, id in ipairs(ids) do
    declared[i] = { id = id, connection = "c" .. i, channel = "direct" }
  end
  return declared
end

local function ids_of(entries)
  local ids = {}
  for i, entry in ipairs(entries) do ids[i] = entry.id end
  return ids
end

local function reversed(list)
  local other = {}
  for i = #list, 1, -1 do other[#other + 1] = list[i] end
  return other
end

test("the longest family wins in every order of what is declared (B78)", function(t)
  local ids = { "gpt-4o", "gpt-4o-mini", "o1", "o1-mini", "claude-opus-4", "claude-opus-4-5" }
  for _, order in ipairs { ids, reversed(ids) } do
    local find = version.loose(declare(order), {})
    for _, case in ipairs {
      { "gpt-4o-mini-2024-07-18", "gpt-4o-mini" }, { "gpt-4o-2024-08-06", "gpt-4o" },
      { "o1-mini-2024-09-12", "o1-mini" }, { "claude-opus-4-5-20251101", "claude-opus-4-5" },
      { "claude-opus-4-20250514", "claude-opus-4" }, { "gpt-4o-audio-preview", nil },
    } do
      t.equal(ids_of(find(case[1])), { case[2] }, case[1])
    end
  end
end)

test("an exact id wins over a loose one on its connection", function(t)
  local declared = {
    { id = "claude-haiku-4-5@20251001", connection = "a" },
    { id = "claude-haiku-4-5", connection = "a" },
    { id = "claude-haiku-4-5-20251001", connection = "b" },
  }
  local find = version.loose(declared, {})
  t.equal(ids_of(find "claude-haiku-4-5"), { "claude-haiku-4-5", "claude-haiku-4-5-20251001" })
  t.equal(ids_of(find "claude-haiku-4-5@20251001"), { "claude-haiku-4-5@20251001",
    "claude-haiku-4-5-20251001" })
  t.equal(ids_of(find "anthropic/claude-haiku-4.5"), { "claude-haiku-4-5",
    "claude-haiku-4-5-20251001" })
  t.equal(declared[1].family, "claude-haiku-4-5")
  t.equal(declared[1].maker, "anthropic")
end)

test("of two stamps on one connection the newest answers an id without one", function(t)
  local find = version.loose({
    { id = "claude-3-5-sonnet-20240620", connection = "a" },
    { id = "claude-3-5-sonnet-20241022", connection = "a" },
  }, {})
  t.equal(ids_of(find "claude-3-5-sonnet"), { "claude-3-5-sonnet-20241022" })
  t.equal(ids_of(find "claude-3-5-sonnet@20240620"), { "claude-3-5-sonnet-20240620" })
  t.equal(ids_of(find "claude-3-5-sonnet@20230101"), {})
end)

test("exact matches the same text, and a dated snapshot where asked for (S0.7, S0.8)", function(t)
  local find = version.exact(declare { "claude-haiku-4-5" }, {})
  t.equal(ids_of(find "claude-haiku-4-5"), { "claude-haiku-4-5" })
  t.equal(ids_of(find "claude-haiku-4-5-20251001"), {})
  find = version.exact(declare { "claude-haiku-4-5" }, { snapshot = true })
  t.equal(ids_of(find "claude-haiku-4-5-20251001"), { "claude-haiku-4-5" })
  t.equal(ids_of(find "claude-haiku-4-5-latest"), {})
end)

test("options that are not known raise", function(t)
  t.error(function() version.loose({}, { miner = true }) end,
    "match.miner: version.loose knows no such option")
  t.error(function() version.loose({}, { minor = 1 }) end, "match.minor: must be true or false")
  t.error(function() version.exact({}, { minor = true }) end, "version.exact knows no such option")
end)

test("what is sent is what was declared, byte for byte (S4.9, B80)", function(t)
  local gw = t.gateway {
    policy = require "policies.acog",
    connections = {
      acog.connection "bedrock" {
        channel = "bedrock", models = { "us.anthropic.claude-sonnet-4-5-20250929-v1:0" },
      },
    },
  }
  local reply = gw:post("/v1/messages",
    { model = "anthropic/claude-sonnet-4.5", max_tokens = 5, messages = t.hello })
  t.equal(reply.status, 200)
  t.equal(reply.model, "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
  t.equal(reply.header["x-acog-resolved-model"], "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
end)
