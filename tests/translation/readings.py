"""What an application sees of an answer: read by the official SDK of the dialect, put in one form to be compared.

The SDKs get the bytes through their own HTTP client, whose transport gives the recorded body; so their own decoder of
event streams and their own accumulator are what reads. google-genai has no accumulator: Gemini's is below.
"""
import dataclasses
import functools
import json
import warnings

import anthropic
import httpx2
import openai

import corpus


@dataclasses.dataclass
class Reading:
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: list = dataclasses.field(default_factory=list)  # (name, arguments as JSON, or as text when they are none)
    stop: str = ""   # the word of the dialect; "" none
    native: str = ""  # the provider's own word, where a translation shows it
    usage: dict = None


class Unreadable(Exception):
    """The SDK does not read it."""


warnings.filterwarnings("ignore", module="pydantic")  # an SDK that meets parts of a provider it does not know
SENT = {"body": b"", "type": ""}


def answer(_):
    return httpx2.Response(200, headers={"content-type": SENT["type"]}, content=SENT["body"])


HTTP = httpx2.Client(transport=httpx2.MockTransport(answer))
OPENAI = openai.OpenAI(api_key="none", base_url="http://stub.example/v1", http_client=HTTP, max_retries=0)
ANTHROPIC = anthropic.Anthropic(api_key="none", base_url="http://stub.example", http_client=HTTP, max_retries=0)
HELLO = [{"role": "user", "content": "hello"}]


def arguments(text):
    if not isinstance(text, str):
        return text or {}
    try:
        return json.loads(text or "{}") or {}  # "null" is none
    except ValueError:
        return text


def usage_of(total, output, cached=0, written=0, reasoning=0):
    return {"input": total or 0, "output": output or 0, "cached": cached or 0, "written": written or 0,
            "reasoning": reasoning or 0}


# -- chat ------------------------------------------------------------------------------------------

def texts_of(content, *kinds):
    """A content is a text, or (Mistral) a list of parts."""
    if isinstance(content, str):
        return content if "text" in kinds else ""
    out = ""
    for part in corpus.listed(content):
        if part.get("type") in kinds:
            inner = part.get("thinking") if part["type"] == "thinking" else part.get("text")
            out += texts_of(inner, "text")
    return out


def chat_usage(usage):
    if not usage:
        return None
    details, spent = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    return usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("cached_tokens"),
                    details.get("cache_write_tokens"), spent.get("reasoning_tokens"))


def chat_reasoning(message):
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            return message[name]
    told = "".join(one.get("text") or "" for one in corpus.listed(message.get("reasoning_details"))
                   if one.get("type") == "reasoning.text")
    return told or texts_of(message.get("content"), "thinking")


def chat_calls(message):
    calls = [(call["function"].get("name"), arguments(call["function"].get("arguments")))
             for call in corpus.listed(message.get("tool_calls")) if call.get("function")]
    old = message.get("function_call")
    return calls + ([(old["name"], arguments(old.get("arguments")))] if old and old.get("name") else [])


def chat_whole(body):
    choices = body.get("choices") or []
    if not choices:
        return Reading(usage=chat_usage(body.get("usage")))
    message = choices[0].get("message") or {}
    return Reading(text=texts_of(message.get("content"), "text"), reasoning=chat_reasoning(message),
                   refusal=message.get("refusal") or "", calls=chat_calls(message),
                   stop=choices[0].get("finish_reason") or "",
                   native=choices[0].get("native_finish_reason") or "", usage=chat_usage(body.get("usage")))


# -- messages --------------------------------------------------------------------------------------

def messages_usage(usage):
    if not usage:
        return None
    cached, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    reasoning = (usage.get("output_tokens_details") or {}).get("thinking_tokens")
    return usage_of((usage.get("input_tokens") or 0) + cached + written, usage.get("output_tokens"), cached, written,
                    reasoning)


def messages_whole(body):
    blocks = corpus.listed(body.get("content"))
    details = body.get("stop_details") or {}
    return Reading(text="".join(block["text"] for block in blocks if block["type"] == "text"),
                   refusal=details.get("explanation") or "",
                   reasoning="".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
                   calls=[(block["name"], arguments(block.get("input"))) for block in blocks
                          if block["type"] == "tool_use"],
                   stop=body.get("stop_reason") or "", native=body.get("native_stop_reason") or "",
                   usage=messages_usage(body.get("usage")))


# -- responses -------------------------------------------------------------------------------------

def responses_usage(usage):
    if not usage:
        return None
    details, spent = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
    return usage_of(usage.get("input_tokens"), usage.get("output_tokens"), details.get("cached_tokens"),
                    details.get("cache_write_tokens"), spent.get("reasoning_tokens"))


def responses_whole(body):
    out = Reading(usage=responses_usage(body.get("usage")), native=body.get("native_finish_reason") or "")
    for item in corpus.listed(body.get("output")):
        if item.get("type") == "message":
            for part in corpus.listed(item.get("content")):
                out.text += part.get("text") or "" if part.get("type") == "output_text" else ""
                out.refusal += part.get("refusal") or "" if part.get("type") == "refusal" else ""
        elif item.get("type") == "reasoning":
            told = "".join(part.get("text") or "" for part in corpus.listed(item.get("content")))
            summary = [part.get("text") or "" for part in corpus.listed(item.get("summary"))]
            out.reasoning += told or "\n\n".join(summary)
        elif item.get("type") == "function_call":
            out.calls.append((item.get("name"), arguments(item.get("arguments"))))
    details = body.get("incomplete_details") or {}
    out.refusal = out.refusal or details.get("explanation") or ""
    out.stop = details.get("reason") or body.get("status") or ""
    return out


# -- gemini ----------------------------------------------------------------------------------------

def gemini_usage(usage):
    if "promptTokenCount" not in usage:
        return None
    total = (usage.get("promptTokenCount") or 0) + (usage.get("toolUsePromptTokenCount") or 0)
    thought = usage.get("thoughtsTokenCount") or 0
    return usage_of(total, (usage.get("candidatesTokenCount") or 0) + thought, usage.get("cachedContentTokenCount"), 0,
                    thought)


def gemini_chunks(chunks):
    out, usage = Reading(), {}
    for chunk in chunks:
        candidate = (chunk.get("candidates") or [{}])[0]
        for part in corpus.listed((candidate.get("content") or {}).get("parts")):
            if "functionCall" in part:
                out.calls.append((part["functionCall"].get("name"), part["functionCall"].get("args") or {}))
            elif part.get("thought"):
                out.reasoning += part.get("text") or ""
            else:
                out.text += part.get("text") or ""
        out.refusal = (chunk.get("promptFeedback") or {}).get("blockReasonMessage") or out.refusal
        out.stop = candidate.get("finishReason") or (chunk.get("promptFeedback") or {}).get("blockReason") or out.stop
        usage.update(chunk.get("usageMetadata") or {})
    out.usage = gemini_usage(usage)
    return out


# -- streams that no SDK reads ---------------------------------------------------------------------

def chat_chunks(chunks):
    """For providers that speak a chat of their own (parts without an index, contents as lists)."""
    message, calls, stop, native, usage = {"content": [], "reasoning_content": "", "refusal": ""}, {}, "", "", None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in corpus.listed(chunk.get("choices"))[:1]:
            delta = choice.get("delta") or {}
            content = delta.get("content")
            message["content"] += [{"type": "text", "text": content}] if isinstance(content, str) else content or []
            message["reasoning_content"] += chat_reasoning(dict(delta, content=None))
            message["refusal"] += delta.get("refusal") or ""
            for call in corpus.listed(delta.get("tool_calls")):
                known = calls.setdefault(call.get("index", call.get("id")) or 0, {"name": "", "arguments": ""})
                function = call.get("function") or {}
                known["name"] = known["name"] or function.get("name") or ""
                known["arguments"] += function.get("arguments") or ""
            stop = choice.get("finish_reason") or stop
            native = choice.get("native_finish_reason") or native
    message["tool_calls"] = [{"function": call} for call in calls.values()]
    return chat_whole({"choices": [{"message": message, "finish_reason": stop, "native_finish_reason": native}],
                       "usage": usage})


def messages_events(events):
    message, parts = {"content": []}, {}
    for event in events:
        if event.get("type") == "message_start":
            message = dict(event["message"], content=[])
        elif event.get("type") == "content_block_start":
            message["content"].append(dict({"input": {}, "text": "", "thinking": ""}, **event["content_block"]))
        elif event.get("type") == "content_block_delta":
            delta, block = event["delta"], message["content"][event["index"]]
            for name in ("text", "thinking"):
                block[name] += delta.get(name) or ""
            parts[event["index"]] = parts.get(event["index"], "") + (delta.get("partial_json") or "")
            block["input"] = arguments(parts[event["index"]]) or block["input"]
        elif event.get("type") == "message_delta":
            message.update(event["delta"])
            message["usage"] = {**(message.get("usage") or {}), **(event.get("usage") or {})}
    return messages_whole(message)


def responses_events(events):
    items, last = {}, {}
    for event in events:
        if event.get("type") == "response.output_item.done":
            items[event.get("output_index", len(items))] = event["item"]
        last = event.get("response") or last
    return responses_whole(dict(last, output=last.get("output") or list(items.values())))


# -- by the SDKs -----------------------------------------------------------------------------------

def chat_stream():
    stream = OPENAI.chat.completions.create(model="m", messages=HELLO, stream=True)
    state = openai.lib.streaming.chat.ChatCompletionStreamState()
    for chunk in stream:
        state.handle_chunk(chunk)
    return chat_whole(state.current_completion_snapshot.to_dict(mode="json", warnings=False))


def messages_stream():
    with ANTHROPIC.messages.stream(model="m", max_tokens=1, messages=HELLO) as stream:
        return messages_whole(stream.get_final_message().to_dict(mode="json", warnings=False))


def responses_stream():
    with OPENAI.responses.stream(model="m", input="hello") as stream:
        for event in stream:
            if event.type in ("response.incomplete", "response.failed"):  # the accumulator knows but one end
                return responses_whole(event.response.to_dict(mode="json", warnings=False))
        return responses_whole(stream.get_final_response().to_dict(mode="json", warnings=False))


def by_sdk(dialect, stream, text):
    SENT["body"] = text.encode("utf-8", "surrogatepass")
    SENT["type"] = "text/event-stream" if stream else "application/json"
    try:
        if stream:
            return {"chat": chat_stream, "messages": messages_stream, "responses": responses_stream}[dialect]()
        if dialect == "chat":
            return chat_whole(OPENAI.chat.completions.create(model="m", messages=HELLO).to_dict(mode="json", warnings=False))
        if dialect == "messages":
            return messages_whole(ANTHROPIC.messages.create(model="m", max_tokens=1, messages=HELLO).to_dict(mode="json", warnings=False))
        return responses_whole(OPENAI.responses.create(model="m", input="hello").to_dict(mode="json", warnings=False))
    except Exception as error:  # noqa: BLE001 whatever an SDK makes of bytes that are not its provider's
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def by_hand(dialect, text):
    events = [event for event in (corpus.parsed(data) for _, data in corpus.events_of(text)) if isinstance(event, dict)]
    return {"chat": chat_chunks, "messages": messages_events, "responses": responses_events,
            "gemini": gemini_chunks}[dialect](events)


@functools.lru_cache(maxsize=4)
def direct(dialect, stream, text):
    """The reading of an answer as the provider gave it, and who read it."""
    if dialect == "gemini" and not stream:
        return gemini_chunks([json.loads(text)]), "by hand"
    if dialect == "gemini":
        return by_hand(dialect, text), "by hand"
    if dialect == "chat" and '"content":[' in text:  # Mistral's, of which the SDK keeps the texts
        return (by_hand(dialect, text) if stream else chat_whole(json.loads(text))), "by hand"
    try:
        reading = by_sdk(dialect, stream, text)
        if dialect == "responses" and stream and not (reading.text or reading.calls or reading.refusal):
            return by_hand(dialect, text), "by hand"  # its last event has no output, and the SDK believes it (B38)
        return reading, "by the SDK"
    except Unreadable:
        if not stream:
            raise
        return by_hand(dialect, text), "by hand"
