#!/usr/bin/env python3
"""A client that reads nothing pauses its upstream; memory for it is bounded; when it reads on, nothing is missing.

    slow_reader_test.py ACOG
"""
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Running, configuration  # noqa: E402

EVENTS, EVENT_BYTES = 4000, 16384
TAKEN_BYTES_MAX = 16 * 1024 * 1024  # the kernel's socket buffers on both sides, and the gateway's queue

GATEWAY = """local acog = require "acog"
local base = require "policies.acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  policy = base:with { clocks = { idle = { base = 1 } } },
  connections = {
    acog.connection "only" { channel = "custom", dialects = { "chat" }, base_url = "http://127.0.0.1:%d/v1",
      models = { "m" }, default = true },
  },
}
"""


def event(text):
    data = ('data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
            f'"delta":{{"content":"{text}"}},"finish_reason":null}}]}}\n\n').encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


class Flood:
    """A provider that streams as fast as it is let."""

    def __init__(self):
        self.sent = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        connection, _ = self.listener.accept()
        request = b""
        while b"hello" not in request:
            request += connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        one = event("x" * EVENT_BYTES)
        for _ in range(EVENTS):
            connection.sendall(one)
            self.sent += len(one)
        done = b"data: [DONE]\n\n"
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))


def wait_until_steady(flood):
    """Until the provider could not send for a whole second, longer than the idle clock: a pause is no silence of it."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < 1.5:
        if flood.sent != last:
            last, since = flood.sent, time.monotonic()
        time.sleep(0.02)
    return last


def main():
    flood = Flood()
    with Running(sys.argv[1], configuration(GATEWAY % flood.port)) as gateway:
        client = Client(gateway.listen)
        client.send("/v1/chat/completions", {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]})
        taken = wait_until_steady(flood)
        assert taken < TAKEN_BYTES_MAX, f"the upstream was not paused: {taken} bytes were taken"
        status, _, body = client.receive()
        assert status == 200
        assert body.endswith(b"data: [DONE]\n\n"), body[-300:]
        assert body.count(b'"delta"') == EVENTS, f"{body.count(b'delta')} events instead of {EVENTS}"
        print(f"a slow reader: {taken} of {flood.sent} bytes were taken before it read, and all arrived")


if __name__ == "__main__":
    main()
