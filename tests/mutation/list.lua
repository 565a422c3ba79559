--- list(NAME): a test that hands run.py the mutants of a policy. run.py puts it beside the policy.
local acog = require "acog"
local test = require "acog.test"
local mutants = require "mutants"

--- Something to load a policy with: the rules of a load ask for more than one connection.
local function connections()
  local list = {}
  for i, id in ipairs { "one", "two" } do
    list[i] = acog.connection(id) { models = { "m", "claude-opus-4-8" } }
  end
  return list
end

return function(name)
  require(name)
  test("mutants", function(t)
    t.attach("mutants", mutants.list(function(fields)
      local loads, why = pcall(function()
        t.gateway { policy = acog.policy(fields), connections = connections() }
      end)
      return not loads and why or nil
    end))
  end)
end
