--- Plays each story under each policy in the simulator, and hands what the client saw to live.py.
local test = require "acog.test"
local scenarios = require "scenarios"
local stories = require "stories"

--- All of a story that the live run needs, without what only Lua can hold.
local function told(story, key)
  return { key = key, name = story.name, connections = story.connections, requests = story.requests,
    with = story.with }
end

local function seen(reply)
  return {
    status = reply.status, header = reply.header, body = reply.body, complete = reply.complete,
  }
end

for _, policy in ipairs { "acog", "routerplus", "rolter", "kontinent", "onerouter" } do
  for number, story in ipairs(stories) do
    test(policy .. ": " .. story.name, function(t)
      local key = ("%s-%d"):format(policy, number)
      story = told(story, key)
      local gw = t.gateway {
        policy = scenarios.policy(policy, story, 1),
        connections = scenarios.connections(story),
      }
      local replies = {}
      for i, request in ipairs(story.requests) do
        gw:advance(request.after or 0)
        local id = ("%s-%d"):format(key, i)
        local reply = gw:post(request.path, request.body, { ["x-request-id"] = id })
        t.is_true(reply.over)
        replies[i] = seen(reply)
      end
      t.attach("policy", policy)
      t.attach("story", story)
      t.attach("replies", replies)
    end)
  end
end
