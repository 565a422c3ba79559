#!/usr/bin/env python3
"""Bodies that come byte by byte are refused: a kilobyte, or the rest, must come in body_ms. (B113)"""
import time

import fight

BODY_MS = 1000


def attack(gateway):
    count = 1000 if gateway.long else 200
    began = time.monotonic()
    slow = []
    for at in range(count):
        raw = fight.connect(gateway)
        if at % 2:
            raw.sendall(fight.request_bytes(fight.BODY, length=100000))
        else:
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
        slow.append(raw)
    for _ in range(6):  # longer than body_ms
        for at, raw in enumerate(slow):
            try:
                raw.send(b" " if at % 2 else b"1\r\n \r\n")
            except OSError:
                pass
        gateway.look()
        gateway.serves(3)
        time.sleep(BODY_MS / 4000)
    statuses = [fight.ended(raw, 10) for raw in slow]
    took = time.monotonic() - began
    for raw in slow:
        raw.close()
    assert all(said is not None for said in statuses), "a slow body was never refused"
    told = sum(said.startswith(b"HTTP/1.1 408 ") for said in statuses)
    assert told > 0, statuses[:3]
    return f"{count} bodies byte by byte, {told} told 408, all gone after {took:.1f} s"


with fight.Fight(limits=f"body_ms = {BODY_MS}") as one:
    one.rounds(attack)
