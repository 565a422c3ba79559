#!/usr/bin/env python3
"""Requests that are wrong in every way, over real sockets (FIELD-CASES B111, B113, B114, B115, B117): the right status,
a body in the client's dialect, a closed connection, and nothing upstream.

    requests_test.py ACOG
"""
import json
import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration, whole  # noqa: E402

ACOG = sys.argv[1]
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
HELLO = [{"role": "user", "content": "hello"}]
BODY = {"model": "m", "messages": HELLO}
GATEWAY = """local acog = require "acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  limits = { head_ms = 400, body_ms = 400, connections = 100 },
  connections = {
    acog.connection "only" { channel = "custom", dialects = { "chat", "messages", "responses" },
      base_url = "http://127.0.0.1:%d/v1", models = { "m" }, default = true },
  },
}
"""


def connect(gateway):
    host, port = gateway.listen.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 30)


def read_all(connection):
    """What comes until the gateway closes."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def send(gateway, data):
    with connect(gateway) as connection:
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return read_all(connection)


def head(first="POST /v1/chat/completions HTTP/1.1", *fields, host="a"):
    lines = [first] + ([f"Host: {host}"] if host is not None else []) + ["Content-Type: application/json", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def good(path=CHAT, *fields, body=None):
    data = json.dumps(body or BODY).encode()
    return head(f"POST {path} HTTP/1.1", f"Content-Length: {len(data)}", *fields) + data


def expect_one_refusal(what, answer, status, path=CHAT):
    """One answer, of this status, in the dialect of the path, on a connection that is closed behind it."""
    assert answer.startswith(b"HTTP/1.1 %d " % status) and len(re.findall(rb"HTTP/1\.1 \d\d\d ", answer)) == 1, (what, answer[:300])
    fields, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in fields.lower(), (what, fields)
    error = json.loads(body)
    assert error["error"]["message"], (what, body)
    assert (error.get("type") == "error") == (path == MESSAGES), (what, body)


def refused(gateway, provider, cases, paths=(CHAT, MESSAGES)):
    """Each case is refused, and so is a good request behind it: it was a part of the bad one, or nobody's."""
    for what, data, status in cases:
        for path in paths:
            bad = data.replace(CHAT.encode(), path.encode())
            expect_one_refusal(what, send(gateway, bad + good(path)), status, path)
    assert provider.requests == 0, provider.requests


def b111_lengths(gateway, provider):
    """B111: two lengths, both lengths, lengths that are none: 400, and nothing of it is served"""
    def framed(*fields, body=b"{}"):
        return head("POST /v1/chat/completions HTTP/1.1", *fields) + body

    lengths = ["+2", "-2", "0x2", "2, 2", "2 2", "2.0", "2e0", "", "two", "18446744073709551616", "2;", "\u00b2"]
    codings = ["xchunked", "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "", "chunked;q=1", "\"chunked\""]
    refused(gateway, provider, [
        ("two lengths", framed("Content-Length: 3", "Content-Length: 5", body=b"abcde"), 400),
        ("twice the same length", framed("Content-Length: 2", "Content-Length: 2"), 400),
        ("a length beside a coding", framed("Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
        ("a coding beside a length", framed("Transfer-Encoding: chunked", "Content-Length: 5", body=b"0\r\n\r\n"), 400),
        ("two codings", framed("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
        ("a space before the colon", framed("Content-Length : 2"), 400),
        ("a coding in HTTP/1.0", head("POST /v1/chat/completions HTTP/1.0", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        *((f"length {text!r}", framed(f"Content-Length: {text}"), 400) for text in lengths),
        *((f"coding {text!r}", framed(f"Transfer-Encoding: {text}", body=b"0\r\n\r\n"), 501) for text in codings),
        *((f"chunk {text!r}", framed("Transfer-Encoding: chunked", body=text), 400) for text in (
            b"0x3\r\n{ }\r\n0\r\n\r\n", b"+3\r\n{ }\r\n0\r\n\r\n", b"3 \r\n{ }\r\n0\r\n\r\n", b"3\n{ }\r\n0\r\n\r\n",
            b"2\r\n{ }\r\n0\r\n\r\n", b"g\r\n", b"00000000000000003\r\n{ }\r\n0\r\n\r\n", b"3\r\n{ }\r\n0\r\nbad trailer\r\n\r\n")),
        ("a chunk beyond every size", framed("Transfer-Encoding: chunked", body=b"ffffffffffffffff\r\n"), 413),
    ])


def b113_large_heads(gateway, provider):
    """B113 a, b, d: a head of 200 KB and 10,000 headers are 431; 50 MB are 413 before a byte of them is sent"""
    refused(gateway, provider, [
        ("a header of 200 KB", head("POST /v1/chat/completions HTTP/1.1", "X-Large: " + "x" * 200_000), 431),
        ("10,000 headers", head("POST /v1/chat/completions HTTP/1.1", *(f"X-{i}: 1" for i in range(10_000))), 431),
        ("101 headers", head("POST /v1/chat/completions HTTP/1.1", *(f"X-{i}: 1" for i in range(101))), 431),
    ])
    with connect(gateway) as connection:
        connection.sendall(head("POST /v1/chat/completions HTTP/1.1", "Content-Length: 50000000"))
        expect_one_refusal("50 MB", read_all(connection), 413)
    with connect(gateway) as connection:
        connection.sendall(head("POST /v1/chat/completions HTTP/1.1", "Content-Length: 50000000", "Expect: 100-continue"))
        expect_one_refusal("50 MB, asked for first", read_all(connection), 413)
    assert provider.requests == 0


def drip(gateway, begin, byte, serves):
    """Sends a byte now and then; another client is served in between. Returns what is answered."""
    with connect(gateway) as connection:
        connection.settimeout(0.05)
        connection.sendall(begin)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            assert serves(), "another client is served meanwhile"
            try:
                connection.sendall(byte)
                if data := connection.recv(65536):
                    connection.settimeout(20)
                    return data + read_all(connection)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        raise AssertionError("a client that drips is not told to go")


def b113_slow(gateway, _provider):
    """B113 c, e: heads and bodies that drip end with 408 while others are served"""
    other = Client(gateway.listen)

    def serves():
        return other.post(CHAT, BODY)[0] == 200

    expect_one_refusal("a dripping head", drip(gateway, b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nX: ", b"x", serves), 408)
    begin = head("POST /v1/chat/completions HTTP/1.1", "Content-Length: 1000")
    expect_one_refusal("a dripping body", drip(gateway, begin + b"{", b" ", serves), 408)
    other.close()


def b113_many(gateway, provider):
    """B113 f: clients above limits.connections are told 503 or closed; those inside are served, and upstream sockets are there"""
    inside = Client(gateway.listen)
    assert inside.post(CHAT, BODY)[0] == 200
    idle = [connect(gateway) for _ in range(300)]
    before = provider.requests
    assert inside.post(CHAT, BODY)[0] == 200 and provider.requests == before + 1
    answers = [read_all(connection) for connection in idle]  # those that came in are closed after head_ms, silently
    told = [answer for answer in answers if answer]
    assert told and all(answer.startswith(b"HTTP/1.1 503 ") for answer in told), told[:1]
    for connection in idle:
        connection.close()
    inside.close()


def b114_heads(gateway, provider):
    """B114: malformed heads are 400, and their connection ends"""
    line = "POST /v1/chat/completions HTTP/1.1"
    zero = "Content-Length: 0"
    refused(gateway, provider, [
        ("NUL in a value", head(line, "X: a\0b", zero), 400),
        ("a bare CR in a value", head(line, "X: a\rb", zero), 400),
        ("a bare LF in a value", head(line, "X: a\nY: b", zero), 400),
        ("a folded line", head(line, "X: a", " b", zero), 400),
        ("no Host", head(line, zero, host=None), 400),
        ("two Host lines", head(line, "Host: b", zero), 400),
        ("twice the same Host", head(line, "Host: a", zero), 400),
        ("an empty Host", head(line, zero, host=""), 400),
        ("a Host that is none", head(line, zero, host="a/b"), 400),
        ("a Host with user information", head(line, zero, host="u@a"), 400),
        ("a space in a name", head(line, "X Y: 1", zero), 400),
        ("a space behind a name", head(line, "X : 1", zero), 400),
        ("a name of nothing", head(line, ": 1", zero), 400),
        ("DEL in a value", head(line, "X: \x7f", zero), 400),
        ("HTTP/2.0", head("POST /v1/chat/completions HTTP/2.0", zero), 505),
        ("another expectation", head(line, "Expect: 200-ok", zero), 417),
    ])
    refused(gateway, provider, [  # without a target nobody knows whose shape to take
        ("bare LF line ends", head(line, zero).replace(b"\r\n", b"\n"), 400),
        ("another host in the target", head("POST http://evil.example/v1/chat/completions HTTP/1.1", zero), 400),
        ("user information in the target", head("POST http://a@a/v1/chat/completions HTTP/1.1", zero), 400),
        ("a fragment", head("POST /v1/chat/completions#x HTTP/1.1", zero), 400),
        ("a control character in the target", head("POST /v1/chat/completions\x01 HTTP/1.1", zero), 400),
        ("a star before the path", head("POST */v1/chat/completions HTTP/1.1", zero), 400),
        ("two spaces", head("POST  /v1/chat/completions HTTP/1.1", zero), 400),
    ], paths=(CHAT,))


def b114_paths(gateway, provider):
    """B114: no path leads to another one: 404 without dots resolved, escapes decoded or slashes merged; PUT is 405"""
    for path in ("/v1/messages/../admin", "/v1/../metrics", "//v1/messages", "/%2e%2e/v1/messages", "/v1/%2e%2e/metrics",
                 "/v1/messages/", "/v1%2fmessages", "/V1/messages", "/v1/messages;x", "/metrics", "/status.json", "/v1/messages%00"):
        status, _, body = Client(gateway.listen).post(path, BODY)
        assert status == 404, (path, status, body)
    put = send(gateway, good(CHAT, "Connection: close").replace(b"POST", b"PUT", 1))
    assert put.startswith(b"HTTP/1.1 405 ") and b"\r\nallow: POST\r\n" in put, put
    assert provider.requests == 0
    absolute = good(f"http://a{CHAT}", "Connection: close")
    assert send(gateway, absolute).startswith(b"HTTP/1.1 200 "), "an absolute target of the Host is routed by its path"
    assert provider.requests == 1 and provider.seen[-1][":line"] == f"POST {CHAT} HTTP/1.1", provider.seen


def b114_http10(gateway, _provider):
    """B114: HTTP/1.0 closes after one answer, keeps the connection when it is asked to, and needs no Host"""
    old = good().replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    answer = send(gateway, old + good())
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.count(b"HTTP/1.1 ") == 1, answer
    kept = old.replace(b"Host: a", b"Connection: keep-alive", 1)
    answer = send(gateway, kept + good(CHAT, "Connection: close"))
    assert answer.count(b"HTTP/1.1 200 ") == 2 and b"\r\nconnection: keep-alive" in answer.lower(), answer


def trailers_and_extensions(gateway, provider):
    """A body in chunks reaches the provider as one body with a length; extensions and trailers stay here"""
    data = json.dumps(BODY).encode()
    chunks = b"".join(b'%x;a="b;c"\r\n%s\r\n' % (len(data[i:i + 9]), data[i:i + 9]) for i in range(0, len(data), 9))
    request = head("POST /v1/chat/completions HTTP/1.1", "Transfer-Encoding: chunked", "Connection: close")
    answer = send(gateway, request + chunks + b"0\r\nAuthorization: x\r\nContent-Length: 3\r\nX-Trailer: y\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    fields = provider.seen[-1]
    assert provider.bodies[-1] == data and fields["content-length"] == str(len(data)), fields
    assert not {"transfer-encoding", "x-trailer", "trailer", "authorization"} & fields.keys(), fields


def expect_400(gateway, path, body, named):
    status, _, answer = Client(gateway.listen).post(path, body)
    assert status == 400, (path, body if len(body) < 300 else "…", status, answer)
    message = json.loads(answer)["error"]["message"]
    assert named in message, (path, named, message)


def b115_depth(gateway, provider):
    """B115: bodies as deep as 100,000 brackets are 400"""
    for path in (CHAT, MESSAGES, RESPONSES):
        field = b"input" if path == RESPONSES else b"messages"
        expect_400(gateway, path, b'{"model":"m","' + field + b'":' + b"[" * 100_000, field.decode())
        schema = b'{"a":' * 3000 + b"1" + b"}" * 3000
        text = b'"hello"' if path == RESPONSES else json.dumps(HELLO).encode()
        expect_400(gateway, path, b'{"model":"m","max_tokens":5,"' + field + b'":' + text
                   + b',"tools":[{"name":"f","input_schema":' + schema + b"}]}", "deep")
    assert provider.requests == 0


def b117_types(gateway, provider):
    """B117: values of the wrong type are a 400 that names the field"""
    for path in (CHAT, MESSAGES):
        def body(**changes):
            return json.dumps({"model": "m", "max_tokens": 5, "messages": HELLO, **changes}).encode()

        for named, data in [
                ("messages", body(messages=None)), ("messages", body(messages={})), ("messages", body(messages=[])),
                ("content", body(messages=[{"role": "user", "content": 5}])), ("tools", body(tools=[None])),
                ("stream", body(stream="true")), ("max_tokens", body(max_tokens="10")), ("model", body(model=7)),
                ("max_tokens", body(max_tokens=5).replace(b": 5", b": 1e30")), ("messages", body(messages=[7])),
                ("model", body(model="")), ("model", body(model=None))]:
            expect_400(gateway, path, data, named)
        for data in (b"[]", b"null", b"", b"7", b'"x"', b"{", b'{"model":"m"} x', b"\xef\xbb\xbf{}", b'{"model":"\xff"}', b"{}\0",
                     b'{"model":"m","model":"m"}', b'{"model":"\\ud800"}'):
            expect_400(gateway, path, data, "")
    assert provider.requests == 0


class Recording(Provider):
    """Answers everything, and keeps what came."""

    def __init__(self):
        self.seen, self.bodies = [], []
        super().__init__(self.record)

    def record(self, fields, body):
        self.seen.append(fields)
        self.bodies.append(body)
        return whole(200, chat_answer())


def main():
    for story in (b111_lengths, b113_large_heads, b113_slow, b113_many, b114_heads, b114_paths, b114_http10,
                  trailers_and_extensions, b115_depth, b117_types):
        provider = Recording()
        with Running(ACOG, configuration(GATEWAY % provider.port)) as gateway:
            story(gateway, provider)
            assert Client(gateway.listen).post(CHAT, BODY)[0] == 200, "the next request is served"
        print("ok", " ".join(story.__doc__.split()), flush=True)


if __name__ == "__main__":
    main()
