#!/usr/bin/env python3
"""Every captured answer and stream, translated for every client, held to the client's schema, and read by the client's
official SDK beside the original read by its own.

    answers_test.py TRANSLATE      run by run.py

Streams are fed at once, a byte at a time and with other line ends; how each ended must be what its events say.
ACOG_SHARE, ACOG_SEED: rotation.py.
"""
import collections
import json
import sys

import corpus
import exceptions
import oddities
import readings
import rotation
import schemas
from driver import translate

CLIENTS = ("chat", "messages", "responses")

# Why an answer ended, by the dialect's own words.
REASONS = {
    "chat": {"stop": "stop", "length": "length", "tool_calls": "calls", "function_call": "calls",
             "content_filter": "refusal", "refusal": "refusal", "eos": "stop", "model_length": "context",
             "end_turn": "stop", "max_tokens": "length", "tool_use": "calls"},
    "messages": {"end_turn": "stop", "stop_sequence": "stop_sequence", "max_tokens": "length", "tool_use": "calls",
                 "model_context_window_exceeded": "context", "refusal": "refusal", "pause_turn": "pause"},
    "responses": {"completed": "stop", "max_output_tokens": "length", "content_filter": "refusal"},
    "gemini": {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "refusal", "RECITATION": "refusal",
               "PROHIBITED_CONTENT": "refusal", "BLOCKLIST": "refusal", "SPII": "refusal", "OTHER": "refusal",
               1: "stop", 2: "length", 3: "refusal", 4: "refusal"},
}

# What each client is told then (B60).
TOLD = {
    "chat": {"stop": "stop", "stop_sequence": "stop", "length": "length", "context": "length", "pause": "length",
             "calls": "tool_calls", "refusal": "content_filter"},
    "messages": {"stop": "end_turn", "stop_sequence": "stop_sequence", "length": "max_tokens", "calls": "tool_use",
                 "context": "model_context_window_exceeded", "pause": "pause_turn", "refusal": "refusal"},
    "responses": {"stop": "completed", "stop_sequence": "completed", "length": "max_output_tokens",
                  "context": "max_output_tokens", "pause": "max_output_tokens", "calls": "completed",
                  "refusal": "content_filter"},
}


def reason_of(dialect, reading):
    reason = REASONS[dialect].get(reading.stop, "unknown" if reading.stop else "")
    if reason == "stop" and reading.refusal:
        return "refusal"
    return "calls" if reason == "stop" and reading.calls else reason


def told(client, reason, direct, translated):
    """A refusal in the model's own words is a whole answer at OpenAI's; without a reason it is told by decision 15."""
    if reason == "refusal" and direct.stop in ("stop", "completed"):
        return {"chat": ("content_filter", "stop"), "responses": ("completed",), "messages": ("refusal",)}[client]
    if reason == "refusal" and client == "responses" and translated.stop == "completed":
        return ("completed",) if translated.refusal else ("content_filter",)
    if reason == "":
        reason = "calls" if translated.calls else "stop"
    return (TOLD[client][reason],)


def command_of(answer, client, **more):
    how = {"op": "stream", "sse": answer.text} if answer.stream else {"op": "whole", "body": answer.text}
    return {**how, "client": client, "upstream": answer.dialect, "usage_asked": True, **more}


def wanted_calls(answer, client, direct):
    """Arguments that are cut are no JSON: a whole answer of messages, whose input is an object, shows the text."""
    if client != "messages" or answer.stream:
        return direct.calls
    return [(name, {"partial_json": given} if isinstance(given, str) else given) for name, given in direct.calls]


def wanted_usage(usage):
    """A provider whose input is less than its cached tokens counts them beside it."""
    return dict(usage, input=max(usage["input"], usage["cached"] + usage["written"]))


def differences(answer, client, direct, translated):
    """What an application would see otherwise than behind its own provider."""
    calls = wanted_calls(answer, client, direct)
    if calls != translated.calls:
        yield "calls", calls, translated.calls
    said, seen = (direct.text, direct.refusal), (translated.text, translated.refusal)
    if client == "messages" and not translated.refusal:  # it has no part for a refusal: a text
        said, seen = direct.text + direct.refusal, translated.text
    elif not direct.refusal and reason_of(answer.dialect, direct) == "refusal":  # the category explains it
        said, seen = direct.text, translated.text
    if said != seen:
        yield "text", said, seen
    if direct.reasoning != translated.reasoning:
        yield "reasoning", direct.reasoning, translated.reasoning
    if direct.usage and wanted_usage(direct.usage) != translated.usage:
        yield "usage", direct.usage, translated.usage
    reason = reason_of(answer.dialect, direct)
    if reason == "unknown":  # told as a word that is no lie, and shown
        if translated.native != direct.stop or translated.stop in ("stop", "end_turn"):
            yield "stop", direct.stop, f"{translated.stop}, native {translated.native}"
    elif translated.stop not in told(client, reason, direct, translated):
        yield "stop", f"{direct.stop} as {told(client, reason, direct, translated)}", translated.stop


def stream_complaints(client, sse):
    for _, data in corpus.events_of(sse):
        if data == "[DONE]" and client == "chat":
            continue
        found = schemas.complaints(client, schemas.EVENTS[client], json.loads(data))
        if found:
            yield f"schema: {data[:200]}: {found[0]}"
            return


def judge(answer, client, got):
    """What is wrong with a translated answer, in order; nothing when it is right."""
    if answer.stream:
        out, wrong = got["sse"], list(stream_complaints(client, got["sse"]))
    else:
        out = got["body"]
        wrong = ["schema: " + found for found in schemas.complaints(client, schemas.WHOLE[client], json.loads(out))]
    if wrong:
        return wrong[0]
    try:
        translated = readings.by_sdk(client, answer.stream, out)
    except readings.Unreadable as error:
        return f"unreadable: {error}"
    direct, _ = readings.direct(answer.dialect, answer.stream, answer.text)
    if client == "messages" and answer.stream and any(isinstance(given, str) for _, given in direct.calls):
        translated.calls = readings.by_hand(client, out).calls  # the SDK mends arguments that are cut
    for name, wanted, seen in differences(answer, client, direct, translated):
        return f"{name}: {str(wanted)[:200]!r} is {str(seen)[:200]!r}"
    return None


def ended(answer):
    """How a stream ended, by the events alone: "error", "complete" or "cut" (decision 15)."""
    state, done, called = "cut", False, False
    for name, data in corpus.events_of(answer.text):
        event = corpus.parsed(data)
        if data.strip() == "[DONE]":
            done = True
        if not isinstance(event, dict):
            continue
        kind = event.get("type")
        if name == "error" or kind in ("error", "response.failed") or event.get("error"):
            return "error"
        if answer.dialect == "chat":
            choices = corpus.listed(event.get("choices"))
            state = "complete" if any(choice.get("finish_reason") for choice in choices) else state
            called = called or any((choice.get("delta") or {}).get("tool_calls") for choice in choices)
        if answer.dialect == "messages" and (kind == "message_stop" or (event.get("delta") or {}).get("stop_reason")):
            state = "complete"
        if answer.dialect == "responses" and kind in ("response.completed", "response.incomplete"):
            state = "complete"
        if answer.dialect == "gemini":
            ends = [one for one in corpus.listed(event.get("candidates")) if one.get("finishReason")]
            state = "complete" if ends or (event.get("promptFeedback") or {}).get("blockReason") else state
    return "complete" if done and not called and answer.dialect == "chat" else state


def commands_of(answer, client):
    """A stream is fed at once, a byte at a time, and with the other line ends."""
    yield command_of(answer, client)
    if answer.stream:
        lines = "\n" if "\r\n" in answer.text else "\r\n"
        yield command_of(answer, client, piece=1)
        yield command_of(answer, client, sse=answer.text.replace("\r\n", "\n").replace("\n", lines))


def outcome(got):
    if "failed" in got:
        return f"failed {got['failed']}"
    return "error" if "error" in got else "complete" if got["complete"] else "cut"


def verdict(answer, client, results):
    """What is wrong with all that came of an answer for a client, or None."""
    first = results[0]
    if any(result != first for result in results):
        return "pieces: other bytes when fed in pieces or with other line ends"
    if not answer.stream:
        return judge(answer, client, first) if "body" in first else f"whole: {json.dumps(first)[:200]}"
    if outcome(first) != ended(answer):
        return f"ended: {ended(answer)} but {outcome(first)}"
    if outcome(first) != "complete":
        return next(stream_complaints(client, first["sse"]), None)
    return judge(answer, client, first)


def main():
    answers, complete = rotation.part_of(corpus.answers(), default=8)
    asked = [(answer, client, list(commands_of(answer, client)))
             for answer in answers for client in CLIENTS if client != answer.dialect]
    results = iter(translate(sys.argv[1], [command for _, _, commands in asked for command in commands]))
    book = exceptions.Book("answers", complete)
    tried, ends, readers = collections.Counter(), collections.Counter(), collections.Counter()
    for answer, client, commands in asked:
        tried[answer.dialect, "stream" if answer.stream else "whole", client] += 1
        book.tries(answer.id, f"{answer.dialect}>{client}")
        ends[ended(answer) if answer.stream else "whole"] += 1
        wrong = verdict(answer, client, [next(results) for _ in commands])
        readers[readings.direct(answer.dialect, answer.stream, answer.text)[1]] += 1
        odd = wrong and oddities.kind(answer, wrong)
        if odd:
            book.stands_on(odd)
        elif wrong:
            book.note(answer.id, f"{answer.dialect}>{client}", wrong)
    for (upstream, how, client), count in sorted(tried.items()):
        print(f"{upstream} {how} for {client}: {count}")
    print("ends:", ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    print("originals read:", ", ".join(f"{count} {reader}" for reader, count in sorted(readers.items())))
    sys.exit(book.close(sum(tried.values())))


if __name__ == "__main__":
    main()
