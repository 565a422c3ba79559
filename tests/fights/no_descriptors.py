#!/usr/bin/env python3
"""No descriptors left: clients wait or get an error, and when descriptors come back all is as before."""
import resource
import threading

import fight

ROOM = 30  # descriptors above what the idle gateway has
hold = threading.Event()
holding = threading.Event()


def answer(_head, _body):
    if holding.is_set():
        hold.wait(20)
    return fight.good()


def attack(gateway):
    count = 400 if gateway.long else 150
    _, hard = resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE)
    hold.clear()
    holding.set()
    resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE, (gateway.usual_descriptors + ROOM, hard))
    clients = [fight.connect(gateway) for _ in range(count)]
    for raw in clients:
        raw.sendall(fight.request_bytes(fight.BODY).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    early = {}
    for raw in clients:
        raw.settimeout(0.01)
        try:
            early[raw] = raw.recv(65536)
        except TimeoutError:
            pass
        except OSError:
            early[raw] = b""
    gateway.look()
    full = gateway.descriptors()
    resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE, (hard, hard))
    holding.clear()
    hold.set()
    answers = [early[raw] if raw in early else fight.ended(raw, 20) for raw in clients]
    for raw in clients:
        raw.close()
    assert all(said is not None for said in answers), "a client was forgotten"
    good = sum(said.startswith(b"HTTP/1.1 200 ") for said in answers)
    errors = sum(said.startswith(b"HTTP/1.1 50") for said in answers)
    assert good > 0 and good + errors == count, [said[:60] for said in answers if not said.startswith(b"HTTP/1.1 ")][:5]
    return f"{count} requests with {full} descriptors at most, {good} answered, {errors} told an error"


with fight.Fight(provider=fight.Provider(answer), limits="pool_idle = 1") as one:
    one.rounds(attack)
