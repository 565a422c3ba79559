"""clients_leave_test.py ACOG - clients that go away at any moment: in a head, in a body, while the provider is silent, in
an answer, between pipelined requests; with a close, a reset, or half a close. Nothing of them stays behind."""
import json
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Provider, Running, configuration  # noqa: E402

MODELS = ["real", "paced", "silent", "failover"]
CLIENTS, EACH = 20, 25

GATEWAY = """local acog = require "acog"
return acog.gateway { listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 2,
  limits = { write_high_bytes = 65536 },
  policy = (require "policies.acog"):with { name = "leave", refusal = { fallback_model = false },
    on_client_close = { drain = %d } },
  connections = {
    acog.connection "real" { channel = "custom", dialects = "chat", base_url = "http://127.0.0.1:%d/v1",
      models = { "real" } },
    acog.connection "paced" { channel = "custom", models = { "paced" },
      simulate = { text = "one two three four five", pace_ms = 20, delay_ms = 20 } },
    acog.connection "silent" { channel = "custom", models = { "silent" }, simulate = { hang = "head" } },
    acog.connection "down" { channel = "custom", weight = 1000, models = { "failover" },
      simulate = { status = 503, delay_ms = 20 } },
    acog.connection "up" { channel = "custom", models = { "failover" },
      simulate = { text = "one two three", pace_ms = 10 } },
  } }"""


def event(text, finish=None):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    data = f"data: {json.dumps(value)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


class Paced(Provider):
    """Streams at its own pace, large events among small ones; minds nobody who leaves."""

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as reader:
                while self.read(reader):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                       b"Transfer-Encoding: chunked\r\n\r\n")
                    for size in (1, 100, 30000, 1, 30000, 100):
                        connection.sendall(event("x" * size))
                        time.sleep(0.02)
                    connection.sendall(event("", "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        except OSError:
            pass


def visit(address, chance):
    """One client: sends all of its requests or a part, reads or not, and leaves somehow."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 10) as client:
        body = json.dumps({"model": chance.choice(MODELS), "stream": True, "messages": [
            {"role": "user", "content": "x" * chance.choice([1, 1000, 300000])}]}).encode()
        request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        request += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        request *= chance.choice([1, 1, 3])  # the large ones are more than the gateway reads ahead
        if chance.random() < 0.3:
            request = request[:chance.randrange(len(request))]
        client.settimeout(5)
        end = time.monotonic() + chance.random() * 0.3
        try:
            client.sendall(request)
            if chance.random() < 0.5:
                client.settimeout(0.1)
                while time.monotonic() < end and client.recv(chance.choice([1, 100, 65536])):
                    pass
            time.sleep(max(0, end - time.monotonic()))
            if chance.random() < 0.4:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif chance.random() < 0.3:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def visits(address, seed):
    chance = random.Random(seed)
    for _ in range(EACH):
        visit(address, chance)


def main(acog, drain):
    provider = Paced(None)
    with tempfile.TemporaryFile("w+") as log, \
            Running(acog, configuration(GATEWAY % (drain, provider.port)), log=log) as gateway:
        descriptors = f"/proc/{gateway.process.pid}/fd"
        before = len(os.listdir(descriptors))
        threads = [threading.Thread(target=visits, args=(gateway.listen, seed)) for seed in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = gateway.wait_until("all that is left are idle connections", lambda status: (
            status["requests_in_flight"] == 0 and all(
                worker["client_connections"] == 0 and worker["upstream_open"] == worker["upstream_idle"]
                for worker in status["workers"])), 20)
        assert sum(worker["requests"] for worker in status["workers"]) > CLIENTS * EACH / 4
        idle = sum(worker["upstream_idle"] for worker in status["workers"])
        now = len(os.listdir(descriptors))
        # What libcurl keeps for each worker is made with the first connection.
        assert now <= before + idle + 16, f"{before} descriptors, now {now} with {idle} idle connections"
    print(f"clients leave, drain {drain} s: ok")


if __name__ == "__main__":
    for seconds in (0, 1):
        main(sys.argv[1], seconds)
