#!/usr/bin/env python3
"""Clients that ask for long answers and never read: bounded memory for each, the upstream is paused."""
import time

import fight

PIECE = ('data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
         '"delta":{"content":"' + "x" * 16000 + '"},"finish_reason":null}]}\n\n').encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
PIECES = 1000           # 16 MB
HELD_KB_MAX = 4 * 1024  # for one client, the kernel's buffers not counted


def answer(_head, body):
    return HEAD + PIECE * PIECES if b'"stream": true' in body else fight.good()


def attack(gateway):
    count = 50 if gateway.long else 12
    clients = [fight.connect(gateway) for _ in range(count)]
    for raw in clients:
        raw.sendall(fight.request_bytes(fight.STREAM))
    for _ in range(10):
        time.sleep(0.1)
        gateway.look()
        gateway.serves(2)
    gateway.gateway.wait_until("they all wait", lambda status: status["requests_in_flight"] == count)
    each_kb = (gateway.look() - gateway.before_kb) / count
    if gateway.status_kb("VmSize") < fight.SANITIZED_KB:
        assert each_kb < HELD_KB_MAX, f"{each_kb:.0f} kB for a client that does not read"
    for at, raw in enumerate(clients):
        (fight.reset if at % 2 else lambda it: it.close())(raw)
    return f"{count} clients that read nothing of 16 MB, {each_kb:.0f} kB each"


with fight.Fight(provider=fight.Provider(answer)) as one:
    one.rounds(attack)
