#!/usr/bin/env python3
"""What may cross the gateway and what may not, over real sockets (FIELD-CASES B101-B104, B109).

    hygiene_test.py ACOG
"""
import json
import os
import sys
import tempfile
import threading
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, configuration, whole  # noqa: E402

ACOG = sys.argv[1]
KEY, CLIENT_KEY = "sk-upstream-secret-0123456789", "gw-client-key-1"
MESSAGES = "/v1/messages"
BODY = {"model": "claude-haiku-4-5", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
ANSWER = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_sequence": None,
          "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn",
          "usage": {"input_tokens": 1, "output_tokens": 1}}

GATEWAY = """local acog = require "acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  connections = {
    acog.connection "only" { channel = "direct", dialects = { "messages", "chat" }, key = acog.env "KEY",
      base_url = "http://127.0.0.1:%d/v1", models = { "claude-haiku-4-5" }, default = true },
  },
}
"""

CREDENTIALS = [("Authorization", f"Bearer {CLIENT_KEY}"), ("x-api-key", CLIENT_KEY), ("api-key", "zzz"),
               ("x-goog-api-key", "zzz"), ("Cookie", "sid=1"), ("X-Forwarded-For", "10.0.0.9"),
               ("anthropic-version", "2023-06-01")]
HOPS = [("Connection", "keep-alive, X-Secret-Hop"), ("X-Secret-Hop", "1"), ("TE", "trailers"), ("Keep-Alive", "5"),
        ("Proxy-Authorization", "x"), ("Accept-Encoding", "gzip, br"), ("Upgrade", "h2c"), ("Trailer", "X")]


class Gateway:
    """A gateway before `provider` whose log can be read when it has ended."""

    def __init__(self, provider):
        with tempfile.NamedTemporaryFile(prefix="acog-test-", suffix=".log", delete=False) as log:
            self.path = log.name
            self.running = Running(ACOG, configuration(GATEWAY % provider.port), {"KEY": KEY}, log=log)

    def __enter__(self):
        return self.running

    def __exit__(self, *what):
        self.running.__exit__(*what)
        with open(self.path, encoding="utf-8") as log:
            text = log.read()
        os.unlink(self.path)
        assert '"request_id"' in text or "req_" in text, "the requests are in the log"
        for secret in (KEY, KEY[:12], CLIENT_KEY):
            assert secret not in text, f"the log tells {secret}"


def b101_b102_what_goes_up():
    """B101, B102: the provider sees its own key and what is allow-listed; credentials and hops of the client stay."""
    seen = []
    provider = Provider(lambda head, body: seen.append(head) or whole(200, ANSWER))
    with Gateway(provider) as gateway:
        assert Client(gateway.listen).post(MESSAGES, BODY, CREDENTIALS + HOPS)[0] == 200
    head = seen[0]
    assert head["x-api-key"] == KEY and head["anthropic-version"] == "2023-06-01", head
    for name in ("authorization", "api-key", "x-goog-api-key", "cookie", "x-forwarded-for", "x-secret-hop", "te",
                 "keep-alive", "proxy-authorization", "upgrade", "trailer", "connection"):
        assert name not in head, (name, head)
    assert CLIENT_KEY not in json.dumps(head), head
    assert "br" not in head.get("accept-encoding", ""), "B104: what the gateway cannot decode is not asked for"


def b102_what_comes_down():
    """B102: nothing of a provider's head crosses; a redirect is not followed and not told."""
    head = [("Connection", "X-Int"), ("X-Int", "1"), ("Location", "http://10.0.0.5/"), ("Set-Cookie", "a=b"),
            ("Server", "internal")]
    statuses = [200, 302]
    provider = Provider(lambda *_: whole(statuses.pop(0), ANSWER, head))
    with Gateway(provider) as gateway:
        for wanted in (200, 502):
            status, headers, body = Client(gateway.listen).post(MESSAGES, BODY)
            assert status == wanted, (status, body)
            assert not {"x-int", "location", "set-cookie"} & headers.keys(), headers
            assert "internal" not in headers.get("server", "") and b"10.0.0.5" not in body, (headers, body)
    assert provider.requests == 2


def b103_betas():
    """B103: two anthropic-beta lines reach a provider that takes them all as one."""
    seen = []
    provider = Provider(lambda head, body: seen.append(head) or whole(200, ANSWER))
    with Gateway(provider) as gateway:
        Client(gateway.listen).post(MESSAGES, BODY, [("anthropic-beta", "a-2025-01-01"),
                                                     ("anthropic-beta", "b-2025-02-02")])
    assert seen[0]["anthropic-beta"].replace(" ", "") == "a-2025-01-01,b-2025-02-02", seen


def gzip(parts):
    """Each part compressed and flushed for itself, all of them one gzip stream."""
    packer = zlib.compressobj(wbits=31)
    for i, part in enumerate(parts):
        yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH if i + 1 < len(parts) else zlib.Z_FINISH)


class Stepwise(Provider):
    """Streams gzip over SSE: one event, and the next only when `go_on` is set."""

    def __init__(self, events):
        self.events, self.go_on = events, threading.Event()
        super().__init__(None)

    def serve(self, connection, *_):
        with connection, connection.makefile("rb") as reader:
            self.read(reader)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
                               b"Transfer-Encoding: chunked\r\n\r\n")
            for part in gzip(self.events):
                connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
                assert self.go_on.wait(30)
                self.go_on.clear()
            connection.sendall(b"0\r\n\r\n")


def b104_compressed_answers():
    """B104: gzip from a provider that was not asked for it: events one by one in clear, and whole answers."""
    def chunk(delta, finish=None):
        value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": BODY["model"],
                 "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        return b"data: " + json.dumps(value).encode() + b"\n\n"

    events = [chunk({"content": "one"}), chunk({"content": "two"}), chunk({}, "stop"), b"data: [DONE]\n\n"]
    provider = Stepwise(events)
    with Gateway(provider) as gateway:
        client = Client(gateway.listen)
        client.send("/v1/chat/completions", {**BODY, "stream": True}, [("Accept-Encoding", "gzip, br")])
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.reader.readline()
        assert b"content-encoding" not in head.lower(), head
        for event in events:
            got = b""
            while not got.endswith(b"\n\n"):  # arrives although the provider holds back the next one
                got += client.reader.read(int(client.reader.readline(), 16))
                client.reader.readline()
            assert got == event, (got, event)
            provider.go_on.set()
        assert int(client.reader.readline(), 16) == 0

    data = b"".join(gzip([json.dumps(ANSWER).encode()]))
    provider = Provider(lambda *_: b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                                   b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
    with Gateway(provider) as gateway:
        status, headers, body = Client(gateway.listen).post(MESSAGES, BODY)
        assert status == 200 and "content-encoding" not in headers and json.loads(body) == ANSWER, (headers, body)


def b109_provider_error_bodies():
    """B109: a refused key: the gateway's own words; neither the body nor the log tells the key or where it was sent."""
    message = f"Incorrect API key provided: {KEY[:12]}********. See https://up.example/keys?key={KEY}"
    statuses = [401, 403, 400, 500]
    provider = Provider(lambda *_: whole(statuses.pop(0), {"type": "error", "error": {"message": message}}))
    with Gateway(provider) as gateway:
        for wanted in (401, 403, 400, 500):
            status, _, body = Client(gateway.listen).post(MESSAGES, BODY, CREDENTIALS)
            assert status == wanted, (status, body)
            assert json.loads(body)["type"] == "error", body
            for secret in (KEY, KEY[:12], "up.example", CLIENT_KEY):
                assert secret.encode() not in body, body


def main():
    for story in (b101_b102_what_goes_up, b102_what_comes_down, b103_betas, b104_compressed_answers,
                  b109_provider_error_bodies):
        story()
        print("ok", " ".join(story.__doc__.split()), flush=True)


if __name__ == "__main__":
    main()
