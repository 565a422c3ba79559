#!/usr/bin/env python3
"""What a client may not do with names, headers and addresses, over real sockets (FIELD-CASES B108; admin pages).

    safety_test.py ACOG
"""
import json
import os
import re
import socket
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Provider, Running, chat_answer, configuration, whole  # noqa: E402

ACOG = sys.argv[1]
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
KEY = "sk-upstream-secret-0123456789"
HELLO = [{"role": "user", "content": "hi"}]
GATEWAY = """local acog = require "acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  connections = {
    acog.connection "only" { channel = "custom", dialects = { "chat", "messages" }, key = acog.env "KEY",
      base_url = "http://127.0.0.1:%d/v1", models = { "m" } },
  },
}
"""
EVIL = ['m"x', "m\r\nX-Evil: 1", "m\nX-Evil: 1", "m\r\n\r\n<script>alert(1)</script>", "m\\", "m\u0000", "m\u007f", "m\u2028\u2029",
        "caf\u00e9 \U0001f600", "m%0d%0aX-Evil: 1", "%{model}%{detail}", "%s%n", "../../etc/passwd", "{{m}}", "m" * 500, " m", "m ",
        "__proto__", "m\ttab", "\u202em"]


def raw(address, data):
    """The whole answer to some bytes, until the gateway closes."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def sane(answer, what):
    """One head of sane lines, none of them made by the client, and a body of JSON."""
    head, _, body = answer.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n")[1:]:
        assert re.fullmatch(rb"[a-z0-9-]+: [\x20-\x7e]*", line), (what, line)
        assert not line.lower().startswith(b"x-evil"), (what, line)
    return json.loads(body)


def post(gateway, body, *fields, path=CHAT):
    data = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: a", "Connection: close", "Content-Type: application/json",
             f"Content-Length: {len(data)}"]
    head = "\r\n".join(lines).encode() + b"".join(b"\r\n" + name + b": " + value for name, value in fields)
    return raw(gateway.listen, head + b"\r\n\r\n" + data)


def names(gateway, _provider):
    """A model's name or a pin cannot break a header, the JSON, a log line or a metric"""
    for path in (CHAT, MESSAGES):
        for name in EVIL:
            answer = post(gateway, {"model": name, "max_tokens": 5, "messages": HELLO}, path=path)
            told = sane(answer, name)
            assert answer.startswith(b"HTTP/1.1 4"), (name, answer[:100])
            assert told["error"]["message"], told
            pin = name.encode()
            if not re.search(rb"[\0-\x08\x0a-\x1f\x7f]", pin):  # these HTTP itself refuses
                answer = post(gateway, {"model": "m", "max_tokens": 5, "messages": HELLO}, (b"x-acog-channel", pin), path=path)
                assert answer.startswith(b"HTTP/1.1 409 "), (name, answer[:100])
                sane(answer, name)
    metrics = raw(gateway.admin, b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").partition(b"\r\n\r\n")[2]
    for line in metrics.splitlines():
        assert re.fullmatch(rb'(?:#.*|[a-z_]+(?:\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? [0-9.e+-]+)', line), line
    assert b"etc/passwd" not in metrics and b"X-Evil" not in metrics


def paths(gateway, _provider):
    """A path that leads nowhere is told back as JSON text, and an id of a model too"""
    for path in ('/"x', "/<script>", "/%0d%0aX-Evil:1", "/v1/models/%22x", '/v1/models/"x', "/" + "x" * 5000, "/v1/models/<b>"):
        answer = raw(gateway.listen, f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 404 "), (path, answer[:200])
        sane(answer, path)
        assert b"\r\ncontent-type: application/json\r\n" in answer, answer[:300]
        assert len(answer) < 2000, "a long path is cut"


def ids(gateway, _provider):
    """A request id is the client's when it is a sane token, else the gateway's own; also in bodies and in the log"""
    def answered(*fields):
        answer = post(gateway, {"model": "nobody", "messages": HELLO}, *fields)
        return re.findall(rb"\r\nx-request-id: ([^\r\n]*)", answer), sane(answer, fields)["request_id"]

    for good in (b"abc", b"A.b_c-9", b"x" * 128):
        assert answered((b"X-Request-ID", good)) == ([good], good.decode()), good
    for bad in (b"", b"a b", b'a"b', b"x" * 129, b"../x", b"caf\xc3\xa9", b"\xff", b"a,b", b"%0d%0a", b"{}", b"a\tb", b"<b>"):
        header, body = answered((b"x-request-id", bad))
        assert len(header) == 1 and re.fullmatch(rb"req_[a-z2-7]{24}", header[0]) and body == header[0].decode(), (bad, header, body)
    header, _ = answered((b"x-request-id", b"one"), (b"x-request-id", b"two"))
    assert len(header) == 1, header


def provider_words(gateway, provider):
    """Words of a provider's error and headers of its answer come down as text, or not at all"""
    provider.say = whole(400, {"error": {"message": 'no\r\nX-Evil: 1\u0000"<script>', "type": "invalid_request_error",
                                         "code": "a\r\nb"}},
                         [("X-Request-ID", "evil-id"), ("X-Acog-Connection", "evil"), ("Access-Control-Allow-Origin", "*"),
                          ("Set-Cookie", "a=b"), ("Retry-After", "1\t; x")])
    answer = post(gateway, {"model": "m", "messages": HELLO})
    sane(answer, "a provider's error")
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    for word in (b"evil-id", b": evil", b"access-control", b"set-cookie"):
        assert word not in answer.partition(b"\r\n\r\n")[0].lower(), (word, answer)
    provider.say = whole(200, chat_answer(model="m\r\nX-Evil: 1"), [("Content-Language", "caf\u00e9"), ("X-Evil", "1")])
    answer = post(gateway, {"model": "m", "messages": HELLO})
    assert answer.startswith(b"HTTP/1.1 200 ") and json.loads(answer.partition(b"\r\n\r\n")[2]) == chat_answer(model="m\r\nX-Evil: 1")
    sane(answer, "a provider's answer")


def b108_addresses(gateway, provider):
    """B108: no field, header, Host or target chooses an address, a key or a header of the upstream request"""
    provider.say = whole(200, chat_answer())
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.2)
        url = f"http://127.0.0.1:{trap.getsockname()[1]}/"
        wishes = {"api_base": url, "base_url": url, "api_key": "x", "custom_llm_provider": "evil", "url": url, "proxy": url,
                  "extra_headers": {"Host": "evil.example", "Authorization": "x"}, "metadata": {"api_base": url},
                  "litellm_params": {"api_base": url, "api_key": "x"}, "connection": "evil", "provider": {"order": ["evil"]}}
        body = {"model": "m", "messages": HELLO, **wishes}
        fields = [(name.encode(), url.encode()) for name in ("x-upstream", "x-base-url", "x-acog-connection", "x-acog-base-url",
                                                             "x-forwarded-host", "x-original-url", "x-rewrite-url", "location")]
        answer = post(gateway, body, *fields, (b"Authorization", b"Bearer client-key"), (b"x-forwarded-for", b"127.0.0.1"))
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        head, sent = provider.seen[-1]
        assert json.loads(sent) == body, "what the gateway does not read travels on as written"
        assert head[":line"] == f"POST {CHAT} HTTP/1.1" and head["host"] == f"127.0.0.1:{provider.port}", head
        assert head["authorization"] == f"Bearer {KEY}", head
        assert url not in json.dumps(head) and "client-key" not in json.dumps(head), head
        for pin in (url, "http://evil", "custom, evil", "only"):
            answer = post(gateway, body, (b"x-acog-channel", pin.encode()))
            assert answer.startswith(b"HTTP/1.1 409 "), (pin, answer)
        data = json.dumps(body).encode()
        host = f"127.0.0.1:{trap.getsockname()[1]}"
        for target in (CHAT, f"http://{host}{CHAT}"):
            raw(gateway.listen, f"POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n"
                                f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
            assert provider.seen[-1][0]["host"] == f"127.0.0.1:{provider.port}", provider.seen[-1]
        assert len(provider.seen) == 3
        try:
            trap.accept()
            raise AssertionError("the gateway went where a client sent it")
        except TimeoutError:
            pass


def browsers(gateway, provider):
    """A browser's page gets nothing: no CORS, no type it may send without asking, and none from elsewhere (DNS rebinding)"""
    page = b"Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n"
    for address in (gateway.listen, gateway.admin):
        for first in ("OPTIONS /v1/chat/completions", "OPTIONS /metrics", "OPTIONS *", "GET /v1/models", "GET /metrics", "GET /healthz"):
            answer = raw(address, first.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + page
                         + b"Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n")
            assert b"access-control" not in answer.lower(), (first, answer)
            if first.startswith("OPTIONS"):
                assert re.match(rb"HTTP/1\.1 40[45] ", answer), (first, answer)
    body = json.dumps({"model": "m", "messages": HELLO}).encode()
    port = gateway.listen.rsplit(":", 1)[1].encode()

    def ask(origin, kind, path=b"/v1/chat/completions"):
        return raw(gateway.listen, b"POST " + path + b" HTTP/1.1\r\nHost: evil.example:" + port + b"\r\nConnection: close\r\n" + origin + kind
                   + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    for kind in (b"", b"Content-Type: text/plain\r\n", b"Content-Type: application/x-www-form-urlencoded\r\n",
                 b"Content-Type: multipart/form-data; boundary=x\r\n"):
        answer = ask(b"Origin: http://localhost:3000\r\n", kind)
        assert answer.startswith(b"HTTP/1.1 415 "), (kind, answer)
    json_type = b"Content-Type: application/json\r\n"
    for origin in (b"https://evil.example", b"http://evil.example:" + port, b"null", b"http://127.0.0.1.evil.example", b""):
        for path in (b"/v1/chat/completions", b"/v1/messages"):
            answer = ask(b"Origin: " + origin + b"\r\n", json_type, path)
            assert answer.startswith(b"HTTP/1.1 403 ") and b"origin_not_allowed" in answer, (origin, path, answer)
    assert not provider.seen, "nothing went up"
    for origin in (b"", b"Origin: http://localhost:3000\r\n", b"Origin: http://127.0.0.1:" + port + b"\r\n", b"Origin: http://[::1]\r\n"):
        answer = ask(origin, json_type)
        assert answer.startswith(b"HTTP/1.1 200 "), (origin, answer)


def admin(gateway, _provider):
    """Admin pages: not on the public listener; hosts of their own; GET alone, and it changes nothing"""
    for path in ("/metrics", "/status.json"):
        answer = raw(gateway.listen, f"GET {path} HTTP/1.1\r\nHost: {gateway.admin}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 404 "), (path, answer)
        answer = raw(gateway.listen, f"GET http://{gateway.admin}{path} HTTP/1.1\r\nHost: {gateway.admin}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 404 "), (path, answer)
    for path in ("/metrics", "/status.json", "/healthz", "/readyz"):
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil", "[::1", ""):
            answer = raw(gateway.admin, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            assert re.match(rb"HTTP/1\.1 40[03] ", answer), (path, host, answer)
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "RELOAD"):
            answer = raw(gateway.admin, f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 405 "), (path, method, answer)

    def state():
        status = gateway.status()
        return {key: status[key] for key in ("connections", "circuits") if key in status}

    before = state()
    for path in ("/metrics", "/status.json", "/healthz", "/readyz", "/reload", "/quit", "/drain", "/", "/metrics?reset=1"):
        raw(gateway.admin, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert state() == before, (before, state())


class Saying(Provider):
    """Answers with `say`, and keeps what came."""

    def __init__(self):
        self.seen, self.say = [], whole(200, chat_answer())
        super().__init__(self.record)

    def record(self, head, body):
        self.seen.append((head, body))
        return self.say


def main():
    for story in (names, paths, ids, provider_words, b108_addresses, browsers, admin):
        provider = Saying()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            with Running(ACOG, configuration(GATEWAY % provider.port), {"KEY": KEY}, log) as gateway:
                story(gateway, provider)
            log.seek(0)
            for line in log:
                if line.startswith("{"):  # one event a line, and no line of a client's making
                    json.loads(line)
                assert not line.lower().startswith("x-evil") and KEY not in line, line
        print("ok", " ".join(story.__doc__.split()), flush=True)


if __name__ == "__main__":
    main()
