#!/usr/bin/env python3
"""Clients whose heads come byte by byte are answered 408 in time, and nobody else notices them. (B113)"""
import time

import fight

HEAD_MS = 1000


def attack(gateway):
    count = 1000 if gateway.long else 200
    began = time.monotonic()
    slow = [fight.connect(gateway) for _ in range(count)]
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nX-Slow: " + b"x" * 1000
    for at in range(6):  # longer than head_ms
        for raw in slow:
            try:
                raw.send(head[at:at + 1])
            except OSError:
                pass  # it was closed: that is what we wait for
        gateway.look()
        gateway.serves(3)
        time.sleep(HEAD_MS / 4000)
    statuses = [fight.ended(raw, 10) for raw in slow]
    took = time.monotonic() - began
    for raw in slow:
        raw.close()
    assert all(said is not None for said in statuses), "a slow head was never refused"
    told = sum(said.startswith(b"HTTP/1.1 408 ") for said in statuses)
    assert told > 0, statuses[:3]
    assert took < HEAD_MS / 1000 + 10
    return f"{count} heads byte by byte, {told} told 408, all gone after {took:.1f} s"


with fight.Fight(limits=f"head_ms = {HEAD_MS}") as one:
    one.rounds(attack)
