"""What the fights share: a gateway under attack, its figures before and after, and the proof that it still serves.

A fight is NAME.py ACOG [--long]. The short form is a ctest case; the long one is for the hand (run.sh). Each goes its
rounds, of which the first warms caches and allocators: the figures of each are told, and at rest memory must be near
what it was before.
"""
import argparse
import contextlib
import json
import os
import resource
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration, whole  # noqa: E402

CHAT = "/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
STREAM = {**BODY, "stream": True}
SANITIZED_KB = 1 << 30  # of address space: shadow memory
REST_SECONDS = 11       # without a request: workers rest after five to ten
RESTED_KB = 6 << 10     # more than before the fight: code that was never used before, libevent's tables by descriptor

GATEWAY = """local acog = require "acog"
local base = require "policies.acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = %(workers)d, limits = { %(limits)s },
  policy = base:with { health = { threshold = 255, cooldown = 0.01 }, %(policy)s },
  connections = {
    acog.connection "only" { channel = "custom", dialects = { "chat" }, base_url = "http://127.0.0.1:%(port)d/v1",
      models = { "m" }, default = true },
  },
}
"""


def good(_head=None, _body=None):
    return whole(200, chat_answer())


class Fight:
    """An acog that serves with one connection to a provider, until the block ends."""

    def __init__(self, limits="", policy="", provider=None, workers=2):
        parser = argparse.ArgumentParser()
        parser.add_argument("acog")
        parser.add_argument("--long", action="store_true")
        chosen = parser.parse_args()
        self.long = chosen.long
        self.name = os.path.basename(sys.argv[0])[:-len(".py")]
        self.provider = provider or Provider(good)
        text = GATEWAY % {"limits": limits, "policy": policy, "port": self.provider.port, "workers": workers}
        self.log = open(os.path.join(os.path.dirname(path := configuration(text)), "log"), "w+b")
        self.gateway = Running(chosen.acog, path, log=self.log)
        self.pid = self.gateway.process.pid
        host, port = self.gateway.listen.rsplit(":", 1)
        self.address = (host, int(port))
        self.usual_descriptors = self.before_kb = self.worst_kb = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.gateway.__exit__()
        except SystemExit as problem:
            self.log.seek(0)
            print(self.log.read().decode("utf-8", "replace")[-4000:], file=sys.stderr)
            if kind is None:
                raise problem

    # -- figures ------------------------------------------------------------------------------------------

    def status_kb(self, field):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def look(self):
        """Notes the resident memory; what it is at its worst is told at the end."""
        now = self.status_kb("VmRSS")
        self.worst_kb = max(self.worst_kb, now)
        return now

    def own_descriptors(self):
        """Without the pool; the least of a few looks, since the question itself takes one for a moment."""
        looks = []
        for _ in range(5):
            pool = sum(worker["upstream_open"] for worker in self.gateway.status()["workers"])
            looks.append(self.descriptors() - pool)
            time.sleep(0.02)
        return min(looks)

    def settled(self):
        """Waits until nothing is left of clients and requests but the pool; descriptors and memory then."""
        self.gateway.wait_until("clients and requests are gone", lambda status: status["requests_in_flight"] == 0 and sum(
            worker["client_connections"] for worker in status["workers"]) == 0, 30)
        deadline = time.monotonic() + 10
        while (left := self.own_descriptors()) > self.usual_descriptors and time.monotonic() < deadline:
            pass
        return left, self.look()

    # -- the fight ----------------------------------------------------------------------------------------

    def serves(self, requests=20):
        """New clients get their answers, soon."""
        began = time.monotonic()
        for _ in range(requests):
            client = Client(self.gateway.listen)
            status, _, body = client.post(CHAT, BODY)
            client.close()
            assert status == 200 and b'"hello"' in body, (status, body)
        took = time.monotonic() - began
        assert took < 10, f"{requests} ordinary requests took {took:.1f} s"
        return took / requests

    def rounds(self, attack, count=3):
        """Attacks `count` times, looks after the gateway each time, and tells the figures."""
        self.serves()
        self.usual_descriptors = self.own_descriptors()
        self.before_kb, figures = self.look(), []
        for _ in range(count):
            said = attack(self)
            each = self.serves()
            figures.append(self.settled())
        descriptors, memory = [figure[0] for figure in figures], [figure[1] for figure in figures]
        sanitized = self.status_kb("VmSize") >= SANITIZED_KB  # it keeps what is freed
        if not sanitized:
            time.sleep(REST_SECONDS)
        rested = self.status_kb("VmRSS")
        print(f"{self.name}: {said}; then {each * 1000:.1f} ms a request; descriptors without the pool "
              f"{self.usual_descriptors}, after each round {descriptors}; resident kB {self.before_kb}, at worst "
              f"{self.worst_kb}, after each round {memory}, at rest {rested}", flush=True)
        assert descriptors[-1] <= self.usual_descriptors, "descriptors are lost"
        assert sanitized or rested - self.before_kb < RESTED_KB, "memory stays"


# -- clients that are no clients ------------------------------------------------------------------------------


def connect(fight):
    raw = socket.create_connection(fight.address, 30)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw


def reset(raw):
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def request_bytes(body, length=None):
    data = json.dumps(body).encode()
    return (f"POST {CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data) if length is None else length}\r\n\r\n").encode() + data


def ended(raw, seconds):
    """The first bytes of what the gateway says until it closes; None when it does not close in that time."""
    raw.settimeout(seconds)
    said = b""
    try:
        while piece := raw.recv(65536):
            said = (said + piece)[:200]
    except TimeoutError:
        return None
    except OSError:
        pass
    return said


def may_open(count):
    """Raises this process's limit of descriptors; the count that it allows, some kept for the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 200
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    return min(count, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)


@contextlib.contextmanager
def at_once(tasks):
    """Runs the functions in threads while the block runs; an exception in one of them is one here."""
    problems = []

    def guarded(task):
        try:
            task()
        except BaseException as problem:  # pylint: disable=broad-except
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
