#!/usr/bin/env python3
"""Every captured request of a surface, translated to every other dialect and held to that dialect's own schema.

    requests_test.py TRANSLATE      run by run.py

Refused may be only what stands on one of the grounds in refusals.py (CONFORMANCE decisions 13 and 14, lingua's
transform_errors.json), or what exceptions.tsv lists with a reason. ACOG_SHARE, ACOG_SEED: rotation.py.
"""
import collections
import json
import random
import sys

import corpus
import exceptions
import generator
import refusals
import rotation
import schemas
from driver import translate

GENERATED = 100
TARGETS = {"chat": ["gpt-5-mini", "gpt-4o"], "responses": ["gpt-5-mini"],
           "messages": ["claude-haiku-4-5", "claude-opus-4-8"], "gemini": ["gemini-2.5-flash"]}


def model_of(case):
    try:
        model = json.loads(case.text).get("model")
    except (ValueError, AttributeError):
        return None
    return model if isinstance(model, str) else None


def commands(cases):
    for case in cases:
        for target, models in TARGETS.items():
            if target == case.dialect:
                continue
            own = model_of(case)
            for model in dict.fromkeys(models + ([own] if own else [])):
                yield case, {"op": "request", "from": case.dialect, "to": target, "model": model, "body": case.text}


def generated():
    """As the schemas must take them; there_and_back_test.py looks at what they say."""
    for index in range(GENERATED):
        for dialect in ("chat", "messages", "responses"):
            body = generator.request(random.Random(f"schema/{index}"), dialect)
            yield corpus.Case(f"generated/{index}", dialect, json.dumps(body, ensure_ascii=False))


def verdict(command, answer):
    """What is wrong, or None."""
    if "body" not in answer:
        return "failed: " + json.dumps(answer)
    found = schemas.request_complaints(command["to"], json.loads(answer["body"]))
    return "schema: " + found[0] if found else None


def main():
    cases, complete = rotation.part_of(corpus.requests(), default=5)
    pairs = list(commands(cases + list(generated())))
    answers = translate(sys.argv[1], [command for _, command in pairs])
    tried = collections.Counter()
    book = exceptions.Book("requests", complete)
    for (case, command), answer in zip(pairs, answers):
        tried[case.dialect, command["to"]] += 1
        way = f"{case.dialect}>{command['to']} {command['model']}"
        book.tries(case.id, way)
        if "refused" in answer:
            ground = refusals.ground(case.dialect, case.text, command["to"], answer["refused"])
            if ground:
                book.stands_on(ground)
            else:
                book.note(case.id, way, "refused: " + answer["refused"])
            continue
        wrong = verdict(command, answer)
        if wrong:
            book.note(case.id, way, wrong)
    for pair, count in sorted(tried.items()):
        print(f"{pair[0]} > {pair[1]}: {count} translations")
    sys.exit(book.close(sum(tried.values())))


if __name__ == "__main__":
    main()
