#!/usr/bin/env python3
"""Providers that lie in HTTP or say nothing in JSON, over real sockets (FIELD-CASES B115, B117): another connection takes
over, and nothing of one answer is read as a part of the next. bad_provider_test.py has the other half.

    answers_test.py ACOG
"""
import json
import os
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration  # noqa: E402

ACOG = sys.argv[1]
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
CHUNK = b'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'
LAST = b'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
STREAM = CHUNK + LAST + b"data: [DONE]\n\n"
GOOD_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "stop_sequence": None, "content": [{"type": "text", "text": "hello"}],
                "usage": {"input_tokens": 1, "output_tokens": 1}}
GATEWAY = """local acog = require "acog"
local base = require "policies.acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  policy = base:with { name = "in order", order = { "catalogue" }, spread = "none", backoff = { kind = "none" },
    health = { key = "connection", threshold = 255 } },
  connections = {
    acog.connection "first" { channel = "custom", dialects = { "chat", "messages" }, base_url = "http://127.0.0.1:%d/v1",
      models = { "m" } },
    acog.connection "second" { channel = "custom", dialects = { "chat", "messages" }, base_url = "http://127.0.0.1:%d/v1",
      models = { "m" } },
  },
}
"""


class Raw:
    """A provider that answers with bytes as they are. An answer is bytes, or a list of bytes with seconds between them;
    after one that ends in None the connection stays open without a word. `connections` and `requests` count."""

    def __init__(self, answers):
        self.answers, self.connections, self.requests = answers, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            while request := Provider.read(reader):
                self.requests.append(request)
                try:
                    if not self.say(connection, self.answers(len(self.requests), *request)):
                        return
                except OSError:
                    return

    @staticmethod
    def say(connection, answer):
        """False when the connection is to be closed."""
        for part in answer if isinstance(answer, list) else [answer]:
            if part is None:
                return False
            if isinstance(part, bytes):
                connection.sendall(part)
            else:
                time.sleep(part)
        return True


def response(body, *fields, status="200 OK", length=True):
    lines = [f"HTTP/1.1 {status}", *fields] + ([f"Content-Length: {len(body)}"] if length else [])
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def json_response(value, *fields, **options):
    return response(json.dumps(value).encode(), "Content-Type: application/json", *fields, **options)


def sse(body, *fields):
    return response(body, "Content-Type: text/event-stream", *fields)


def ask(gateway, stream=False, path=CHAT):
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    client = Client(gateway.listen)
    status, headers, data = client.post(path, body)
    client.close()
    return status, headers, data


def good(stream, path):
    if stream:
        return sse(STREAM)
    return json_response(GOOD_MESSAGE if path == MESSAGES else chat_answer())


def each_fails_over(cases, stream=False, path=CHAT):
    """The first connection answers with the case, the second well: the client sees the second's answer and no more."""
    bad = {"answer": None}
    first = Raw(lambda *_: bad["answer"])
    second = Raw(lambda *_: good(stream, path))
    with Running(ACOG, configuration(GATEWAY % (first.port, second.port))) as gateway:
        for what, answer in cases:
            bad["answer"] = answer
            before = len(first.requests), len(second.requests)
            status, headers, body = ask(gateway, stream, path)
            assert (status, headers.get("x-acog-connection")) == (200, "second"), (what, status, headers, body[:300])
            assert headers["content-type"].startswith("text/event-stream" if stream else "application/json"), (what, headers)
            wanted = STREAM if stream else json.dumps(GOOD_MESSAGE if path == MESSAGES else chat_answer()).encode()
            assert body == wanted, (what, body)
            now = len(first.requests), len(second.requests)
            assert now == (before[0] + 1, before[1] + 1), (what, before, now)


def b117_answers():
    """B117, B115: whole answers with nothing in them, or too deep, are failures of their connection, and another one answers"""
    def message(**changes):
        return json_response({**chat_answer(), "choices": [{"index": 0, "finish_reason": "stop",
                                                            "message": {"role": "assistant", **changes}}], "usage": None})

    each_fails_over([
        ("no choices", json_response({**chat_answer(), "choices": None})),
        ("choices of nothing", json_response({**chat_answer(), "choices": []})),
        ("usage is a text", json_response({**chat_answer(), "usage": "x"})),
        ("nothing in the message", message(content=None)),
        ("a call that is null", message(content=None, tool_calls=[None])),
        ("two answers in one body", response(json.dumps(chat_answer()).encode() * 2, "Content-Type: application/json")),
    ])
    each_fails_over([
        ("content is null", json_response({**GOOD_MESSAGE, "content": None})),
        ("a message of chat", json_response(chat_answer())),
        ("a tool's input 3000 deep", response(
            json.dumps({**GOOD_MESSAGE, "content": [{"type": "tool_use", "id": "t", "name": "f", "input": "DEEP"}]}).encode()
            .replace(b'"DEEP"', b'{"a":' * 3000 + b"1" + b"}" * 3000), "Content-Type: application/json")),
    ], path=MESSAGES)
    each_fails_over([("a stream for a whole answer, without a type", response(STREAM))])


def lying_http():
    """Bytes that are no HTTP, lengths that lie and endless heads are failures, and another connection answers"""
    body = json.dumps(chat_answer()).encode()
    kind = "Content-Type: application/json"

    def chunked(data, *fields):
        return response(data, kind, "Transfer-Encoding: chunked", *fields, length=False)

    def cut(answer):
        return [answer, None]

    each_fails_over([
        ("two lengths", cut(response(body, kind, f"Content-Length: {len(body) + 1}"))),
        ("twice the same length", cut(response(body, kind, f"Content-Length: {len(body)}"))),
        ("a length and a coding", cut(chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), f"Content-Length: {len(body)}"))),
        ("another coding", cut(response(body, kind, "Transfer-Encoding: gzip, chunked", length=False))),
        ("a length with a sign", cut(response(body, kind, f"Content-Length: +{len(body)}", length=False))),
        ("a length that is too long", cut(response(body, kind, f"Content-Length: {len(body) + 5}", length=False))),
        ("a length that is too short", cut(response(body, kind, f"Content-Length: {len(body) - 5}", length=False))),
        ("chunks of garbage", cut(chunked(b"zz\r\n" + body))),
        ("a chunk with a prefix", cut(chunked(b"0x%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)))),
        ("a chunk without its end", cut(chunked(b"%x\r\n%s0\r\n\r\n" % (len(body), body)))),
        ("a last chunk that does not come", cut(chunked(b"%x\r\n%s\r\n" % (len(body), body)))),
        ("bare LF", cut(response(body, kind).replace(b"\r\n", b"\n"))),
        ("a folded line", cut(response(body, kind, "X: a\r\n b"))),
        ("NUL in a header", cut(response(body, kind, "X: a\0b"))),
        ("a space before the colon", cut(response(body, f"Content-Length : {len(body)}", kind, length=False))),
        ("no status", cut(b"HTTP/1.1 OK\r\n\r\n")),
        ("HTTP/2", cut(b"HTTP/2 200\r\n\r\n")),
        ("SSH", cut(b"SSH-2.0-OpenSSH_9.2\r\n")),
        ("101", cut(response(b"", "Upgrade: h2c", "Connection: upgrade", status="101 Switching Protocols", length=False))),
        ("an empty line before the head", cut(b"\r\n" + response(body, kind))),
        ("a head of 1 MB", cut(response(body, kind, "X: " + "x" * 1_000_000))),
        ("5,000 headers", cut(response(body, kind, *(f"X-{i}: 1" for i in range(5000))))),
        ("endless 100s", cut(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000)),
        ("endless 103s", cut(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 10_000)),
        ("a close without a byte", cut(b"")),
        ("a close inside the head", cut(b"HTTP/1.1 200 OK\r\nContent-")),
        ("gzip that is none", cut(response(body, kind, "Content-Encoding: gzip"))),
        ("a coding nobody knows", cut(response(body, kind, "Content-Encoding: zstd"))),
    ])


def smuggled_answers():
    """Bytes behind the end of an answer are nobody's: their connection is not used again, and the next request is safe"""
    evil = json_response(chat_answer("smuggled"))
    first = json_response(chat_answer("first"))
    endings = [
        ("a second answer at once", first + evil),
        ("a second answer later", [first, 0.05, evil]),
        ("a byte more", first + b"x"),
        ("an empty line more", first + b"\r\n"),
        ("a 204 with a body", response(b"", "Content-Length: 5", status="204 No Content", length=False) + evil),
        ("a 204 with a body later", [response(b"", f"Content-Length: {len(evil)}", status="204 No Content", length=False),
                                     0.05, evil]),
        ("a 304 with a body", response(b"", f"Content-Length: {len(evil)}", status="304 Not Modified", length=False) + evil),
        ("a 200 in chunks with more behind", response(b"%x\r\n%s\r\n0\r\n\r\n" % (len(first), first), "Transfer-Encoding: chunked",
                                                      "Content-Type: application/json", length=False) + evil),
        ("an answer that says close", json_response(chat_answer("first"), "Connection: close")),
        ("HTTP/1.0", first.replace(b"HTTP/1.1", b"HTTP/1.0")),
        ("an error with more behind", json_response({"error": {"message": "no"}}, status="500 No") + evil),
    ]
    for what, ending in endings:
        def answers(number, _head, body, ending=ending):
            asked = re.search(rb"question (\d+)", body)[1].decode()
            return ending if number == 1 else json_response(chat_answer(f"answer {asked}"))

        bad = Raw(answers)
        never = Raw(lambda *_: json_response(chat_answer("the other connection")))
        with Running(ACOG, configuration(GATEWAY % (bad.port, never.port))) as gateway:
            client = Client(gateway.listen)
            for number in range(1, 4):
                status, headers, data = client.post(CHAT, {"model": "m", "messages": [
                    {"role": "user", "content": f"question {number}"}]})
                assert status == 200 and b"smuggled" not in data, (what, number, data)
                if number == 1:
                    others = int(headers["x-acog-connection"] == "second")  # which answered where this is no answer
                    gateway.wait_until(f"{what}: its connection is dropped",
                                       lambda state, others=others: state["workers"][0]["upstream_open"] == others)
                else:
                    assert b"answer %d" % number in data, (what, number, data)
            client.close()
        assert bad.connections == 2, (what, bad.connections)  # the first was dropped, the second kept


def interim_answers():
    """A few 1xx before an answer are passed over, and the connection is kept"""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3
    provider = Raw(lambda *_: hints + json_response(chat_answer()))
    with Running(ACOG, configuration(GATEWAY % (provider.port, provider.port))) as gateway:
        for _ in range(3):
            status, headers, _ = ask(gateway)
            assert status == 200 and "link" not in headers, headers
    assert provider.connections == 1, provider.connections


def stream_garbage_after_commit():
    """A stream whose framing breaks after the first output ends with one error and no [DONE]"""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK)
    for what, garbage in [("a chunk that is none", b"zz\r\n"), ("a chunk beyond every size", b"f" * 17 + b"\r\n"),
                          ("a close", b""), ("another answer", json_response(chat_answer("smuggled")))]:
        provider = Raw(lambda *_, garbage=garbage: [head + chunk, 0.05, garbage, None])
        with Running(ACOG, configuration(GATEWAY % (provider.port, provider.port))) as gateway:
            status, _, body = ask(gateway, stream=True)
        assert status == 200 and body.startswith(CHUNK), (what, body)
        events = [event for event in body.split(b"\n\n") if event.startswith(b"data: ")]
        assert len(events) == 2 and b'"error"' in events[1] and b"[DONE]" not in body, (what, body)
        assert b"smuggled" not in body and len(provider.requests) == 1, (what, body)


def main():
    for story in (b117_answers, lying_http, smuggled_answers, interim_answers, stream_garbage_after_commit):
        story()
        print("ok", " ".join(story.__doc__.split()), flush=True)


if __name__ == "__main__":
    main()
