#!/usr/bin/env python3
"""The official SDKs of Node read translated streams to what those of Python read (answers_test.py has compared that).

    node_test.py TRANSLATE BUILD_FOLDER      run by run.py; ACOG_SHARE, ACOG_SEED: rotation.py
"""
import dataclasses
import json
import os
import shutil
import subprocess
import sys

import corpus
import exceptions
import readings
import rotation
from answers_test import CLIENTS, command_of, outcome
from driver import translate

HERE = os.path.dirname(os.path.abspath(__file__))
WHOLE = {"chat": readings.chat_whole, "messages": readings.messages_whole, "responses": readings.responses_whole}


def install(folder):
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "readings.mjs"):
        shutil.copy(os.path.join(HERE, name), folder)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)


def by_node(folder, streams):
    lines = "".join(json.dumps({"client": client, "sse": sse}, ensure_ascii=True) + "\n" for client, sse in streams)
    run = subprocess.run(["node", "readings.mjs"], cwd=folder, input=lines.encode(), stdout=subprocess.PIPE, check=True)
    told = [json.loads(line) for line in run.stdout.split(b"\n") if line]
    if not streams or len(told) != len(streams):
        raise SystemExit(f"{len(told)} answers from Node to {len(streams)} streams")
    return told


def comparable(client, reading):
    """Of fields that its API does not have, the SDK of Node keeps the last piece, and that of Python all."""
    if client == "chat" and isinstance(reading, readings.Reading):
        return dataclasses.replace(reading, reasoning="", native="")
    return reading


def what_python_reads(client, sse):
    try:
        return readings.by_sdk(client, True, sse)
    except readings.Unreadable as error:
        return str(error)


def main():
    folder = os.path.join(sys.argv[2], "translation", "node")
    install(folder)
    answers, complete = rotation.part_of([answer for answer in corpus.answers() if answer.stream], default=16)
    asked = [(answer, client) for answer in answers for client in CLIENTS if client != answer.dialect]
    results = translate(sys.argv[1], [command_of(answer, client) for answer, client in asked])
    whole = [(answer, client, got["sse"]) for (answer, client), got in zip(asked, results) if outcome(got) == "complete"]
    book = exceptions.Book("node", complete)
    for (answer, client, sse), told in zip(whole, by_node(folder, [(client, sse) for _, client, sse in whole])):
        book.tries(answer.id, f"{answer.dialect}>{client}")
        seen = comparable(client, WHOLE[client](told["message"]) if "message" in told else told["unreadable"])
        wanted = comparable(client, what_python_reads(client, sse))
        if seen != wanted:
            book.note(answer.id, f"{answer.dialect}>{client}", f"Python: {wanted}\n    Node: {seen}")
    sys.exit(book.close(len(whole)))


if __name__ == "__main__":
    main()
