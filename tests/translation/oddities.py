"""Captured answers that no provider gives to a translated request: abridged or made up by hand, or with what only other
requests ask for. Each is a name, a pattern of what is wrong then, and a test of the answer; both must agree."""
import re

import corpus


def events(answer):
    """The events of a stream, or the one body."""
    if not answer.stream:
        return [corpus.parsed(answer.text)]
    return [event for event in (corpus.parsed(data) for _, data in corpus.events_of(answer.text)) if isinstance(event, dict)]


def parts_of_arguments(answer):
    return answer.dialect == "gemini" and '"partialArgs"' in answer.text


def unknown_status(answer):
    known = {None, "queued", "in_progress", "completed", "incomplete", "failed", "cancelled"}
    return answer.dialect == "responses" and any(
        (event.get("response") or event).get("status") not in known for event in events(answer))


def abridged(answer):
    """The pieces of a text are less than the text that is done."""
    pieces = {}
    for event in events(answer) if answer.dialect == "responses" else []:
        where = (event.get("item_id"), event.get("content_index"))
        if event.get("type") == "response.output_text.delta":
            pieces[where] = pieces.get(where, "") + event["delta"]
        if event.get("type") == "response.output_text.done" and where in pieces and pieces[where] != event["text"]:
            return True
    return False


def nothing_answered(answer):
    """No text, no call, and neither a refusal nor a usage that says that the model was at work."""
    if answer.dialect != "chat" or answer.stream:
        return False
    body = events(answer)[0]
    message = (corpus.listed(body.get("choices")) or [{}])[0].get("message") or {}
    return not any(message.get(name) for name in ("content", "tool_calls", "refusal", "function_call"))


def begun_with_content(answer):
    """In the middle of a server tool's program, which no translated request can declare, a message begins with content."""
    return answer.dialect == "messages" and any(
        event.get("type") == "message_start" and (event.get("message") or {}).get("content") for event in events(answer))


KINDS = [
    ("a whole message in message_start", "complete but cut", begun_with_content),
    ("arguments in pieces come only to who asks for them (streamFunctionCallArguments)", "failed", parts_of_arguments),
    ("a status that the API does not have", "stop: 'complete'", unknown_status),
    ("abridged by its author: the pieces are less than the text that is done", "text:", abridged),
    ("no message and no reason for it: no answer, and the gateway tries the next connection", "failed", nothing_answered),
]


def kind(answer, wrong):
    """The name of the first kind that explains what is wrong, or None."""
    for name, said, holds in KINDS:
        if re.search(said, wrong) and holds(answer):
            return name
    return None
