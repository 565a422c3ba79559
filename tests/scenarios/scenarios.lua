--- scenarios: one table a story, played twice: in the simulator (stories_test.lua), and over real
-- sockets between two processes (live.py), where it takes a hundredth of the time. What a client
-- sees must be the same.
--
-- A story has
--   name
--   connections  list of { id =, plays = what the provider does, in the words of `simulate` },
--                with further fields of acog.connection
--   requests     list of { path =, body =, after = seconds since the one before }
--   with         what differs from the policy, or nil
local acog = require "acog"

local m = {}

--- The policies' own seconds, where a story waits for them; milliseconds of `backoff` likewise.
local timed = { "clocks", "last_floor", "backoff", "health", "on_client_close" }

--- Fields of these that are no time.
local untimed = { per = true, threshold = true, factor = true, max_output_tokens = true }

--- The same table with all its times divided; flags and words as they are.
local function divided(value, by, key)
  if type(value) == "number" then
    if untimed[key] then return value end
    if type(key) == "string" and key:find("_ms$") then return math.ceil(value / by) end
    return value / by
  end
  if type(value) ~= "table" then return value end
  local copy = {}
  for name, field in pairs(value) do
    -- A row of a list, or a clock: its plain number is a time; in a row only `base`, `add` and
    -- `cap` are.
    copy[name] = divided(field, by, name)
  end
  return copy
end

--- The policy of a story, at a `by`-th of its times.
function m.policy(name, story, by)
  local policy = require("policies." .. name)
  if story.with then policy = policy:with(story.with) end
  if by == 1 then return policy end
  local faster = {}
  for _, field in ipairs(timed) do faster[field] = divided(policy[field], by, field) end
  return policy:with(faster)
end

--- What a provider plays, at a `by`-th of its times. Its text names the connection.
function m.plays(connection, by)
  local function one(words)
    local played = divided(words, by, nil)
    for name, value in pairs(words) do
      if type(value) == "number" and not name:find("_ms$") then played[name] = value end
      if name == "error" or name == "headers" or name == "usage" then played[name] = value end
    end
    played.text = played.text or "Hello from " .. connection.id .. "."
    return played
  end
  local plays = connection.plays or {}
  if #plays == 0 then return one(plays) end
  local list = {}
  for i, words in ipairs(plays) do list[i] = one(words) end
  return { replies = list }
end

--- The connections of a story: played by the gateway itself, or at the addresses given.
function m.connections(story, addresses)
  local list = {}
  for _, connection in ipairs(story.connections) do
    local fields = { dialects = { "chat", "messages", "responses" }, maker = "anthropic" }
    for name, value in pairs(connection) do
      if name ~= "id" and name ~= "plays" then fields[name] = value end
    end
    -- The id that is sent tells the provider of the live run which of its connections is meant.
    fields.models = { m = { send_id = story.key .. "-" .. connection.id } }
    if addresses then
      fields.base_url = addresses[connection.id]
    else
      fields.simulate = m.plays(connection, 1)
    end
    list[#list + 1] = acog.connection(connection.id)(fields)
  end
  return list
end

--- The gateway of the live run.
function m.live(policy, story, addresses, by)
  return acog.gateway {
    listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
    policy = m.policy(policy, story, by),
    connections = m.connections(story, addresses),
  }
end

--- The provider of the live run: every connection of every story, and a policy that passes on what
-- comes.
function m.provider(stories, by)
  local list = {}
  for _, story in ipairs(stories) do
    for _, connection in ipairs(story.connections) do
      local id = story.key .. "-" .. connection.id
      list[#list + 1] = acog.connection(id) {
        dialects = { "chat", "messages", "responses" }, maker = "anthropic",
        models = { id },
        simulate = m.plays(connection, by),
      }
    end
  end
  local as_it_came = { event = "verbatim", lost = "close" }
  return acog.gateway {
    listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1, connections = list,
    policy = acog.policy {
      name = "provider",
      classify = { { cause = "status", class = "invalid_request" } },
      classes = {
        invalid_request = {
          relay = "verbatim", retry_after = "upstream", retry_after_max = 3600,
        },
      },
      attempts = { max = 1 },
      commit = { hold_until = "headers", whole = "headers" },
      stream_error = { chat = as_it_came, messages = as_it_came, responses = as_it_came },
    },
  }
end

return m
