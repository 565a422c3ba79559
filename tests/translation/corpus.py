"""The captured data as cases: requests and answers of the dialects, read in place (ACOG_CORPUS)."""
import dataclasses
import glob
import json
import os

ROOT = os.path.join(os.environ.get("ACOG_CORPUS", ""), "1-llm")
CAPTURED = {"openai.chat": "chat", "openai.responses": "responses", "anthropic.messages": "messages",
            "vertex.anthropic": "messages", "gemini": "gemini"}
LINGUA = {"chat-completions": "chat", "responses": "responses", "anthropic": "messages", "vertex-anthropic": "messages",
          "bedrock-anthropic": "messages", "google": "gemini"}
AGENTGATEWAY = {"completions": "chat", "messages": "messages", "responses": "responses"}


@dataclasses.dataclass
class Case:
    id: str
    dialect: str
    text: str


def at(*parts):
    return sorted(glob.glob(os.path.join(ROOT, *parts)))


def text_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def name_of(path):
    return os.path.relpath(path, ROOT)


def records(suffix):
    """Captured exchanges of the dialects: (dialect, record)."""
    for prefix, dialect in CAPTURED.items():
        for path in at("captures", f"{prefix}.{suffix}.*jsonl"):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    yield dialect, json.loads(line)


def requests():
    """Every request of a surface: chat, messages, responses."""
    for path in at("lingua", "snapshots", "*", "*", "*request*.json"):
        folder = path.split(os.sep)[-2]
        if folder in ("chat-completions", "responses", "anthropic"):  # the others' requests name no model
            yield Case(name_of(path), LINGUA[folder], text_of(path))
    for path in at("lingua", "fuzz-snapshots", "*", "*.request.json"):
        yield Case(name_of(path), "chat", text_of(path))
    for folder, dialect in AGENTGATEWAY.items():
        for path in at("agentgateway", "requests", folder, "*.json"):
            yield Case(name_of(path), dialect, text_of(path))
    for mode in ("json", "stream"):
        for dialect, record in records(mode):
            body = record["request"].get("body")
            if dialect != "gemini" and body and "vertex" not in record["dialect"]:  # whose address names the model
                yield Case(f"captures/{record['id']}", dialect, body)


# -- answers ---------------------------------------------------------------------------------------

ANSWER_FILES = [("lingua", "snapshots", "*", "*", "*response*.json"), ("lingua", "transforms", "*", "*.json"),
                ("streams", "*.sse"), ("vercel-ai", "**", "*.json"), ("vercel-ai", "**", "*.chunks.txt"),
                ("anthropic-sdk", "**", "*.txt"), ("anthropic-sdk", "**", "*.sse"), ("apisix", "**", "*.json"),
                ("apisix", "**", "*.sse"), ("tensorzero", "**", "*.json*"), ("agentgateway", "response", "**", "*.json")]
MESSAGES_EVENTS = ("message_start", "content_block_start", "ping")
LAST_EVENTS = ("message_stop", "response.completed", "response.incomplete", "response.failed")


@dataclasses.dataclass
class Answer:
    id: str
    dialect: str
    stream: bool
    text: str  # a JSON body, or an event stream


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def dialect_of_event(event):
    kind = event.get("type")
    if isinstance(event.get("choices"), list):
        return "chat"
    if "candidates" in event or "promptFeedback" in event:
        return "gemini"
    if kind in MESSAGES_EVENTS:
        return "messages"
    return "responses" if isinstance(kind, str) and kind.startswith("response.") else None


def dialect_of_whole(body):
    if isinstance(body.get("choices"), list) and body.get("object") != "text_completion":
        return "chat" if all("message" in choice for choice in listed(body["choices"])) else None
    if body.get("object") == "response":
        return "responses"
    if body.get("type") == "message" and isinstance(body.get("content"), list):
        return "messages"
    return "gemini" if "candidates" in body or "promptFeedback" in body else None


def listed(value):
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def stream_of(dialect, events):
    """Events as the dialect's own bytes."""
    out = ""
    for event in events:
        name = f"event: {event['type']}\n" if dialect in ("messages", "responses") else ""
        out += f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n"
    return out + ("data: [DONE]\n\n" if dialect == "chat" else "")


def answers_of_events(name, events):
    """A file may hold the streams of several turns."""
    dialect = next(filter(None, map(dialect_of_event, events)), None)
    if dialect is None or (dialect in ("messages", "responses") and any("type" not in event for event in events)):
        return
    begin, count = 0, 0
    for index, event in enumerate(events):
        if event.get("type") in LAST_EVENTS or index == len(events) - 1:
            count += 1
            yield Answer(f"{name}#{count}", dialect, True, stream_of(dialect, events[begin:index + 1]))
            begin = index + 1


def answers_of_file(path):
    text, name = text_of(path), name_of(path)
    if path.endswith((".chunks.txt", ".jsonl")):
        lines = [parsed(line) for line in text.splitlines() if line.strip() not in ("", "[DONE]")]
        return answers_of_events(name, lines) if all(isinstance(line, dict) for line in lines) else ()
    if "data:" in text[:4096] and not text.lstrip().startswith(("{", "[")):
        return answers_of_sse(name, text)
    body = parsed(text)
    if isinstance(body, list):
        return answers_of_events(name, body) if body and all(isinstance(event, dict) for event in body) else ()
    dialect = dialect_of_whole(body) if isinstance(body, dict) else None
    return [Answer(name, dialect, False, text)] if dialect else []


def events_of(text):
    """(name, data) of each event of a stream, as the WHATWG says."""
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        name, data = "", []
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
        if data:
            yield name, "\n".join(data)


def answers_of_sse(name, text):
    events = [event for event in (parsed(data) for _, data in events_of(text)) if isinstance(event, dict)]
    dialect = next(filter(None, map(dialect_of_event, events)), None)
    return [Answer(name, dialect, True, text)] if dialect else []


def answers():
    """Every answer and every stream of a dialect."""
    seen = set()
    for pattern in ANSWER_FILES:
        for path in sorted(glob.glob(os.path.join(ROOT, *pattern), recursive=True)):
            if path not in seen:
                seen.add(path)
                yield from answers_of_file(path)
    for mode in ("json", "stream"):
        for dialect, record in records(mode):
            body = record["response"].get("body") or ""
            name = f"captures/{record['id']}"
            if record["response"]["status"] != 200:
                continue
            if body.lstrip().startswith("{") and mode == "json":
                whole = parsed(body)
                if isinstance(whole, dict) and dialect_of_whole(whole) == dialect:
                    yield Answer(name, dialect, False, body)
            elif mode == "stream" and "data:" in body:
                yield Answer(name, dialect, True, body)
