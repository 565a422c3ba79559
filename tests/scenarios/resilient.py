"""resilient.py ACOG: the sixteen scenarios of examples/resilient/scenarios.lua over real sockets, under its policy and under
policies/acog, against a provider that really resets, stalls and breaks its streams. Times are a twentieth, but for Retry-After,
which is whole seconds on the wire. The verdicts are those of the simulator.
"""
import http.client
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from running import Provider, Running, whole  # noqa: E402

FASTER = 20
GRACE_SECONDS = 1  # of the real clock: what a loaded machine may add to a call; `seconds` only ever is an upper bound
TOKENS = 60
GATEWAY = """local acog, scenarios = require "acog", require "scenarios"
local policy = scenarios.policy("{policy}", {{}}, {faster})
if {waits} then policy = policy:with {{ backoff = {{ retry_after_max = 10 }} }} end
local function one(id, port, model, priority, weight)
  return acog.connection(id) {{ channel = "custom", dialects = "chat", priority = priority, weight = weight,
    base_url = "http://127.0.0.1:" .. port .. "/v1", models = {{ bench = {{ send_id = model }} }} }}
end
return acog.gateway {{ listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1, policy = policy,
  connections = {{ one("primary", {primary}, "primary-1", 0, 1000000), one("fallback", {fallback}, "fb-ok", 1, 1) }} }}
"""


class Scripted(Provider):
    """Plays `script`, one table a request, the last one again and again; `at` are the times of the requests."""

    def __init__(self, script):
        self.script, self.at = script, []
        super().__init__(None)

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            try:
                while request := self.read(reader):
                    with self.lock:
                        self.at.append(time.monotonic())
                        plays = self.script[min(len(self.at), len(self.script)) - 1]
                    if not self.play(connection, reader, json.loads(request[1])["model"], plays):
                        return
            except OSError:
                return  # the gateway has left

    def play(self, connection, reader, model, plays):
        """False: nothing more on this connection."""
        if plays.get("silent"):
            return bool(reader.read(1))
        if plays.get("reset"):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if "status" in plays:
            error = {"message": plays.get("message", "no"), "type": "error", "code": plays.get("code"), "param": None}
            connection.sendall(whole(plays["status"], {"error": error}, plays.get("headers", ())))
            return True
        return self.stream(connection, model, plays)

    @staticmethod
    def stream(connection, model, plays):
        def send(text):
            connection.sendall(f"{len(text):x}\r\n{text}\r\n".encode())

        def event(choices, usage=None):
            send("data: " + json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                                        "choices": choices, "usage": usage}) + "\n\n")

        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        time.sleep(plays.get("first_output", 0) / FASTER)
        for token in range(TOKENS):
            if token == plays.get("dies"):
                time.sleep(plays.get("stalls", 0) / FASTER)
                return False
            if token == plays.get("malformed"):
                send('data: {"broken\n\n')
            event([{"index": 0, "delta": {"content": f"{model}:{token} "}, "finish_reason": None}])
            time.sleep(0.05 / FASTER)
        event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        event([], {"prompt_tokens": 7, "completion_tokens": TOKENS, "total_tokens": 7 + TOKENS})
        if plays.get("done", True):
            send("data: [DONE]\n\n")
        connection.sendall(b"0\r\n\r\n")
        return True


class Answer:
    """What the client saw of one call, with its times at their full length."""

    def __init__(self, address):
        self.started = time.monotonic()
        connection = http.client.HTTPConnection(address, timeout=10)
        body = {"model": "bench", "stream": True, "stream_options": {"include_usage": True},
                "messages": [{"role": "user", "content": "hello"}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        self.status, self.headers, self.complete = answer.status, answer.headers, True
        pieces = []
        try:
            while piece := answer.read1(65536):
                pieces.append(piece)
        except (http.client.IncompleteRead, ConnectionError):
            self.complete = False
        connection.close()
        self.seconds = (time.monotonic() - self.started - GRACE_SECONDS) * FASTER
        self.body = b"".join(pieces).decode()
        self.read_events()

    def read_events(self):
        lines = [line[6:] for line in self.body.split("\n") if line.startswith("data: ")]
        self.events = [json.loads(line) for line in lines if line != "[DONE]"]
        told = self.events if self.status == 200 else [json.loads(self.body)]
        self.error = told[-1].get("error") if told else None
        choices = [event["choices"][0] for event in self.events if event.get("choices")]
        self.finished = any(choice["finish_reason"] for choice in choices)
        self.text = "".join(choice["delta"].get("content") or "" for choice in choices)

    def is_whole(self):
        texts = ["".join(f"{model}:{token} " for token in range(TOKENS)) for model in ("primary-1", "fb-ok")]
        return self.status == 200 and self.complete and self.error is None and self.finished and self.text in texts

    def is_clean_error(self):
        return self.complete and bool(self.error and self.error["message"]) and not self.finished and "[DONE]" not in self.body

    def by(self, connection):
        return self.headers["x-acog-connection"] == connection

    def has_usage(self):
        return f'"completion_tokens": {TOKENS}' in self.body or f'"completion_tokens":{TOKENS}' in self.body


# Each check is given the answer, and the times of the primary's and the fallback's requests, in seconds from the first one.
def one_attempt(code):
    return lambda a, p, f: len(p) == 1 and not f and a.status == 400 and a.error["code"] == code


def within(a, p, f, seconds, at_most):
    return sum(at <= seconds for at in p + f) <= at_most


ALWAYS_503 = [{"status": 503}]
# name: (what the primary plays, the best verdict, what must hold, what should)
SCENARIOS = {
    "S01": ([{"status": 429, "headers": [("Retry-After", "2")]}, {}], "pass",
            lambda a, p, f: within(a, p, f, 1.5, 2), lambda a, p, f: len(p) == 2 and p[1] / FASTER >= 1.8),
    "S02": ([{"status": 429}], "pass",
            lambda a, p, f: a.by("fallback") and within(a, p, f, 3, 4) and len(p + f) <= 6, None),
    "S03": ([{"status": 500}, {}], "pass", None, lambda a, p, f: len(p) == 2 and not f),
    "S04": (ALWAYS_503, "pass", lambda a, p, f: a.by("fallback") and len(p + f) <= 6, None),
    "S05": ([{"reset": True}, {}], "pass", None, None),
    "S06": ([{"silent": True}], "pass", lambda a, p, f: len(p) == 1 and a.by("fallback") and a.seconds <= 100, None),
    "S07": ([{"first_output": 20}], "pass", None, lambda a, p, f: a.by("fallback") and a.seconds <= 15),
    "S08": ([{"dies": 40}], "safe", lambda a, p, f: len(p + f) == 1, None),
    "S09": ([{"dies": 20, "stalls": 30}, {}], "safe", lambda a, p, f: a.seconds <= 46, None),
    "S10": ([{"malformed": 9}], "pass", lambda a, p, f: "broken" not in a.body and len(p + f) == 1, None),
    "S11": ([{"done": False}], "pass", lambda a, p, f: a.seconds <= 8 and a.has_usage(), None),
    "S12": ([{"status": 400, "code": "context_length_exceeded"}], "pass", one_attempt("context_length_exceeded"), None),
    "S13": ([{"status": 400, "code": "content_policy_violation"}], "pass", one_attempt("content_policy_violation"), None),
    "S14": ([{"dies": 40}], "safe", lambda a, p, f: "prefilled" not in a.body, None),
    "S15": (ALWAYS_503, "pass", lambda a, p, f: a.all_whole, lambda a, p, f: a.outage_count <= 12 and a.by("primary")),
    "S16": (ALWAYS_503, "pass",
            lambda a, p, f: all(event["model"] == "fb-ok" for event in a.events) and a.has_usage(), None),
}
# As in gateway_test.lua: what the default policy does otherwise.
OTHERWISE = {("acog", name): "partial" for name in ("S01", "S03", "S07", "S15")}
# Where the last of twenty calls is late, the circuit has been probed before it, and it is served by the primary again.
LATE = {("acog", "S15"): "pass"}


def twenty_calls(gateway, primary):
    """Of S15: the last answer, with what the others were."""
    started, all_whole, outage_count = time.monotonic(), True, None
    for number in range(20):
        time.sleep(max(0, started + number * 4 / FASTER - time.monotonic()))
        if outage_count is None and time.monotonic() - started >= 60 / FASTER:
            outage_count = len(primary.at)
            primary.script = [{}]
        answer = Answer(gateway.listen)
        all_whole = all_whole and answer.is_whole()
    answer.all_whole, answer.outage_count = all_whole, outage_count
    return answer


def verdict(name, gateway, primary, fallback):
    must, should = SCENARIOS[name][2:]
    answer = twenty_calls(gateway, primary) if name == "S15" else Answer(gateway.listen)
    starts = [[(at - primary.at[0]) * FASTER for at in provider.at] for provider in (primary, fallback)]
    if not answer.is_whole() and not answer.is_clean_error():
        return f"fail: neither an answer nor a clean error: {answer.status} {answer.body[-300:]}"
    if must and not must(answer, *starts):
        return f"fail: {answer.seconds:.1f} s, requests at {starts}"
    if name == "S09" and not Answer(gateway.listen).is_whole():
        return "fail: not healthy afterwards"
    if name in ("S12", "S13"):
        return "pass"
    if not answer.is_whole():
        return "safe"
    return "partial" if should and not should(answer, *starts) else "pass"


def play(acog, folder, policy, name):
    """Why it went otherwise, or None."""
    script, best = SCENARIOS[name][:2]
    refuses = [{"status": 400, "message": "No prefilled assistant turn."}]
    primary, fallback = Scripted(script), Scripted(refuses if name == "S14" else [{}])
    path = os.path.join(folder, f"{policy}-{name}.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(GATEWAY.format(policy=policy, faster=FASTER, waits=str(policy == "resilient").lower(),
                                  primary=primary.port, fallback=fallback.port))
    with Running(acog, path, log=subprocess.DEVNULL) as gateway:
        found, expected = verdict(name, gateway, primary, fallback), OTHERWISE.get((policy, name), best)
    return None if found in (expected, LATE.get((policy, name))) else f"{policy}: {name}: expected {expected}, got {found}"


def main(acog):
    with tempfile.TemporaryDirectory(prefix="acog-resilient-") as folder:
        os.mkdir(os.path.join(folder, "policies"))
        shutil.copy(os.path.join(HERE, "scenarios.lua"), folder)
        shutil.copy(os.path.join(HERE, "..", "..", "examples", "resilient", "resilient.lua"), os.path.join(folder, "policies"))
        rows = [(policy, name) for policy in ("resilient", "acog") for name in SCENARIOS]
        with ThreadPoolExecutor(4) as pool:
            problems = [found for found in pool.map(lambda row: play(acog, folder, *row), rows) if found]
    print("\n".join(problems + [f"{len(rows)} scenarios, {len(rows) - len(problems)} with the simulator's verdict"]))
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
