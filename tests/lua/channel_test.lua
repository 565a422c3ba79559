-- channel_test.lua - channel names, their rank, and the pin (S4.7, S4.19-S4.23).
local channel = require "acog.channel"
local test = require "acog.test"

test("the rank is direct, bedrock, vertex, azure, custom (S4.7)", function(t)
  t.equal(channel.rank, { "direct", "bedrock", "vertex", "azure", "custom" })
  t.error(function() channel.rank[1] = "x" end, "read-only")
end)

test("a pin goes by a header, inside its channel", function(t)
  local pin = channel.pin "x-channel"
  t.equal(pin.header, "x-channel")
  t.equal(pin.scope, "channel")
  t.equal(pin.values, channel.rank)
  t.equal(pin.failover_inside, true)
  t.equal(pin.overrides_dlp, false)
  t.error(function() channel.pin() end, "channel.pin: expected the name of a header, got nil")
end)
