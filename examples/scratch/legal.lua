--- A policy from nothing: each thing that it does is said here, and what is not said is not done.
local acog = require "acog"

--- Whoever says so in a header stays in the EU.
local function stays_in_the_eu(request, candidate)
  if request.header["x-team"] == "legal" and candidate.region ~= "eu" then
    return false, "legal stays in the EU"
  end
  return true
end

return acog.policy {
  name = "legal",
  filters = { "declared", "dialect", { name = "eu only", keep = stays_in_the_eu }, "usable",
    "circuit" },

  -- The cheapest first, by the prices of the models.
  order = { "spread" },
  spread = "cheapest",

  -- Whatever can go wrong has a row: `acog check` names what has none.
  classify = {
    { cause = { "connect", "closed", "cut" }, class = "network" },
    { cause = { "bad_answer", "stream_error" }, class = "bad_answer" },
    { cause = "clock", class = "timeout_full" },
    { cause = "refusal", class = "refusal_200" },
    { status = 429, class = "throttled" },
    { status = "5xx", class = "server_error" },
    { status = "4xx", class = "invalid_request" },
    { cause = "status", class = "bad_answer" }, -- what is left: 1xx and 3xx
  },
  classes = {
    throttled = { move = "next", backoff = "never" },
    server_error = { move = "next", same = "first", same_max = 1, backoff = "same", charge = 1 },
    network = { move = "next", backoff = "never", charge = 1 },
    bad_answer = { move = "next", backoff = "never", charge = 1 },
    timeout_full = { move = "next", backoff = "never", charge = 1, status = 504 },
    died_after_commit = { charge = 1 },
    invalid_request = { relay = "verbatim" },
    refusal_200 = { move = "fallback_model" },
  },
  backoff = { kind = "random", min_ms = 200, max_ms = 200 },

  clocks = { connect = 3, first_output = 5, idle = 10 },
  health = { mode = "exclude", threshold = 3, cooldown = 30 },

  -- On the same connection, so it never leaves the region either.
  refusal = { empty_200 = true, fallback_model = "gpt-5" },

  response_headers = {
    ["x-acog-connection"] = "connection",
    ["x-acog-attempts"] = "attempts",
    ["x-acog-dropped-params"] = "dropped_params", -- what a translation had to leave out
  },
}
