--- Sixteen ways in which a provider goes wrong, and what a gateway should make of each. A row has
--   name, verdict  the best an honest gateway can have: "pass" or "safe"
--   primary        what the primary plays, in the words of `simulate`; a list: one after the other
--   fallback       likewise; left out: a good answer
--   ends           "error" where the right end is the provider's own error; else it is an answer
--   play           instead of one call: function(run, call), makes the calls itself
--   checks         function(run, must, should), what else has to hold: a `must` that does not is a
--                  fail, a `should` makes a pass partial
local m = {}

local TOKENS = 60
local PACE_MS = 50

local function sixty(letter)
  local words = {}
  for i = 1, TOKENS do words[i] = letter .. i end
  return table.concat(words, " ")
end

local ANSWERS = { primary = sixty "p", fallback = sixty "f" }

--- One reply's words, with sixty tokens of the connection where they say no text.
local function reply(id, words)
  local played = { text = ANSWERS[id], pace_ms = PACE_MS, usage = { input = 7, output = TOKENS } }
  for name, value in pairs(words) do played[name] = value end
  return played
end

local function plays(id, words)
  if words == nil or #words == 0 then return reply(id, words or {}) end
  local list = {}
  for i, one in ipairs(words) do list[i] = reply(id, one) end
  return list
end

-- -- what came ------------------------------------------------------------------------------------

local function finish_reason(answer)
  for _, event in ipairs(answer.events or {}) do
    local choice = type(event.data) == "table" and event.data.choices and event.data.choices[1]
    local reason = choice and choice.finish_reason
    if type(reason) == "string" then return reason end
  end
  return nil
end

--- The error that the client was told, of a body or of a stream.
local function told_error(answer)
  if answer.json then return answer.json.error end
  local last = answer.events and answer.events[#answer.events]
  return last and type(last.data) == "table" and last.data.error or nil
end

local function is_whole(answer)
  return answer.status == 200 and answer.complete and told_error(answer) == nil
    and finish_reason(answer) == "stop"
    and (answer.text == ANSWERS.primary or answer.text == ANSWERS.fallback)
end

--- One clear error, in time, and nothing that looks like the end of an answer.
local function is_clean_error(answer)
  local problem = told_error(answer)
  return answer.over and problem ~= nil and type(problem.message) == "string"
    and answer.complete and finish_reason(answer) == nil
    and answer.body:find("[DONE]", 1, true) == nil
end

local function attempts_before(answer, ms)
  local count = 0
  for _, attempt in ipairs(answer.attempts) do
    if attempt.at_ms < ms then count = count + 1 end
  end
  return count
end

local function has_usage(answer)
  return answer.usage ~= nil and answer.body:find('"completion_tokens":' .. TOKENS, 1, true) ~= nil
end

local function one_attempt(run, must, code)
  must(#run.answer.attempts == 1 and run.fallback.count == 0, "one attempt")
  must(run.answer.status == 400 and told_error(run.answer).code == code, "the reason is told")
end

-- -- the sixteen ----------------------------------------------------------------------------------

local down = { status = 503 }

m.rows = {
  S01 = {
    name = "429 with Retry-After: 2 once", verdict = "pass",
    primary = { { status = 429, headers = { ["retry-after"] = "2" } }, {} },
    checks = function(run, must, should)
      local second = run.answer.attempts[2]
      must(attempts_before(run.answer, 1500) <= 2, "at most 2 attempts in 1.5 s")
      should(run.primary.count == 2 and second.at_ms >= 1800, "the primary again after 1.8 s")
    end,
  },
  S02 = {
    name = "429 always, without Retry-After", verdict = "pass",
    primary = { status = 429 },
    checks = function(run, must)
      must(run.answer.connection == "fallback", "the fallback answers")
      must(attempts_before(run.answer, 3000) <= 4, "at most 4 attempts in 3 s")
      must(#run.answer.attempts <= 6, "at most 6 attempts")
      must(run.answer.attempts[2].at_ms > 0, "it backs off")
    end,
  },
  S03 = {
    name = "500 once", verdict = "pass",
    primary = { { status = 500 }, {} },
    checks = function(run, _, should)
      should(run.primary.count == 2 and run.fallback.count == 0, "once more on the primary")
    end,
  },
  S04 = {
    name = "503 always", verdict = "pass",
    primary = down,
    checks = function(run, must)
      must(run.answer.connection == "fallback", "the fallback answers")
      must(#run.answer.attempts <= 6, "at most 6 attempts")
    end,
  },
  S05 = {
    name = "a connection that is reset before any byte, once", verdict = "pass",
    primary = { { reset = "head" }, {} },
  },
  S06 = {
    name = "accepts, and never answers", verdict = "pass",
    primary = { hang = "head" },
    checks = function(run, must)
      must(run.primary.count == 1, "one attempt on the silent route")
      must(run.answer.connection == "fallback", "the fallback answers")
      must(run.answer.duration_ms <= 100000, "within 100 s")
    end,
  },
  S07 = {
    name = "headers at once, the first token after 20 s", verdict = "pass",
    primary = { first_output_delay_ms = 20000 },
    checks = function(run, _, should)
      should(run.answer.connection == "fallback" and run.answer.duration_ms <= 15000,
        "the fallback within 15 s")
    end,
  },
  S08 = {
    name = "dies after 40 of 60 tokens", verdict = "safe",
    primary = { close = 41 }, -- the role comes first
    checks = function(run, must)
      must(#run.answer.attempts == 1, "nothing is sent again after the first output")
    end,
  },
  S09 = {
    name = "silent for 30 s after 20 tokens, then closed", verdict = "safe",
    primary = { { hang = 21, hang_ms = 30000 }, {} },
    play = function(run, call)
      run.answer = call()
      run.afterwards = call()
    end,
    checks = function(run, must)
      must(run.answer.duration_ms <= 20 * PACE_MS + 45000, "noticed within 45 s")
      must(is_whole(run.afterwards), "healthy afterwards")
    end,
  },
  S10 = {
    name = "the tenth event is no JSON", verdict = "pass",
    primary = { malformed_event = 9 },
    checks = function(run, must)
      for _, event in ipairs(run.answer.events) do
        must(type(event.data) == "table" or event.text == "[DONE]", "nothing of it passed on")
      end
      must(run.primary.count == 1 and run.fallback.count == 0, "one attempt")
    end,
  },
  S11 = {
    name = "a whole stream without [DONE]", verdict = "pass",
    primary = { done = false },
    checks = function(run, must)
      must(run.answer.duration_ms <= 8000, "finished within 8 s")
      must(has_usage(run.answer), "with usage")
    end,
  },
  S12 = {
    name = "400 context_length_exceeded", verdict = "pass", ends = "error",
    primary = { status = 400,
      error = { message = "Too many tokens.", code = "context_length_exceeded" } },
    checks = function(run, must) one_attempt(run, must, "context_length_exceeded") end,
  },
  S13 = {
    name = "400 content_policy_violation", verdict = "pass", ends = "error",
    primary = { status = 400,
      error = { message = "Not this.", code = "content_policy_violation" } },
    checks = function(run, must) one_attempt(run, must, "content_policy_violation") end,
  },
  S14 = {
    name = "dies after 40 tokens, and the fallback takes no prefill", verdict = "safe",
    primary = { close = 41 },
    fallback = { status = 400, error = { message = "No prefilled assistant turn." } },
    checks = function(run, must)
      must(run.answer.body:find("prefilled", 1, true) == nil, "never the fallback's 400")
    end,
  },
  S15 = {
    name = "503 for 60 s, then well", verdict = "pass",
    primary = down,
    play = function(run, call)
      run.answers = {}
      for number = 1, 20 do
        run.gw:advance((number - 1) * 4 - run.gw.now_ms / 1000)
        if run.outage_count == nil and run.gw.now_ms >= 60000 then
          run.outage_count = run.primary.count
          run.primary:answers(plays("primary"))
        end
        run.answer = call()
        run.answers[number] = run.answer
      end
    end,
    checks = function(run, must, should)
      for number, answer in ipairs(run.answers) do
        must(is_whole(answer), ("call %d is answered"):format(number))
      end
      should(run.outage_count <= 12, "probed with discipline")
      should(run.answer.connection == "primary", "back on the primary within 30 s")
    end,
  },
  S16 = {
    name = "503 always: whose answer it is", verdict = "pass",
    primary = down,
    checks = function(run, must)
      for _, event in ipairs(run.answer.events) do
        must(event.text == "[DONE]" or event.data.model == "fb-ok", "the fallback's model name")
      end
      must(has_usage(run.answer), "the fallback's usage")
    end,
  },
}

-- -- playing --------------------------------------------------------------------------------------

--- Plays a row at its full length through a gateway with the connections "primary" and "fallback".
-- The verdict, and what was missed, as text: "pass", "partial" (an answer, a `should` missed),
-- "safe" (no answer, but one clean error), "fail".
function m.play(t, gw, row)
  local run = { gw = gw, primary = gw.upstream["primary"], fallback = gw.upstream["fallback"] }
  run.primary:answers(plays("primary", row.primary))
  run.fallback:answers(plays("fallback", row.fallback))
  local function call()
    return gw:post("/v1/chat/completions", { model = "bench", stream = true, messages = t.hello,
      stream_options = { include_usage = true } })
  end
  if row.play then row.play(run, call) else run.answer = call() end

  local whole, clean_error = is_whole(run.answer), is_clean_error(run.answer)
  if not whole and not clean_error then return "fail", "neither an answer nor a clean error" end
  local missed = { must = {}, should = {} }
  local function note(kind)
    return function(holds, what)
      if not holds then table.insert(missed[kind], what) end
    end
  end
  if row.checks then row.checks(run, note "must", note "should") end
  if #missed.must > 0 then return "fail", table.concat(missed.must, "; ") end
  if row.ends == "error" and clean_error then return "pass", "" end
  if not whole then return "safe", "" end
  if #missed.should > 0 then return "partial", table.concat(missed.should, "; ") end
  return "pass", ""
end

return m
