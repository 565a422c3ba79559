#!/usr/bin/env python3
"""Captured traffic of the three dialects, replayed through the gateway from a stub made of it.

    replay_test.py ACOG          needs ACOG_CORPUS; ends with 77 (skipped) without it
                                 ACOG_SEED repeats a run; ACOG_CUTS: cuts of each stream (2)

Each record's request goes to the gateway, whose two connections lead to the stub. The stub gives the recorded answer
(without the recorded content-encoding, content-length and transfer-encoding, which no longer fit the body), and the
body must come out byte for byte, but for what DESIGN lists: a usage chunk that the client did not ask for is hidden,
and what follows the end of a stream is not passed on. What the stub receives must be the client's bytes, but for
stream_options. Then each stream is cut at random places: before the first output the other connection must answer;
after it the complete events so far must be unchanged and one error of the dialect must end them.
"""
import http.client
import json
import os
import random
import re
import socket
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Provider, Running, configuration  # noqa: E402

SURFACES = {"openai.chat": "/v1/chat/completions", "openai.responses": "/v1/responses",
            "anthropic.messages": "/v1/messages", "anthropic.count_tokens": "/v1/messages/count_tokens"}
FILES = ["openai.chat.json", "openai.chat.stream", "openai.responses.json", "openai.responses.stream",
         "anthropic.messages.json", "anthropic.messages.stream", "anthropic.count_tokens.json"]

# Records that may not come out unchanged, each for a reason a reviewer accepted.
EXCEPTIONS = {
    "505ee88eacc5": "no model in the request: a 400 of the gateway",
    "c915d930a578": "a 200 whose body is an error: an error for the client too",
    "9fe6d3b38627": "an error event after output: one error of the dialect ends the stream",
    "282923c5ef78": "an error event after output: one error of the dialect ends the stream",
    "735157d3e68d": "a chunk with an error beside its choices: one error of the dialect ends the stream",
    "0a4588d90fc6": "[DONE] with a tool call open and no finish reason: cut, by decision 15",
    "136c835ccb8d": "an event stream that calls itself application/json: not read as one (B118)",
}


def sse_blocks(body):
    """The raw blocks of an event stream, each with the line end that closes it; bytes in, bytes out."""
    blocks, start = [], 0
    for match in re.finditer(rb"(?:\r\n|\r|\n)(?:\r\n|\r|\n)+", body):
        blocks.append(body[start:match.end()])
        start = match.end()
    if start < len(body):
        blocks.append(body[start:])
    return blocks


def data_of(block):
    lines = re.split(rb"\r\n|\r|\n", block)
    parts = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    return b"\n".join(parts) if parts else None


def parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None


def is_usage_chunk(data):
    chunk = parsed(data) if data else None
    return isinstance(chunk, dict) and chunk.get("choices") == [] and isinstance(chunk.get("usage"), dict)


def has_output(dialect, data):
    """Whether an event is output for policies/acog (D9): text, reasoning, a tool call or a stop reason."""
    event = parsed(data) if data else None
    if not isinstance(event, dict):
        return False
    if dialect == "openai.chat":
        for choice in event.get("choices") or []:
            delta = choice.get("delta") or {}
            if choice.get("finish_reason") or any(
                    delta.get(name) for name in ("content", "reasoning", "reasoning_content", "tool_calls",
                                                 "function_call", "audio")):
                return True
        return False
    if dialect == "anthropic.messages":
        if event.get("type") == "content_block_start":
            return (event.get("content_block") or {}).get("type") not in ("text", "thinking")
        delta = event.get("delta") or {}
        if event.get("type") == "content_block_delta":  # a signature alone, or an empty piece, is none
            return any(delta.get(name) for name in ("text", "thinking", "partial_json"))
        return bool(delta.get("stop_reason")) or event.get("type") == "message_stop"
    kind = event.get("type", "")
    if kind.endswith(".delta"):
        return kind != "response.refusal.delta" and bool(event.get("delta"))
    return kind in ("response.completed", "response.incomplete", "response.failed") or (
        kind == "response.output_item.added" and (event.get("item") or {}).get("type") not in ("message", "reasoning", "mcp_list_tools"))


def expected_stream(dialect, body, usage_asked):
    out = []
    for block in sse_blocks(body):
        data = data_of(block)
        if dialect == "openai.chat" and not usage_asked and is_usage_chunk(data):
            continue
        out.append(block)
        if data == b"[DONE]":
            break
    return b"".join(out)


class Stub(Provider):
    """Answers each request with the record that the test put in `record`; may cut the first answer."""

    def __init__(self):
        self.record, self.cut_at, self.received = None, None, []
        super().__init__(None)

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            while request := self.read(reader):
                self.received.append(request[1])
                if not self.say(connection):
                    return

    def say(self, connection):
        """False: the connection is at its end."""
        response = self.record["response"]
        body = response["body"].encode("utf-8")
        start = f"HTTP/1.1 {response['status']} X\r\n"
        for name, value in response["headers"].items():
            if name.lower() not in ("content-encoding", "content-length", "transfer-encoding", "connection"):
                start += "".join(f"{name}: {one}\r\n" for one in (value if isinstance(value, list) else [value]))
        cut, self.cut_at = self.cut_at, None
        if cut is not None:
            chunk = b"%x\r\n%s\r\n" % (cut, body[:cut]) if cut else b""
            connection.sendall((start + "Transfer-Encoding: chunked\r\n\r\n").encode("latin-1") + chunk)
            if cut % 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
            return False
        if self.record["mode"] == "stream":
            pieces = [body[at:at + 997] for at in range(0, len(body), 997)]
            connection.sendall((start + "Transfer-Encoding: chunked\r\n\r\n").encode("latin-1"))
            for piece in pieces:
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.sendall(b"0\r\n\r\n")
        else:
            connection.sendall((start + f"Content-Length: {len(body)}\r\n\r\n").encode("latin-1") + body)
        return True


class Replay:
    def __init__(self, corpus):
        self.records = []
        for name in FILES:
            with open(f"{corpus}/1-llm/captures/{name}.open.jsonl", encoding="utf-8") as file:
                self.records += [json.loads(line) for line in file]
        self.stub = Stub()
        self.failures, self.counts = [], {}
        self.cuts = int(os.environ.get("ACOG_CUTS", 2))  # of each stream
        self.address = None

    def configuration(self):
        models = sorted({(self.request(record) or {}).get("model") for record in self.records} - {None})
        declared = "{ " + ", ".join(json.dumps(model) for model in models if isinstance(model, str)) + " }"
        connections = "".join(
            f'acog.connection "{name}" {{ channel = "custom", dialects = {{ "chat", "responses", "messages" }}, '
            f'base_url = "http://127.0.0.1:{self.stub.port}/v1", models = models }},' for name in ("one", "two"))
        return configuration(f"""local acog = require "acog"
local models = {declared}
local base = require "policies.acog"
return acog.gateway {{
  listen = "127.0.0.1:0", workers = 1,
  policy = base:with {{ health = {{ threshold = 255 }} }},
  connections = {{ {connections} }},
}}
""")

    @staticmethod
    def request(record):
        found = parsed(record["request"].get("body") or "")
        return found if isinstance(found, dict) else None

    def post(self, record):
        """Status, headers, body as far as it came, and whether it ended legally."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("POST", SURFACES[record["dialect"]], record["request"]["body"].encode("utf-8"),
                           {"content-type": "application/json"})
        answer = connection.getresponse()
        try:
            body, ended = answer.read(), True
        except http.client.IncompleteRead as error:
            body, ended = error.partial, False
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body, ended

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def wrong(self, record, what):
        if record["id"] in EXCEPTIONS:
            self.count("exception: " + EXCEPTIONS[record["id"]])
        else:
            self.failures.append(f"{record['id']} {record['dialect']} {record['mode']}: {what}")

    def usage_asked(self, record):
        options = (self.request(record) or {}).get("stream_options")
        return bool(isinstance(options, dict) and options.get("include_usage"))

    def replay_whole(self, record):
        self.stub.record, self.stub.received = record, []
        status, _, body, ended = self.post(record)
        sent = self.request(record)
        wanted = record["response"]["body"].encode("utf-8")
        if record["mode"] == "stream":
            wanted = expected_stream(record["dialect"], wanted, self.usage_asked(record))
        if status != record["response"]["status"] or not ended:
            return self.wrong(record, f"status {status}, ended {ended}: {body[:200]!r}")
        if body != wanted:
            at = next((i for i, (a, b) in enumerate(zip(body, wanted)) if a != b), min(len(body), len(wanted)))
            return self.wrong(record, f"body differs at {at}: {body[at - 40:at + 60]!r} instead of {wanted[at - 40:at + 60]!r}")
        # The first request: a refusal makes the policy ask its fallback model too (S4.24).
        received = json.loads(self.stub.received[0])
        if record["dialect"] == "openai.chat" and sent.get("stream"):
            options = received.pop("stream_options")
            original = sent.pop("stream_options", None) or {}
            if options != {**original, "include_usage": True}:
                return self.wrong(record, f"stream_options became {options}")
        elif self.stub.received[0] != record["request"]["body"].encode("utf-8"):
            return self.wrong(record, "the stub did not receive the client's bytes")
        if received != sent:
            return self.wrong(record, "the stub received another request")
        if record["id"] in EXCEPTIONS:
            return self.failures.append(f"{record['id']}: listed as an exception, and it comes out unchanged")
        return self.count(f"unchanged {record['dialect']} {record['mode']}")

    def replay_cut(self, record, at):
        body = record["response"]["body"].encode("utf-8")
        dialect = record["dialect"]
        self.stub.record, self.stub.received, self.stub.cut_at = record, [], at
        status, headers, got, _ = self.post(record)
        asked = self.usage_asked(record)
        whole = expected_stream(dialect, body, asked)
        blocks = [block for block in sse_blocks(body[:at]) if re.search(rb"(?:\r\n|\r|\n)(?:\r\n|\r|\n)$", block)]
        had_output = any(has_output(dialect, data_of(block)) for block in blocks)
        if not had_output:
            if headers.get("x-acog-attempts") != "2" or got != whole:
                return self.wrong(record, f"cut at {at}: the other connection did not answer ({status}, {got[:120]!r})")
            return self.count(f"cut before output {dialect}")
        prefix = expected_stream(dialect, b"".join(blocks), asked)
        if headers.get("x-acog-attempts") != "1":
            return self.wrong(record, f"cut at {at} after output: a second attempt was made")
        if not got.startswith(prefix):
            return self.wrong(record, f"cut at {at}: the events so far changed")
        rest = got[len(prefix):]
        if self.complete(dialect, blocks):
            if rest.strip():
                return self.wrong(record, f"cut at {at} after the end: {rest[:160]!r} was added")
            return self.count(f"cut after the end {dialect}")
        data = data_of(rest)
        error = parsed(data) if data else None
        shape = {"openai.chat": lambda: bool(error.get("error")) and "choices" not in error,
                 "anthropic.messages": lambda: error.get("type") == "error",
                 "openai.responses": lambda: error.get("type") == "response.failed"}[dialect]
        if len(sse_blocks(rest)) != 1 or not isinstance(error, dict) or not shape():
            return self.wrong(record, f"cut at {at}: ended with {rest[:200]!r}")
        return self.count(f"cut after output {dialect}")

    @staticmethod
    def complete(dialect, blocks):
        """Whether the blocks are a complete answer already (decision 15, B59); of n choices, each must be."""
        begun, finished = set(), set()
        for block in blocks:
            data = data_of(block)
            event = parsed(data) if data else None
            if data == b"[DONE]":
                return True
            if not isinstance(event, dict):
                continue
            for choice in event.get("choices") or []:
                begun.add(choice.get("index"))
                if choice.get("finish_reason"):
                    finished.add(choice.get("index"))
            if dialect == "anthropic.messages" and (
                    event.get("type") == "message_stop" or (event.get("delta") or {}).get("stop_reason")):
                return True
            if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
                return True
        return bool(begun) and begun == finished

    def run(self, acog, seed):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            try:
                with Running(acog, self.configuration(), log=log) as gateway:
                    self.address = gateway.listen
                    self.replay(random.Random(seed))
            except SystemExit:  # it did not start, or did not end well
                log.seek(0)
                print(log.read()[-4000:])
                raise

    def replay(self, dice):
        for record in self.records:
            self.replay_whole(record)
        for record in self.records:
            if record["mode"] == "stream" and record["id"] not in EXCEPTIONS:
                length = len(record["response"]["body"].encode("utf-8"))
                for _ in range(self.cuts):
                    self.replay_cut(record, dice.randrange(length))


def main():
    corpus = os.environ.get("ACOG_CORPUS")
    if not corpus:
        print("skipped: ACOG_CORPUS is not set")
        sys.exit(77)
    seed = int(os.environ.get("ACOG_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed} (ACOG_SEED repeats it)")
    replay = Replay(corpus)
    replay.run(sys.argv[1], seed)
    for what, number in sorted(replay.counts.items()):
        print(f"{number:6d}  {what}")
    for failure in replay.failures[:40]:
        print("FAILED", failure)
    print(f"{sum(replay.counts.values())} passed, {len(replay.failures)} failed")
    sys.exit(1 if replay.failures else 0)


if __name__ == "__main__":
    main()
