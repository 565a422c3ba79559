#!/usr/bin/env python3
"""Clocks and waits over real sockets: what is silent is left, what is slow but alive is not (B69, B73, B74).

    clocks_test.py ACOG
"""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration, whole  # noqa: E402

CHAT = "/v1/chat/completions"
STREAM = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

GATEWAY = """local acog = require "acog"
local base = require "policies.acog"
local function to(port) return "http://127.0.0.1:" .. port .. "/v1" end
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  policy = base:with { clocks = { first_output = { base = 1.5 }, idle = { base = 1.5 } } },
  connections = {
    acog.connection "first" { channel = "custom", dialects = { "chat" }, base_url = to(%d), models = { "m" } },
    %s
  },
}
"""
SECOND = 'acog.connection "second" { channel = "custom", dialects = { "chat" }, base_url = to(%d), models = { "m" } },'


class Paced(Provider):
    """Its answers are lists of pieces; a number is a pause in seconds, and a list that ends in None hangs."""

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            while request := self.read(reader):
                with self.lock:
                    self.requests += 1
                for piece in self.answer(*request):
                    if piece is None:
                        reader.read()  # until the gateway goes
                        return
                    if isinstance(piece, bytes):
                        try:
                            connection.sendall(piece)
                        except OSError:
                            return
                    else:
                        threading.Event().wait(piece)


def chunk(text):
    data = text.encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return chunk("data: " + json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                                        "choices": [choice]}) + "\n\n")


END = [event({}, "stop"), chunk("data: [DONE]\n\n"), b"0\r\n\r\n"]
GOOD = [HEAD, event({"role": "assistant", "content": "good"}), *END]


def ask(acog, first, second=None, body=None):
    """The answer, and how many requests each provider saw."""
    one = Paced(lambda head, body: first)
    two = Paced(lambda head, body: second)
    with Running(acog, configuration(GATEWAY % (one.port, SECOND % two.port if second else ""))) as gateway:
        client = Client(gateway.listen)
        answer = client.post(CHAT, body or STREAM)
        client.close()
    return answer, one.requests, two.requests


def a_head_without_a_body_is_left_for_the_other_connection(acog):
    """B73 b"""
    (status, headers, body), one, two = ask(acog, [HEAD, None], GOOD)
    assert (status, headers["x-acog-connection"], one, two) == (200, "second", 1, 1), (status, headers, one, two)
    assert b"good" in body and body.endswith(b"data: [DONE]\n\n"), body


def a_stream_that_falls_silent_after_output_ends_with_an_error(acog):
    """B73 d: no second provider is asked."""
    words = [event({"content": word}) for word in ("one ", "two ", "three ")]
    (status, headers, body), one, two = ask(acog, [HEAD, *words, None], GOOD)
    assert (status, headers["x-acog-attempts"], one, two) == (200, "1", 1, 0), (status, headers, one, two)
    assert b"three" in body and b"[DONE]" not in body, body
    last = json.loads(body.strip().split(b"\n\n")[-1].removeprefix(b"data: "))
    assert last["error"]["message"], last


def a_stream_may_last_longer_than_each_of_its_clocks(acog):
    """B74: a token every 0.2 s for 4 s; the limits are 1.5 s."""
    tokens = [part for _ in range(20) for part in (0.2, event({"content": "slow "}))]
    (status, _, body), one, _ = ask(acog, [HEAD, *tokens, *END])
    assert (status, one, body.count(b"slow ")) == (200, 1, 20), (status, one, body[-200:])
    assert body.endswith(b"data: [DONE]\n\n"), body[-200:]


def reasoning_is_output_and_keeps_a_stream_alive(acog):
    """B74: what comes for longer than the first output's limit is only reasoning."""
    thoughts = [part for _ in range(12) for part in (0.2, event({"reasoning_content": "hmm "}))]
    (status, _, body), one, _ = ask(acog, [HEAD, *thoughts, event({"content": "so"}), *END])
    assert (status, one, body.count(b"hmm ")) == (200, 1, 12), (status, one, body[-200:])
    assert b'"so"' in body, body[-200:]


def a_wait_is_told_in_whole_seconds_or_not_at_all(acog):
    """B69, with the cap of 60 s."""
    told = {"5": "5", "0": "0", "999999": "60", "2abc": None, "-3": None, "": None, "99999999999999999999": "60"}
    current = {}

    def throttle(head, body):
        error = {"error": {"message": "slow down", "type": "rate_limit_error"}}
        return whole(429, error, [("Retry-After", current["value"])])

    provider = Provider(throttle)
    with Running(acog, configuration(GATEWAY % (provider.port, ""))) as gateway:
        for value, expected in told.items():
            current["value"] = value
            client = Client(gateway.listen)
            status, headers, _ = client.post(CHAT, {**STREAM, "stream": False})
            client.close()
            assert status == 429, status
            got = headers.get("retry-after")
            assert got == expected, f"{value!r} became {got!r}, not {expected!r}"


def an_answer_with_a_wait_cools_nothing(acog):
    """FACTS 1: a 200 may carry Retry-After."""
    provider = Provider(lambda head, body: whole(200, chat_answer(), [("Retry-After", "61")]))
    with Running(acog, configuration(GATEWAY % (provider.port, ""))) as gateway:
        client = Client(gateway.listen)
        for _ in range(3):
            status, headers, _ = client.post(CHAT, {**STREAM, "stream": False})
            assert status == 200 and "retry-after" not in headers, (status, headers)
        client.close()
    assert provider.requests == 3


def main():
    for story in (a_head_without_a_body_is_left_for_the_other_connection,
                  a_stream_that_falls_silent_after_output_ends_with_an_error,
                  a_stream_may_last_longer_than_each_of_its_clocks,
                  reasoning_is_output_and_keeps_a_stream_alive,
                  a_wait_is_told_in_whole_seconds_or_not_at_all,
                  an_answer_with_a_wait_cools_nothing):
        story(sys.argv[1])
        print("ok", story.__name__.replace("_", " "))


if __name__ == "__main__":
    main()
