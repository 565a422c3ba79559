--- acog.channel: how a connection reaches its models, and how a client pins one.
local names = ...

local channel = {}

--- Every channel, in the order in which they are tried where nothing else decides (S4.7).
channel.rank = names

--- A pin by request header (S4.19): the client names a channel, requests fail over inside it, and
-- an unknown or unserved one is refused (S4.21, S4.22). A rule that protects data goes first
-- (CONFORMANCE, decision 1).
function channel.pin(header)
  if type(header) ~= "string" then
    error("channel.pin: expected the name of a header, got " .. type(header), 2)
  end
  return {
    header = header,
    scope = "channel",
    values = names,
    failover_inside = true,
    overrides_dlp = false,
  }
end

return channel
