#!/usr/bin/env python3
"""One circuit for two workers: five failures over both open it once, and after the cooldown one request probes.

    circuit_test.py ACOG
"""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration, whole  # noqa: E402

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
CHAT = "/v1/chat/completions"
COOLDOWN_MS = 1500

GATEWAY = """local acog = require "acog"
local base = require "policies.acog"
return acog.gateway {
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 2,
  policy = base:with { health = { cooldown = %g } },
  connections = {
    acog.connection "only" { channel = "custom", dialects = { "chat" }, base_url = "http://127.0.0.1:%d/v1",
      models = { "m" }, default = true },
  },
}
"""


def served(status):
    return [worker["requests"] for worker in status["workers"]]


def clients_on_both_workers(gateway):
    """Connections that are known to sit on worker 0 and on worker 1: the counter that moves tells."""
    found = {0: [], 1: []}
    while min(len(clients) for clients in found.values()) < 10:
        client = Client(gateway.listen)
        before = served(gateway.status())
        client.send("/v1/models-of-nobody", BODY)
        client.receive()
        after = gateway.wait_until("the request is counted", lambda status: served(status) != before)
        found[0 if served(after)[0] != before[0] else 1].append(client)
    return found


def main():
    answers = {"now": lambda: whole(500, {"error": {"message": "no", "type": "server_error"}})}
    provider = Provider(lambda head, body: answers["now"]())
    with Running(sys.argv[1], configuration(GATEWAY % (COOLDOWN_MS / 1000, provider.port))) as gateway:
        clients = clients_on_both_workers(gateway)

        # S4.16: five consecutive failures, three on one worker and two on the other.
        for worker in (0, 1, 0, 1, 0):
            status, _, _ = clients[worker][0].post(CHAT, BODY)
            assert status == 500, f"the default connection's 500 is the answer (S4.4), not {status}"
        state = gateway.wait_until("both workers charged failures",
                                   lambda status: sum(worker["charged_failures"] for worker in status["workers"]) == 5)
        assert all(worker["charged_failures"] >= 1 for worker in state["workers"]), state["workers"]
        circuits = [circuit for circuit in state["circuits"] if circuit["state"] != "closed"]
        assert len(circuits) == 1 and circuits[0]["openings"] == 1, state["circuits"]
        opened_at = time.monotonic()

        # S4.17: while it is open nothing is sent, from either worker.
        sent = provider.requests
        for worker in (0, 1):
            status, headers, body = clients[worker][0].post(CHAT, BODY)
            assert (status, headers.get("retry-after")) == (503, "5"), (status, headers)
            assert b"upstream_unavailable" in body, body
        assert time.monotonic() - opened_at < COOLDOWN_MS / 1000, "the machine was too slow for this test"
        assert provider.requests == sent

        # B70: after the cooldown twenty requests come at once, ten at each worker; the upstream takes its time.
        hold = threading.Event()

        def answer_late():
            hold.wait(30)
            return whole(200, chat_answer())

        answers["now"] = answer_late
        name = circuits[0]["name"]
        gateway.wait_until("the cooldown is over", lambda status: next(
            circuit for circuit in status["circuits"] if circuit["name"] == name)["until_ms"] <= 0)
        before = sum(served(gateway.status()))
        every = clients[0][:10] + clients[1][:10]
        for client in every:
            client.send(CHAT, BODY)
        gateway.wait_until("nineteen are refused", lambda status: sum(served(status)) == before + 19)
        assert provider.requests == sent + 1, f"the provider saw {provider.requests - sent} requests, not one probe"
        hold.set()
        statuses = sorted(client.receive()[0] for client in every)
        assert statuses == [200] + [503] * 19, statuses

        # The probe was answered: the circuit is closed, on both workers.
        for worker in (0, 1):
            assert clients[worker][1].post(CHAT, BODY)[0] == 200
        print("one circuit for two workers: opened once, probed once, closed")


if __name__ == "__main__":
    main()
