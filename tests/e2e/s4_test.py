#!/usr/bin/env python3
"""CONFORMANCE S4 over real sockets: each line that the default policy promises, seen from a client and from providers.

    s4_test.py ACOG

`direct` and `custom` connections lead to providers of this test; `bedrock`, `vertex` and `azure` are played by the gateway.
What needs exact times is in policies/acog/acog_test.lua, on a virtual clock.
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Client, Provider, Running, chat_answer, configuration, whole  # noqa: E402

ACOG = sys.argv[1]
HAIKU, STAMPED, SONNET = "claude-haiku-4-5", "claude-haiku-4-5@20251001", "claude-sonnet-4-5"
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
CODE = {409: "model_not_configured", 503: "upstream_unavailable"}

# Short pauses, and circuits out of the way of stories that are not about them.
QUICK = "base:with { backoff = { min_ms = 1, max_ms = 2 }, health = { threshold = 255 } }"


def ok(text="hello"):
    return whole(200, chat_answer(text, HAIKU))


def error(status, message="no", headers=()):
    return whole(status, {"error": {"message": message, "type": "some_error"}}, headers)


class Scripted(Provider):
    """Gives its answers in their order, the last one again and again; keeps what it was asked, and when."""

    def __init__(self, *answers):
        self.seen, self.times = [], []
        self.script(*answers or (ok(),))
        super().__init__(self.play)

    def script(self, *answers):
        self.answers = list(answers)

    def play(self, head, body):
        self.seen.append((head, json.loads(body)))
        self.times.append(time.monotonic())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer() if callable(answer) else answer


class Nobody:
    """A port that is taken and on which nobody listens."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]


def connection(name, channel, provider, more="", models=(HAIKU,), dialect="chat"):
    """A connection to `provider`; where that is a text, the reply that the gateway plays."""
    where = (f"simulate = {provider}" if isinstance(provider, str) else
             f'dialects = {{ "{dialect}" }}, base_url = "http://127.0.0.1:{provider.port}/v1"')
    ids = ", ".join(f'"{model}"' for model in models)
    return f'acog.connection "{name}" {{ channel = "{channel}", {where}, models = {{ {ids} }}, {more} }},'


def serving(*connections, policy=QUICK):
    return Running(ACOG, configuration(f"""local acog = require "acog"
local base = require "policies.acog"
return acog.gateway {{
  listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 1,
  policy = {policy},
  connections = {{ {" ".join(connections)} }},
}}
"""), log=subprocess.DEVNULL)


class Talk:
    """A client and what it asks; an answer is (status, headers, JSON body)."""

    def __init__(self, gateway):
        self.client = Client(gateway.listen)

    def ask(self, headers=(), model=HAIKU, path=CHAT, **fields):
        body = {"model": model, "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}], **fields}
        status, head, data = self.client.post(path, body, headers)
        return status, head, json.loads(data)


def refused(answer, status, code=None):
    assert (answer[0], answer[2]["error"]["code"]) == (status, code or CODE[status]), answer
    if answer[0] == 503 and code is None:
        assert answer[1]["retry-after"] == "5", answer
    return answer


def served_by(answer, name):
    assert (answer[0], answer[1].get("x-acog-connection")) == (200, name), answer
    return answer


# -- which connection serves ---------------------------------------------------------------------------


def s4_1_s4_2_the_model_selects():
    """S4.1, S4.2: the model selects the connections that declared it, the body no other; nobody declares it: a 409."""
    a, b = Scripted(), Scripted()
    with serving(connection("a", "direct", a), connection("b", "direct", b, models=[SONNET])) as gateway:
        talk = Talk(gateway)
        served_by(talk.ask(), "a")
        served_by(talk.ask(model=SONNET), "b")
        served_by(talk.ask(model=SONNET, provider={"only": ["a"]}, api_base="http://127.0.0.1:9/"), "b")
        answer = refused(talk.ask(model="claude-haiku-9"), 409)
        assert "claude-haiku-9" in answer[2]["error"]["message"], answer
    assert (a.requests, b.requests) == (1, 2)


def s4_3_s4_4_the_default_serves_alone():
    """S4.3, S4.4: the default connection serves, and only it; its 429, 5xx or silence is the answer."""
    d, other = Scripted(), Scripted()
    with serving(connection("other", "direct", other), connection("d", "custom", d, "default = true")) as gateway:
        talk = Talk(gateway)
        for _ in range(4):
            served_by(talk.ask(), "d")
        d.script(error(429, "slow down", [("Retry-After", "7")]))
        status, head, body = talk.ask()
        assert (status, head["retry-after"], body["error"]["message"]) == (429, "7", "slow down")
        for status in (500, 503, 529):
            d.script(error(status, "broken"))
            answer = talk.ask()
            assert (answer[0], answer[2]["error"]["message"], answer[1]["x-acog-attempts"]) == (status, "broken", "1")
        sent = d.requests
        d.script(None)
        refused(talk.ask(), 502, "upstream_unavailable")
        assert d.requests <= sent + 2, "once more only where a kept connection had died"
    assert other.requests == 0


def s4_5_the_defaults_open_circuit():
    """S4.5: while the circuit of the default connection is open: 503, Retry-After 5, and nobody else is asked."""
    d, other = Scripted(error(500)), Scripted()
    with serving(connection("d", "direct", d, "default = true"), connection("other", "custom", other),
                 policy="base") as gateway:
        talk = Talk(gateway)
        for _ in range(5):
            assert talk.ask()[0] == 500
        refused(talk.ask(), 503)
    assert (d.requests, other.requests) == (5, 0)


def s4_6_others_share():
    """S4.6: connections that are not the default share the requests, and fail over between them."""
    a, b = Scripted(), Scripted()
    with serving(connection("a", "direct", a), connection("b", "custom", b)) as gateway:
        talk = Talk(gateway)
        for _ in range(10):
            assert talk.ask()[0] == 200
        assert (a.requests, b.requests) == (5, 5)
        a.script(error(500))
        for _ in range(4):
            served_by(talk.ask(), "b")


def s4_7_the_order_of_channels():
    """S4.7: behind the first they stand direct, bedrock, vertex, azure, custom: with each request one more fails."""
    once = "{ replies = { {}, { status = 500 } } }"
    direct = Scripted(ok(), error(500))
    with serving(connection("first", "azure", once, "weight = 1000"), connection("custom", "custom", Scripted()),
                 connection("azure", "azure", once), connection("vertex", "vertex", once),
                 connection("bedrock", "bedrock", once), connection("direct", "direct", direct),
                 policy=QUICK.replace("{ backoff", "{ attempts = { max = 0 }, backoff")) as gateway:
        talk = Talk(gateway)
        for attempts, name in enumerate(["first", "direct", "bedrock", "vertex", "azure", "custom"], 1):
            answer = served_by(talk.ask(), name)
            assert answer[1]["x-acog-attempts"] == str(attempts), answer


def s4_8_s4_9_s4_10_s4_32_versions():
    """S4.8, S4.9, S4.10, S4.32: ids match loosely both ways, the declared one is sent and told, families never mix."""
    for declared, asked in ((STAMPED, HAIKU), (HAIKU, STAMPED), (f"anthropic/{HAIKU}", f"us.anthropic.{HAIKU}-v1:0")):
        provider = Scripted()
        with serving(connection("a", "direct", provider, models=[declared])) as gateway:
            talk = Talk(gateway)
            answer = served_by(talk.ask(model=asked), "a")
            assert answer[1]["x-acog-resolved-model"] == declared, answer
            assert provider.seen[0][1]["model"] == declared, provider.seen
            for model in (SONNET, "claude-haiku-3-5", "claude-haiku-4-6", "claude-haiku-5", f"{HAIKU}-mini"):
                refused(talk.ask(model=model), 409)
        assert provider.requests == 1


# -- failover ------------------------------------------------------------------------------------------


def s4_11_network_and_5xx_move():
    """S4.11: a 5xx, a closed connection and a port where nobody listens are tried on another connection."""
    a, b = Scripted(), Scripted()
    with serving(connection("a", "direct", a, "weight = 1000"), connection("b", "custom", b)) as gateway:
        talk = Talk(gateway)
        for answer in (error(500), error(502), error(503), error(529), None):
            a.script(answer)
            answer = served_by(talk.ask(), "b")
            assert int(answer[1]["x-acog-attempts"]) >= 2, answer
    with serving(connection("a", "direct", Nobody(), "weight = 1000"), connection("b", "custom", b)) as gateway:
        served_by(Talk(gateway).ask(), "b")


def s4_12_a_429_only_elsewhere():
    """S4.12: a 429 moves to a different connection, and is the answer where there is none."""
    a, b = Scripted(error(429)), Scripted()
    with serving(connection("a", "direct", a, "weight = 1000"), connection("b", "custom", b)) as gateway:
        served_by(Talk(gateway).ask(), "b")
    assert (a.requests, b.requests) == (1, 1)
    with serving(connection("a", "direct", a)) as gateway:
        refused(Talk(gateway).ask(), 429, "rate_limited")
    assert a.requests == 2


def s4_13_not_usable():
    """S4.13: a connection whose settings are no longer allowed is refused before anything is sent to it."""
    a, b = Scripted(), Scripted()
    for usable in ('{ false, "contract ended" }', 'function() return false, "contract ended" end'):
        with serving(connection("a", "direct", a, f"weight = 1000, usable = {usable}"),
                     connection("b", "custom", b)) as gateway:
            served_by(Talk(gateway).ask(), "b")
        with serving(connection("a", "direct", a, f"usable = {usable}")) as gateway:
            refused(Talk(gateway).ask(), 503, "connection_not_usable")
    assert a.requests == 0


def s4_14_three_attempts():
    """S4.14: up to three attempts in all, with a short pause between them."""
    first, *rest = every = [Scripted(error(500, name)) for name in "abcd"]
    with serving(connection("a", "direct", first, "weight = 1000"),
                 *(connection(f"c{i}", "custom", provider) for i, provider in enumerate(rest)),
                 policy="base") as gateway:
        status, head, body = Talk(gateway).ask()
        assert (status, head["x-acog-attempts"], body["error"]["message"]) == (500, "3", "c"), (head, body)
    assert [provider.requests for provider in every] == [1, 1, 1, 0]
    times = [provider.times[0] for provider in every[:3]]
    assert min(times[1] - times[0], times[2] - times[1]) >= 0.045, times


def s4_15_the_requests_own_faults():
    """S4.15: 400, 401, 403, 404, 422 are returned at once; as they came, but for a refused key."""
    a, b = Scripted(), Scripted()
    with serving(connection("a", "direct", a, "weight = 1000"), connection("b", "custom", b)) as gateway:
        talk = Talk(gateway)
        for status in (400, 401, 403, 404, 422):
            a.script(error(status, "bad key sk-0123456789"))
            answer = talk.ask()
            assert answer[0] == status, answer
            own = "sk-0123456789" not in json.dumps(answer[2])
            assert own == (status in (401, 403)), answer
            assert own or answer[2] == {"error": {"message": "bad key sk-0123456789", "type": "some_error"}}
    assert (a.requests, b.requests) == (5, 0)


# -- circuits ------------------------------------------------------------------------------------------


def s4_16_s4_17_the_circuit():
    """S4.16, S4.17: five failures in sequence, nothing is sent to the channel, one request tests it; who cannot go
    elsewhere gets a 503."""
    a, sister, b = Scripted(error(500)), Scripted(), Scripted()
    pinned = [("x-acog-channel", "direct")]
    with serving(connection("a", "direct", a, "weight = 1000"), connection("b", "custom", b),
                 connection("sister", "direct", sister),
                 policy="base:with { attempts = { max = 1 }, health = { cooldown = 3 } }") as gateway:
        talk = Talk(gateway)
        for _ in range(5):
            assert talk.ask()[0] == 500
        served_by(talk.ask(), "b")
        refused(talk.ask(pinned), 503)
        assert (a.requests, sister.requests) == (5, 0), "the channel's other connection rests too"

        hold = threading.Event()

        def late():
            hold.wait(30)
            return ok()

        a.script(late)
        gateway.wait_until("the cooldown is over", lambda status: all(
            circuit.get("until_ms", 0) <= 0 for circuit in status["circuits"]))
        probe = Client(gateway.listen)
        probe.send(CHAT, {"model": HAIKU, "messages": [{"role": "user", "content": "hello"}]}, pinned)
        gateway.wait_until("the probe is under way", lambda status: status["requests_in_flight"] == 1)
        refused(talk.ask(pinned), 503)
        served_by(talk.ask(), "b")
        assert a.requests + sister.requests == 6, "one probe"
        hold.set()
        assert probe.receive()[0] == 200
        assert talk.ask(pinned)[0] == 200


# -- pin -----------------------------------------------------------------------------------------------


def s4_19_s4_20_the_pin():
    """S4.19, S4.20: x-acog-channel chooses a channel, over the default connection, and requests fail over inside it."""
    d, one, two = Scripted(), Scripted(error(500)), Scripted()
    with serving(connection("direct", "direct", d, "default = true"), connection("bedrock", "bedrock", "true"),
                 connection("vertex", "vertex", "true"), connection("azure", "azure", "true"),
                 connection("custom", "custom", one, "weight = 1000"), connection("custom-2", "custom", two)) as gateway:
        talk = Talk(gateway)
        served_by(talk.ask(), "direct")
        for channel in ("direct", "bedrock", "vertex", "azure"):
            answer = served_by(talk.ask([("X-ACOG-Channel", channel)]), channel)
            assert answer[1]["x-acog-channel"] == channel, answer
        served_by(talk.ask([("x-acog-channel", "custom")]), "custom-2")
        two.script(error(503, "also broken"))
        answer = talk.ask([("x-acog-channel", "custom")])
        assert answer[0] == 503 and "also broken" in answer[2]["error"]["message"], answer
    assert d.requests == 2


def s4_21_s4_22_pins_that_nobody_serves():
    """S4.21, S4.22: an unknown channel, and one on which nobody declares the model, are a 409."""
    d, custom = Scripted(), Scripted()
    with serving(connection("d", "direct", d, "default = true"),
                 connection("custom", "custom", custom, models=[SONNET])) as gateway:
        talk = Talk(gateway)
        for value in ("nowhere", "Direct", "http://evil.example", "vertex", "custom"):
            answer = refused(talk.ask([("x-acog-channel", value)]), 409)
            assert value in answer[2]["error"]["message"], answer
        served_by(talk.ask([("x-acog-channel", "custom")], model=SONNET), "custom")
    assert (d.requests, custom.requests) == (0, 1)


def s4_23_beside_the_anthropic_headers():
    """S4.23: on /v1/messages beside Authorization and anthropic-version, which pins claude-sonnet-4-5 to vertex."""
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": SONNET, "stop_reason": "end_turn",
              "stop_sequence": None, "content": [{"type": "text", "text": "hello"}],
              "usage": {"input_tokens": 1, "output_tokens": 1}}
    d, custom = Scripted(whole(200, answer)), Scripted(whole(200, answer))
    headers = [("Authorization", "Bearer client-key-1"), ("anthropic-version", "2023-06-01")]
    with serving(connection("d", "direct", d, "default = true", [SONNET], "messages"),
                 connection("v", "vertex", "true", "", [SONNET]),
                 connection("c", "custom", custom, "", [SONNET], "messages")) as gateway:
        talk = Talk(gateway)
        served_by(talk.ask(headers, SONNET, MESSAGES), "d")
        served_by(talk.ask([*headers, ("x-acog-channel", "vertex")], SONNET, MESSAGES), "v")
        served_by(talk.ask([*headers, ("x-acog-channel", "custom")], SONNET, MESSAGES), "c")
        head = custom.seen[0][0]
        assert head["anthropic-version"] == "2023-06-01" and "authorization" not in head, head
        assert "x-acog-channel" not in head, head


# -- policy-block fallback -----------------------------------------------------------------------------


def s4_24_to_s4_31_the_fallback():
    """S4.24-S4.31: an empty refusal is asked once more with the fallback model; what came of it is told."""
    opus, note = "claude-opus-4-8", "The requested model declined to answer; claude-opus-4-8 answered instead.\n\n"

    def message(model, texts, reason):
        return whole(200, {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": reason,
                           "stop_sequence": None, "content": [{"type": "text", "text": text} for text in texts],
                           "usage": {"input_tokens": 1, "output_tokens": 1}})

    refusal, gladly = message(HAIKU, [], "refusal"), message(opus, ["Gladly."], "end_turn")
    d = Scripted()
    with serving(connection("d", "direct", d, "default = true", [HAIKU, opus], "messages")) as gateway:
        talk = Talk(gateway)
        for script, headers, model, word, sent, content in (
                ([refusal, gladly], [], HAIKU, "applied", [HAIKU, opus], [note, "Gladly."]),
                ([refusal, refusal], [], HAIKU, "unavailable", [HAIKU, opus], []),
                ([refusal, error(500)], [], HAIKU, "unavailable", [HAIKU, opus], []),
                ([refusal], [("x-acog-policy-fallback", "off")], HAIKU, "unavailable", [HAIKU], []),
                ([refusal], [], opus, "skipped", [opus], []),
                ([gladly], [], HAIKU, None, [HAIKU], ["Gladly."])):
            d.script(*script)
            d.seen.clear()
            status, head, body = talk.ask(headers, model, MESSAGES)
            assert (status, head.get("x-acog-policy-fallback")) == (200, word), (head, body)
            assert [body["model"] for _, body in d.seen] == sent, d.seen
            assert [block["text"] for block in body["content"]] == content, body
            assert head["x-acog-resolved-model"] == (opus if word == "applied" else model), head


def main():
    for story in (s4_1_s4_2_the_model_selects, s4_3_s4_4_the_default_serves_alone, s4_5_the_defaults_open_circuit,
                  s4_6_others_share, s4_7_the_order_of_channels, s4_8_s4_9_s4_10_s4_32_versions,
                  s4_11_network_and_5xx_move, s4_12_a_429_only_elsewhere, s4_13_not_usable, s4_14_three_attempts,
                  s4_15_the_requests_own_faults, s4_16_s4_17_the_circuit, s4_19_s4_20_the_pin,
                  s4_21_s4_22_pins_that_nobody_serves, s4_23_beside_the_anthropic_headers, s4_24_to_s4_31_the_fallback):
        story()
        print("ok", " ".join(story.__doc__.split()), flush=True)


if __name__ == "__main__":
    main()
