#!/usr/bin/env python3
"""Mutated requests to the gateway, HAProxy and nginx before recording backends: who takes what for a request?

    run.py ACOG [--requests N] [--lanes N] [--only NUMBER]

Three things are checked of each case.

- What the gateway says it sent upstream is what its backend recorded: one request each, of our own head and the
  client's body (but for the splices of DESIGN), and not a byte more.
- Each of these is a request of oracle.py, in the same order, and the gateway answers no more requests than there are.
- Where the gateway sent a case's request upstream, HAProxy and nginx recorded the same requests, or exceptions.py has
  the reason.

ACOG_SEED repeats a run; --only plays one of its cases and prints everything. Exit: 0, 1 with findings, 77 without peers.
"""
import argparse
import asyncio
import collections
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import exceptions  # noqa: E402
import oracle  # noqa: E402
from peers import NAMES, Peers, missing  # noqa: E402
from recorder import SENTINEL, STREAM_ASKED  # noqa: E402

SURFACES = {b"/v1/chat/completions", b"/v1/messages", b"/v1/responses", b"/v1/embeddings", b"/v1/messages/count_tokens"}
PATIENCE = 0.3          # seconds without an answer, then the proxy waits for more
PATIENCE_AGAIN = 3.0    # for a second look at what differs: a busy machine is no finding
FINDINGS_MAX = 20


USAGE_ASKED = b'"stream_options":{"include_usage":true},'  # DESIGN: the splice of a chat stream


def is_ordered_part(part, whole):
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in part)


def bodies_sent(gateway):
    """The client's bodies, without what the gateway put in."""
    return [request.body.replace(USAGE_ASKED, b"", 1) if STREAM_ASKED in request.body else request.body
            for request in gateway.requests]


def check_gateway(gateway, requests):
    """What is wrong with what the gateway did; None when nothing is."""
    if gateway.strange:
        return "the backend got bytes that are no request"
    if gateway.upstream != len(gateway.requests):
        return f"{gateway.upstream} answers from upstream, {len(gateway.requests)} requests there"
    if any((request.method, request.target) != (b"POST", b"/v1/chat/completions") for request in gateway.requests):
        return "a request of another form than ours was sent"
    if any(b"transfer-encoding" in request.raw.lower().partition(b"\r\n\r\n")[0] for request in gateway.requests):
        return "a coding was sent"
    asked = [request.body for request in requests if request.method == b"POST" and request.path in SURFACES]
    if not is_ordered_part(bodies_sent(gateway), asked):
        return "a body was sent that no request of the client's has"
    refusals = 1 if gateway.end == "closed" else 0
    if len(gateway.statuses) > len(requests) + refusals:
        return f"{len(gateway.statuses)} answers to {len(requests)} requests"
    if gateway.end == "in step" and len(gateway.statuses) != len(requests):
        return f"in step with {len(gateway.statuses)} answers to {len(requests)} requests"
    return None


def same_requests(peer, requests):
    """How many of the case's requests a peer recorded before it took something else for one."""
    count = 0
    for recorded, request in zip(peer.requests, requests):
        if (recorded.method, recorded.body) != (request.method, request.body):
            break
        count += 1
    return count


def compare(gateway, peer, requests):
    """How a peer read the case otherwise, as far as the gateway sent requests of it upstream: "frames" or "refuses".
    What a peer makes of bytes behind those is no matter: there the gateway refused."""
    same = same_requests(peer, requests)
    missed = set(bodies_sent(gateway)) - {request.body for request in requests[:same]}
    if not missed:
        return None
    return "frames" if same < len(peer.requests) else "refuses"


class Run:
    def __init__(self, peers, seed):
        self.peers, self.seed = peers, seed
        self.findings, self.counts, self.excepted = [], collections.Counter(), collections.Counter()

    async def play(self, lane, number, seconds):
        data, _ = cases.case(self.seed, number)
        cut = cases.cut_of(self.seed, number, data)
        outcomes = await asyncio.gather(*(lane[name].play(data, cut, seconds) for name in NAMES))
        return dict(zip(NAMES, outcomes))

    @staticmethod
    def judge(outcomes, requests):
        """What is to be looked at twice, or excused: a list of (who, what)."""
        found = []
        wrong = check_gateway(outcomes["gateway"], requests)
        if wrong:
            found.append(("gateway", wrong))
        for name in NAMES[1:]:
            difference = compare(outcomes["gateway"], outcomes[name], requests)
            if difference:
                found.append((name, difference))
        return found

    async def case(self, lane, number):
        data, notes = cases.case(self.seed, number)
        requests = oracle.read(data + SENTINEL)
        outcomes = await self.play(lane, number, PATIENCE)
        self.count(outcomes, requests)
        found = self.judge(outcomes, requests)
        if found:
            outcomes = await self.play(lane, number, PATIENCE_AGAIN)
            found = self.judge(outcomes, requests)
        for who, what in found:
            reason = exceptions.reason(who, what, data, outcomes[who])
            if reason:
                self.excepted[f"{who} {what}: {reason}"] += 1
            else:
                told = "\n".join(f"{name}: {outcome}" for name, outcome in outcomes.items())
                self.findings.append(f"case {number} ({', '.join(notes)}): {who}: {what}\nsent {data[:3000]!r}\n{told}")

    def count(self, outcomes, requests):
        self.counts["cases"] += 1
        self.counts["accepted"] += bool(outcomes["gateway"].requests)
        self.counts["sent upstream"] += len(outcomes["gateway"].requests)
        for name, outcome in outcomes.items():
            self.counts[f"{name} {outcome.end}"] += 1
            self.counts[f"{name} requests"] += len(outcome.requests)
            self.counts[f"{name} otherwise"] += same_requests(outcome, requests) < len(outcome.requests)

    async def work(self, lane, numbers):
        for number in numbers:
            if len(self.findings) >= FINDINGS_MAX:
                return
            await self.case(lane, number)

    async def all(self, count):
        numbers = iter(range(count))
        await asyncio.gather(*(self.work(lane, numbers) for lane in await self.peers.start()))
        self.peers.check()

    async def one(self, number):
        lane = (await self.peers.start())[0]
        data, notes = cases.case(self.seed, number)
        print(f"case {number} ({', '.join(notes)})\nsent {data!r}\noracle {oracle.read(data + SENTINEL)}")
        for name, outcome in (await self.play(lane, number, PATIENCE_AGAIN)).items():
            print(f"{name}: {outcome}")


def report(run, seconds):
    counts = run.counts
    print(f"{counts['cases']} cases in {seconds:.0f} s; {counts['accepted']} accepted by the gateway"
          f" ({100 * counts['accepted'] / max(1, counts['cases']):.0f} %), {counts['sent upstream']} requests upstream")
    for name in NAMES:
        ends = ", ".join(f"{counts[f'{name} {end}']} {end}" for end in ("in step", "closed", "waits"))
        otherwise = "" if name == "gateway" else f"; {counts[f'{name} otherwise']} cases read otherwise than RFC 9112 has them"
        print(f"{name:8} {counts[f'{name} requests']} requests at the backend; {ends}{otherwise}")
    for reason, times in sorted(run.excepted.items()):
        print(f"{times:6} × {reason}")
    for finding in run.findings:
        print(f"FINDING {finding}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("acog")
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--lanes", type=int, default=6)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    if missing():
        print(f"SKIPPED: {' and '.join(missing())} missing (Debian: apt install haproxy nginx-light)")
        return 77
    seed = os.environ.get("ACOG_SEED") or str(time.time_ns() % 1_000_000_000)
    print(f"ACOG_SEED={seed}")
    with tempfile.TemporaryDirectory(prefix="acog-differential-") as folder:
        peers = Peers(os.path.abspath(options.acog), folder, 1 if options.only is not None else options.lanes)
        run, start = Run(peers, seed), time.monotonic()
        try:
            asyncio.run(run.one(options.only) if options.only is not None else run.all(options.requests))
        finally:
            failures = peers.stop()
    if options.only is None:
        report(run, time.monotonic() - start)
    for failure in failures:
        print(failure)
    too_few = run.counts["accepted"] * 5 < run.counts["cases"]
    if too_few:
        print("less than a fifth of the cases were accepted: they test too little")
    return 1 if run.findings or failures or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
