-- The quick start: a whole gateway whose providers are played inside it. No key, no network.
local acog = require "acog"

return acog.gateway {
  listen = "127.0.0.1:4000",
  admin = "127.0.0.1:4001",
  policy = require "policies.acog",

  connections = {
    -- What the Anthropic API serves: /v1/messages. A client that asks for "claude-haiku-4-5" is
    -- served too: ids are matched with or without a version.
    acog.connection "anthropic" {
      dialects = { "messages" },
      maker = "anthropic",
      models = { "claude-haiku-4-5@20251001", "claude-sonnet-4-5" },
      simulate = { text = "Hello! I am a simulated Claude, and no network was used.",
        pace_ms = 40 },
    },

    -- What the OpenAI API serves: /v1/chat/completions and /v1/responses.
    acog.connection "openai" {
      dialects = { "chat", "responses" },
      maker = "openai",
      models = { "gpt-5", "gpt-5-mini" },
      simulate = { text = "Hello! I am a simulated GPT, and no network was used.", pace_ms = 40 },
    },

    -- One model on two connections. The first is asked nearly always (weight) and is always down:
    -- each answer comes from the second, `x-acog-attempts` says 2, and after five failures the
    -- first rests for 30 seconds.
    acog.connection "flaky" {
      channel = "custom",
      weight = 1000,
      models = { "failover-demo" },
      simulate = { status = 503, error = { message = "no capacity left" } },
    },
    acog.connection "steady" {
      channel = "custom",
      models = { "failover-demo" },
      simulate = { text = "The first connection was down, so the second answered.", pace_ms = 40 },
    },
  },
}
