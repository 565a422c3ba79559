--- The same two models in two regions. Both are played; with `key` and `base_url` in the place of
-- `simulate` they are real.
local acog = require "acog"

return acog.gateway {
  listen = "127.0.0.1:4000",
  admin = "127.0.0.1:4001",
  policy = require "legal",
  connections = {
    acog.connection "eu" {
      channel = "custom", region = "eu", maker = "openai", simulate = true,
      models = {
        ["gpt-5-mini"] = { input = 0.3, output = 2.2 },
        ["gpt-5"] = { input = 1.4, output = 11 },
      },
    },
    acog.connection "us" {
      channel = "custom", region = "us", maker = "openai", simulate = true,
      models = {
        ["gpt-5-mini"] = { input = 0.25, output = 2 },
        ["gpt-5"] = { input = 1.25, output = 10 },
      },
    },
  },
}
