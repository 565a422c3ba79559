--- A primary and a fallback of another model. Both are played; with `key` and `base_url` in the
-- place of `simulate` they are real.
local acog = require "acog"

return acog.gateway {
  listen = "127.0.0.1:4000",
  admin = "127.0.0.1:4001",
  policy = require "resilient",
  connections = {
    acog.connection "primary" {
      channel = "custom",
      dialects = { "chat" },
      models = { bench = { send_id = "primary-1" } },
      simulate = { replies = { { status = 500 }, {} }, cycle = true },
    },
    acog.connection "fallback" {
      channel = "custom",
      priority = 1,
      dialects = { "chat" },
      models = { bench = { send_id = "fb-ok" } },
      simulate = true,
    },
  },
}
