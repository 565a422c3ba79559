#!/usr/bin/env python3
"""A request from A to B, and back to A, says what it said but for the losses that held.py names.

    there_and_back_test.py TRANSLATE

Generated requests, ACOG_GENERATED of them (20,000; ACOG_SEED repeats a run), and every captured request where
ACOG_CORPUS is set. Both ways are checked: the translation holds what B can hold of A's, its translation back what A
can hold of that. No name of a field that was lost may be missing from the dropped-params list.
"""
import concurrent.futures
import json
import os
import random
import sys
import time

import corpus
import generator
import held
import normal
import rotation
from driver import translate

DIALECTS = ("chat", "messages", "responses")
BATCH = 1000
SHOWN_MAX = 10
UNKNOWN_FIELD = "x_unknown_field"


def difference(wanted, seen, where=""):
    """The first place where two values differ."""
    if isinstance(wanted, dict) and isinstance(seen, dict):
        for name in sorted(set(wanted) | set(seen)):
            found = difference(wanted.get(name), seen.get(name), f"{where}.{name}")
            if found:
                return found
        return None
    if isinstance(wanted, list) and isinstance(seen, list) and len(wanted) == len(seen):
        return next(filter(None, (difference(one, other, f"{where}[{index}]")
                                  for index, (one, other) in enumerate(zip(wanted, seen)))), None)
    if wanted == seen and type(wanted) is type(seen) or isinstance(wanted, (int, float)) and wanted == seen:
        return None
    return f"{where}: {json.dumps(wanted, ensure_ascii=False)[:500]} is {json.dumps(seen, ensure_ascii=False)[:500]}"


class Run:
    """`legal`: the requests are such as each provider takes, so that none may be refused or be strange to normal.py."""

    def __init__(self, program, legal=False):
        self.program, self.legal, self.losses = program, legal, held.Losses()
        self.compared, self.refused, self.unread, self.wrong, self.faults = 0, {}, {}, 0, []

    def fault(self, way, body, what):
        self.wrong += 1
        if self.wrong <= SHOWN_MAX:
            self.faults.append(f"WRONG {way}: {what}\n  {json.dumps(body, ensure_ascii=False)[:3000]}")

    def there(self, cases):
        """cases: (source, target, body). Those that were translated: (source, target, body, translated)."""
        answers = translate(self.program, [{"op": "request", "from": source, "to": target,
                                            "body": json.dumps(body, ensure_ascii=False)}
                                           for source, target, body in cases])
        for (source, target, body), answer in zip(cases, answers):
            if "refused" in answer:
                words = answer["refused"].split(":")[0]
                self.refused[words] = self.refused.get(words, 0) + 1
                if self.legal:
                    self.fault(f"{source}>{target}", body, f"refused: {answer['refused']}")
            elif "body" not in answer:
                self.fault(f"{source}>{target}", body, json.dumps(answer))
            else:
                yield source, target, body, answer

    def check(self, way, source, target, body, answer):
        try:
            original = normal.NORMAL[source](body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            words = f"{type(error).__name__} {error}"
            self.unread[words] = self.unread.get(words, 0) + 1
            if self.legal:
                self.fault(way, body, f"not in the normal form: {words}")
            return False
        wanted = held.held(original, source, target, self.losses)
        seen = normal.NORMAL[target](json.loads(answer["body"]))
        if not held.rename_ids(wanted, seen, target):
            self.fault(way, body, "two ids are one")
        what = difference(wanted, seen)
        dropped = set(answer["dropped"].split(", "))
        lost = UNKNOWN_FIELD in body and UNKNOWN_FIELD not in dropped
        what = what or next(held.unnamed(self.losses, dropped), f"{UNKNOWN_FIELD} is not named" if lost else None)
        self.compared += 1
        if what:
            self.fault(way, body, what)
        return what is None

    def batch(self, cases):
        held_well = [(target, source, json.loads(answer["body"])) for source, target, body, answer in self.there(cases)
                     if self.check(f"{source}>{target}", source, target, body, answer)]
        for source, target, body, answer in self.there(held_well):
            self.check(f"back {source}>{target}", source, target, body, answer)

    def add(self, other):
        self.compared, self.wrong = self.compared + other.compared, self.wrong + other.wrong
        self.faults = (self.faults + other.faults)[:SHOWN_MAX]
        for mine, theirs in ((self.losses.seen, other.losses.seen), (self.refused, other.refused),
                             (self.unread, other.unread)):
            for name, times in theirs.items():
                mine[name] = mine.get(name, 0) + times


def of_cases(program, cases, legal=False):
    run = Run(program, legal)
    run.batch(cases)
    return run


def of_generated(program, seed, indexes):
    """Every pair in turn."""
    pairs = [(source, target) for source in DIALECTS for target in DIALECTS if source != target]
    cases = [(*pairs[index % len(pairs)], index) for index in indexes]
    return of_cases(program, [(source, target, generator.request(random.Random(f"{seed}/{index}"), source))
                              for source, target, index in cases], legal=True)


def captured():
    """Every captured request, into both other dialects; parts that normal.py does not know are refused anyway."""
    for case in rotation.part_of(corpus.requests(), default=4)[0]:
        body = corpus.parsed(case.text)
        if isinstance(body, dict):
            for target in DIALECTS:
                if target != case.dialect:
                    yield case.dialect, target, body


def batches(items):
    items = list(items)
    return [items[begin:begin + BATCH] for begin in range(0, len(items), BATCH)]


def main():
    count = int(os.environ.get("ACOG_GENERATED", 20000))
    seed = int(os.environ.get("ACOG_SEED", time.time_ns() % 2**32))
    print(f"{count} generated requests, ACOG_SEED={seed}")
    run = Run(sys.argv[1])
    with concurrent.futures.ProcessPoolExecutor() as pool:
        parts = [pool.submit(of_generated, sys.argv[1], seed, indexes) for indexes in batches(range(count))]
        if "ACOG_CORPUS" in os.environ:
            parts += [pool.submit(of_cases, sys.argv[1], cases) for cases in batches(captured())]
        else:
            print("ACOG_CORPUS is not set: no captured requests")
        for part in parts:
            run.add(part.result())
    print("\n".join(run.faults))
    for name, times in sorted(run.losses.seen.items()):
        print(f"  loss: {times:6} {name}")
    for words, times in sorted(run.refused.items()):
        print(f"  refused: {times:6} {words}")
    for words, times in sorted(run.unread.items()):
        print(f"  not in the normal form: {times:6} {words}")
    print(f"{run.compared} comparisons, {run.wrong} wrong")
    sys.exit(1 if run.wrong else 0)


if __name__ == "__main__":
    main()
