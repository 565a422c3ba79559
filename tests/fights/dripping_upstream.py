#!/usr/bin/env python3
"""An upstream that drips its head, its answer or its stream is left when its clock has run out."""
import socket
import time

import fight

DRIP_S = 0.1


class Dripping(fight.Provider):
    """Asked for the model "head", "whole" or "stream", it says that part byte by byte; else it answers at once."""

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            while request := self.read(reader):
                text = request[1]
                try:
                    if b"drip the head" in text:
                        self.drip(connection, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000)
                    elif b"drip the answer" in text:
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
                        self.drip(connection, b"{" + b" " * 999)
                    elif b"drip the stream" in text:
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                        self.drip(connection, b"data: " + b" " * 1000)
                    else:
                        connection.sendall(fight.good())
                except OSError:
                    return

    @staticmethod
    def drip(connection, text):
        for at in range(len(text)):
            connection.sendall(text[at:at + 1])
            time.sleep(DRIP_S)
        connection.shutdown(socket.SHUT_RDWR)


def ask(gateway, what, stream, found):
    client = fight.Client(gateway.gateway.listen)
    began = time.monotonic()
    status, _, _ = client.post(fight.CHAT, {"model": "m", "stream": stream,
                                            "messages": [{"role": "user", "content": f"drip the {what}"}]})
    client.close()
    found.append((what, status, time.monotonic() - began))


def attack(gateway):
    each = 20 if gateway.long else 5
    found = []
    kinds = [("head", False), ("head", True), ("answer", False), ("stream", True)] * each
    with fight.at_once([lambda kind=kind: ask(gateway, *kind, found) for kind in kinds]):
        gateway.serves(5)
        gateway.look()
    assert len(found) == len(kinds)
    for what, status, took in found:
        assert status == 504, f"the upstream that drips its {what}: {status} after {took:.1f} s"
        assert took < 15, f"the upstream that drips its {what} held a client for {took:.1f} s"
    worst = max(took for _, _, took in found)
    return f"{len(kinds)} dripping answers, 504 after {worst:.1f} s at most"


CLOCKS = "attempts = { max = 1 }, clocks = { headers = { base = 1 }, first_output = { base = 1.5 }, total = { base = 2, cap = 2 } }"
with fight.Fight(provider=Dripping(None), policy=CLOCKS) as one:
    one.rounds(attack)
