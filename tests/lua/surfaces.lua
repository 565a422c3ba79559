--- surfaces(t, fields) -> path to body: the shortest request of each API of clients, with these
-- fields.
return function(t, fields)
  return {
    ["/v1/chat/completions"] = t.with({ messages = t.hello }, fields),
    ["/v1/messages"] = t.with({ messages = t.hello, max_tokens = 100 }, fields),
    ["/v1/responses"] = t.with({ input = "hello" }, fields),
  }
end
