--- A policy for one primary and its fallback: what the primary can still mend is asked of it once
-- more, what it cannot goes to the fallback, and nothing waits for long.
local base = require "policies.acog"

return base:with {
  name = "resilient",

  -- The primary first, always; no turns.
  order = { "priority", "catalogue" },
  spread = "none",

  -- Once more in its place, then on: a 429 after the time that it asks for.
  classes = {
    throttled = { same = "first", same_max = 1 },
    server_error = { same = "first", same_max = 1 },
    network = { same = "first", same_max = 1 },
  },
  backoff = { kind = "exponential", min_ms = 200, max_ms = 2000, retry_after_max = 10 },

  -- Seconds. A silent stream is left before its first output, and told after it. Models that think
  -- first may take longer.
  clocks = {
    headers = {
      { stream = true, base = 8 },
      { stream = true, reasoning = true, base = 60 },
      { stream = false, base = 60, per = 20, add = 1, cap = 600 },
    },
    first_output = {
      { stream = true, base = 10 },
      { stream = true, reasoning = true, base = 120 },
    },
    idle = 20,
  },

  refusal = { fallback_model = false },

  -- Two requests that failed in both their attempts, and the primary rests; one request each ten
  -- seconds finds out when it is back.
  health = { key = "connection", threshold = 4, cooldown = 10, cooldown_max = 10 },
}
