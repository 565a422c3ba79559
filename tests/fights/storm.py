#!/usr/bin/env python3
"""Connections come and go as fast as they can, most without a request: closed, reset, half a head, a TLS hello."""
import fight

HALF = b"POST /v1/chat/completions HTTP/1.1\r\nHost: te"
TLS = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40
SAYINGS = (b"", HALF, TLS, b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n", fight.request_bytes(fight.BODY),
           fight.request_bytes(fight.STREAM), b"\x00" * 100)
AT_ONCE = 200


def storm(gateway, count):
    for at in range(0, count, AT_ONCE):
        clients = [fight.connect(gateway) for _ in range(AT_ONCE)]
        for number, raw in enumerate(clients):
            try:
                raw.sendall(SAYINGS[number % len(SAYINGS)])
            except OSError:
                pass
        for raw in clients:  # reset: closed ones would use up the ports of the machine
            fight.reset(raw)
        if at % 1000 == 0:
            gateway.look()


def attack(gateway):
    count = 40000 if gateway.long else 3000
    fight.may_open(4 * AT_ONCE)
    with fight.at_once([lambda: storm(gateway, count // 2)] * 2):
        gateway.serves(10)
    return f"{count} connections"


with fight.Fight() as one:
    one.rounds(attack)
