"""bad_provider_test.py ACOG - providers that misbehave, in all three dialects over real sockets (B104, B109, B115, B117,
B118). Before its first output a bad answer is left for the other connection; where there is none, the client gets one
error of its own dialect with a request id. Neither clients nor the log ever see the key."""
import gzip
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, configuration  # noqa: E402

KEY = "sk-upstream-secret-0123456789"
PROMPT = "what nobody may read"
SSE, JSON = "text/event-stream", "application/json"
CHUNKED = "Transfer-Encoding: chunked\r\n"
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}


def answer(status, body, content_type=JSON, fields="", length=True):
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\n{fields}"
    head += f"Content-Length: {len(body)}\r\n" if length else ""
    return head.encode() + b"\r\n" + body


def error(message):
    return json.dumps({"type": "error", "error": {"message": message, "type": "x", "code": None}}).encode()


def stream(body):
    return answer(200, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), SSE, CHUNKED, False)


def whole_body(dialect):
    if dialect == "chat":
        message = {"role": "assistant", "content": "hello"}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if dialect == "messages":
        return {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "hello"}], "usage": {"input_tokens": 1, "output_tokens": 1}}
    part = {"type": "output_text", "text": "hello", "annotations": []}
    return {"id": "1", "object": "response", "status": "completed", "model": "m",
            "output": [{"type": "message", "id": "2", "role": "assistant", "status": "completed", "content": [part]}]}


def bad_wholes(dialect):
    """What no client can use: name -> the provider's bytes for a request that is not streamed."""
    good = json.dumps(whole_body(dialect)).encode()
    return {
        "html": answer(200, b"<html>log in</html>", "text/html"),
        "html-as-json": answer(200, b"<html>log in</html>"),
        "cut-json": answer(200, good[:-10]),
        "empty": answer(200, b""),
        "null": answer(200, b"null"),
        "list": answer(200, b"[]"),
        "deep": answer(200, b'{"choices":' + b"[" * 100000),
        "no-utf8": answer(200, good.replace(b"hello", b"\xff")),
        "error-in-200": answer(200, error("the key is " + KEY)),
        "stream": answer(200, b"data: {}\n\n", SSE),
        "other-type": answer(200, good, "application/octet-stream"),
        "no-gzip": answer(200, good, fields="Content-Encoding: gzip\r\n"),
        "cut-gzip": answer(200, gzip.compress(good)[:-12], fields="Content-Encoding: gzip\r\n"),
        "brotli": answer(200, good, fields="Content-Encoding: br\r\n"),
        "two-lengths": answer(200, good, fields="Content-Length: 5\r\n"),
        "length-and-chunks": answer(200, good, fields=CHUNKED),
        "bad-chunk": answer(200, b"zz\r\n", fields=CHUNKED, length=False),
        "cut-chunk": answer(200, b"ff\r\nabc", fields=CHUNKED, length=False),
        "no-http": b"hello\r\n\r\n",
        "bad-status": b"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n",
        "upgrade": b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n",
        "nothing": b"",
        "no-content": b"HTTP/1.1 204 X\r\n\r\n",
        "not-modified": b"HTTP/1.1 304 X\r\n\r\n",
        "redirect": answer(307, b"{}", fields="Location: http://127.0.0.1:9/\r\nSet-Cookie: a=b\r\n"),
        "interim-flood": b"HTTP/1.1 100 Continue\r\n\r\n" * 10000 + answer(200, good),
        "large-head": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1000000 + b"\r\n\r\n",
        "500-key": answer(500, error("boom " + KEY), fields=f"X-Key: {KEY}\r\n"),
        "500-key-text": answer(500, KEY.encode(), "text/plain"),
        "429-part-of-key": answer(429, error("limit of " + KEY[:12] + "***"), fields="Retry-After: soon\r\n"),
    }


def bad_streams():
    return {
        "json": answer(200, b'{"id":"1"}'),
        "html": answer(200, b"<html>", "text/html"),
        "error-in-200": answer(200, error("the key is " + KEY)),
        "error-first": stream(b"event: error\ndata: " + error("overloaded " + KEY) + b"\n\n"),
        "empty": stream(b""),
        "comments": stream(b": nothing\n\n" * 100),
        "large-event": stream(b"data: " + b"a" * 9_000_000),
        "bomb": answer(200, gzip.compress(b"data: " + b"a" * 50_000_000), SSE, "Content-Encoding: gzip\r\n"),
        "500-key": answer(500, error("boom " + KEY)),
    }


def check_error(dialect, name, status, headers, body):
    wanted = 500 if "500-key" in name else 429 if name.startswith("429") else 502
    # The provider closes without a word; where the gateway has not seen that yet, its next try ends with it.
    assert status in (wanted, 502), f"{status}, not {wanted}"
    assert headers["content-type"] == JSON and headers["x-request-id"].startswith("req_"), headers
    told = json.loads(body)
    assert told["request_id"] == headers["x-request-id"]
    if dialect == "messages":
        assert told["type"] == "error" and headers["request-id"] == headers["x-request-id"]
    assert told["error"]["type"] and told["error"]["message"] and told["error"]["code"]
    for name in ("location", "set-cookie", "x-key", "content-encoding"):
        assert name not in headers, name


def ask(gateway, dialect, model, streamed):
    client = Client(gateway.listen)
    body = {"model": model, "stream": streamed, "max_tokens": 5, "messages": [{"role": "user", "content": PROMPT}]}
    if dialect == "responses":
        body = {"model": model, "stream": streamed, "input": PROMPT}
    told = client.post(PATHS[dialect], body)
    client.close()
    for text in (str(told[1]), told[2].decode("latin-1")):
        assert KEY not in text and KEY[:12] not in text, f"{model}: the key is told"
    return told


def configured(port, cases):
    """For each case one model that only the bad provider serves, and one that another may serve too."""
    rows = []
    for dialect, name in cases:
        model = f"{dialect}-{name}"
        rows.append(f'acog.connection "{model}" {{ channel = "custom", dialects = "{dialect}", key = acog.env "KEY", '
                    f'base_url = "http://127.0.0.1:{port}/{model}", models = {{ "{model}", "{model}-or-other" }} }},\n'
                    f'acog.connection "{model}-other" {{ channel = "custom", models = {{ "{model}-or-other" }}, '
                    "simulate = true },")
    return configuration("""local acog = require "acog"
return acog.gateway { listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  limits = { answer_bytes = 1000000 },
  policy = (require "policies.acog"):with { name = "in order", order = { "catalogue" }, spread = "none",
    health = { key = "connection", threshold = 255 }, backoff = { kind = "none" } },
  connections = { %s } }""" % "\n".join(rows))


def check_bomb(gateway):
    """More than is held commits the answer; at the cap it is cut, and the client sees that."""
    try:
        ask(gateway, "chat", "chat-bomb", False)
    except ValueError:  # no chunk after the last one
        return
    raise SystemExit("a bomb had a legal end")


def main(acog):
    answers = {}
    for dialect in PATHS:
        answers.update({(dialect, name): bytes_ for name, bytes_ in bad_wholes(dialect).items()})
        answers.update({(dialect, "stream-" + name): bytes_ for name, bytes_ in bad_streams().items()})

    bomb = answer(200, gzip.compress(b" " * 50_000_000), fields="Content-Encoding: gzip\r\n")

    class Bad(Provider):
        """Ends each connection after its answer."""

        def serve(self, connection):
            with connection, connection.makefile("rb") as reader:
                request = self.read(reader)
                if request is None:
                    return
                dialect, name = request[0][":line"].split()[1].split("/")[1].split("-", 1)
                try:
                    connection.sendall(bomb if name == "bomb" else answers[dialect, name])
                except OSError:
                    pass

    provider = Bad(None)
    with tempfile.TemporaryFile("w+") as log:
        with Running(acog, configured(provider.port, [*answers, ("chat", "bomb")]), {"KEY": KEY}, log) as gateway:
            for dialect, name in answers:
                streamed = name.startswith("stream-")
                try:
                    check_error(dialect, name, *ask(gateway, dialect, f"{dialect}-{name}", streamed))
                    status, headers, body = ask(gateway, dialect, f"{dialect}-{name}-or-other", streamed)
                    assert status == 200 and headers["x-acog-connection"] == f"{dialect}-{name}-other", (status, headers)
                    assert b"Hello" in body, body
                except (AssertionError, KeyError, ValueError) as wrong:
                    raise SystemExit(f"{dialect} {name}: {wrong!r}") from wrong
            check_bomb(gateway)
            gateway.wait_until("every connection is closed or idle", lambda status: all(
                worker["upstream_open"] == worker["upstream_idle"] for worker in status["workers"]))
        log.seek(0)
        text = log.read()
        assert '"outcome":"failed"' in text
        for secret in (KEY, KEY[:12], PROMPT):
            assert secret not in text, f"the log tells {secret}"
    print(f"bad providers: {len(answers)} answers, ok")


if __name__ == "__main__":
    main(sys.argv[1])
