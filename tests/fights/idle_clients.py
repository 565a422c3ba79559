#!/usr/bin/env python3
"""Ten thousand clients that have asked once and stay: little memory, and others are served as before."""
import fight

COUNT = 10000


def attack(gateway):
    count = fight.may_open(COUNT if gateway.long else 1500)
    idle = []
    for at in range(count):
        raw = fight.connect(gateway)
        if at % 2:  # the others have never said a word
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        idle.append(raw)
    for raw in idle[1::2]:
        assert raw.recv(100).startswith(b"HTTP/1.1 ")
    each = (gateway.look() - gateway.before_kb) * 1024 / count
    took = gateway.serves()
    gateway.gateway.wait_until("all are there", lambda status: sum(
        worker["client_connections"] for worker in status["workers"]) >= count)
    for raw in idle:
        raw.close()
    return f"{count} idle clients, {each:.0f} bytes each, {took * 1000:.1f} ms a request meanwhile"


with fight.Fight(limits=f"connections = {COUNT + 1000}") as one:
    one.rounds(attack)
