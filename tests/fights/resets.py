#!/usr/bin/env python3
"""An upstream that resets its connections, idle ones and busy ones: the pool forgets them and nobody else suffers."""
import fight


class Resetting(fight.Provider):
    """Resets each connection after an answer, or in the middle of one when it is told so."""

    resetting = False

    def serve(self, connection):
        reader = connection.makefile("rb")
        while request := self.read(reader):
            with self.lock:
                self.requests += 1
            answer = fight.good()
            middle = b"in the middle" in request[1]
            try:
                connection.sendall(answer[:len(answer) // 2] if middle else answer)
            except OSError:
                break
            if middle or self.resetting:
                break
        reader.close()
        if self.resetting:
            fight.reset(connection)
        connection.close()


def ask(gateway, statuses, requests, text):
    for at in range(requests):
        client = fight.Client(gateway.gateway.listen)
        content = "in the middle" if text and at % 3 == 0 else "hello"
        status, _, _ = client.post(fight.CHAT, {"model": "m", "messages": [{"role": "user", "content": content}]})
        client.close()
        with gateway.provider.lock:
            statuses.append((content, status))


def attack(gateway):
    requests = 100 if gateway.long else 25
    statuses = []
    gateway.provider.resetting = True
    with fight.at_once([lambda middle=middle: ask(gateway, statuses, requests, middle)
                        for middle in (False, True) * 8]):
        gateway.look()
    gateway.provider.resetting = False
    calm = [status for content, status in statuses if content == "hello"]
    torn = [status for content, status in statuses if content != "hello"]
    assert calm and all(status == 200 for status in calm), f"{calm.count(200)} of {len(calm)}"
    assert torn and all(status == 502 for status in torn), sorted(set(torn))
    idle = sum(worker["upstream_idle"] for worker in gateway.gateway.status()["workers"])
    return f"{len(calm)} answers from connections that are reset behind them, {len(torn)} torn ones told 502, {idle} idle"


with fight.Fight(provider=Resetting(None), policy="attempts = { max = 1 }") as one:
    one.rounds(attack)
