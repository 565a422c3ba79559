#!/usr/bin/env python3
"""Walks the table of core/dialect/README.md: each cell says what becomes of a feature, and an example shows it.

    table_test.py TRANSLATE          --show: what each cell would have to say
"""
import json
import os
import re
import sys

import table_examples
from driver import translate

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "dialect", "README.md")
PAIRS = [(client, upstream) for client in ("chat", "messages", "responses")
         for upstream in ("chat", "messages", "responses", "gemini") if client != upstream]
TITLES = [f"{client} → {upstream}" for client, upstream in PAIRS]


def table():
    """{row: {pair: cell}} of the one table whose head names the pairs."""
    rows, titles = {}, None
    with open(README, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if titles is None and cells[1:] == TITLES:
                titles = cells[1:]
            elif titles and line.startswith("|-"):
                continue
            elif titles and line.startswith("|"):
                if cells[0] in rows or len(cells) != len(titles) + 1:
                    raise SystemExit(f"a row twice, or not of {len(titles)} cells: {cells[0]}")
                rows[cells[0]] = dict(zip(PAIRS, cells[1:]))
            elif titles:
                break
    return rows


def request_command(row, client, upstream):
    body = {"model": "m", **row[client]}
    if client == "messages":
        body.setdefault("max_tokens", 9000)
    return {"op": "request", "from": client, "to": upstream, "model": row.get("model", {}).get(upstream, ""),
            "body": json.dumps(body, ensure_ascii=False, separators=(",", ":"))}


def answer_command(row, client, upstream):
    command = {"op": "whole", "client": client, "upstream": upstream,
               "body": json.dumps(row[upstream], ensure_ascii=False, separators=(",", ":"))}
    if client in row.get("asked", {}):
        command["request"] = json.dumps({"model": "m", **row["asked"][client]})
    return command


def seen(row, client, upstream, where):
    return row["seen"].get((client, upstream), row["seen"].get(where))


def compact(body):
    return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))


def outcomes(row, client, upstream, answer, is_answer):
    """What may be said of a pair: a set of the first words, and the names that were dropped."""
    if "refused" in answer:
        return {"refused"}, set()
    body = compact(answer["body"])
    piece = seen(row, client, upstream, client if is_answer else upstream)
    names = set(filter(None, answer.get("dropped", "").split(", ")))
    if row.get("hidden") and row["hidden"] in body:
        return ({"carried", "as"} if piece and piece in body else {"WRONG, it is there"}), names
    if piece and piece in body:
        return {"carried", "as"}, names
    return {"lost"} if is_answer else {"left"} if not names else {"dropped"}, names


def complaint(cell, said, names):
    """What is wrong with a cell, or None. Its first word counts, and the names that it quotes as dropped."""
    word = cell.split()[0] if cell else ""
    quoted = set(re.findall(r"`([^`]*)`", cell))
    if word not in said:
        return f"is {'/'.join(sorted(said))}, {sorted(names)}"
    if quoted != names:
        return f"names {sorted(names)}"
    return None


def cases():
    for name, row in {**table_examples.REQUESTS, **table_examples.ANSWERS}.items():
        is_answer = name in table_examples.ANSWERS
        for client, upstream in PAIRS:
            source = upstream if is_answer else client
            if source in row and (not is_answer or client in row.get("asked", (client,))):
                command = answer_command if is_answer else request_command
                yield name, row, client, upstream, is_answer, command(row, client, upstream)


def main():
    written, tried, wrong, shown = table(), set(), 0, {}
    asked = list(cases())
    answers = translate(sys.argv[1], [one[-1] for one in asked])
    for (name, row, client, upstream, is_answer, _), answer in zip(asked, answers):
        said, names = outcomes(row, client, upstream, answer, is_answer)
        shown.setdefault(name, {})[client, upstream] = f"{'/'.join(sorted(said))} {' '.join(f'`{one}`' for one in sorted(names))}"
        tried.add((name, (client, upstream)))
        what = complaint(written.get(name, {}).get((client, upstream), ""), said, names)
        if what and "--show" not in sys.argv:
            wrong += 1
            print(f"WRONG {name}, {client} → {upstream}: the table says {written.get(name, {}).get((client, upstream))!r}, it {what}")
    if "--show" in sys.argv:
        for name, row in shown.items():
            print("| " + " | ".join([name] + [row.get(pair, "—").strip() for pair in PAIRS]) + " |")
        return
    for name, row in written.items():
        for pair, cell in row.items():
            if (cell != "—") != ((name, pair) in tried):
                wrong += 1
                print(f"WRONG {name}, {pair}: {cell!r}, but {'no' if cell != '—' else 'an'} example")
    print(f"{len(written)} rows, {len(tried)} cells with an example, {wrong} wrong")
    sys.exit(1 if wrong or not written else 0)


if __name__ == "__main__":
    main()
