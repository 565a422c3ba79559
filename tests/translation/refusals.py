"""What a translation may refuse, told from the request alone: CONFORMANCE decisions 13 and 14, and what lingua's
transform_errors.json names. Each ground is a name and a test of (dialect, request body, target)."""
import json
import re

FUNCTION_TOOLS = {"chat": {"function"}, "messages": {None, "custom"}, "responses": {"function", "namespace", "custom"}}
KNOWN_PARTS = {
    "chat": {"text", "image_url", "input_audio", "file", "refusal", "document_url", "video_url", "thinking"},
    "messages": {"text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"},
    "responses": {"input_text", "output_text", "input_image", "input_file", "refusal", "reasoning_text", "summary_text"},
}
CALLS, RESULTS = ("function_call", "custom_tool_call"), ("function_call_output", "custom_tool_call_output")
KNOWN_ITEMS = {None, "message", "reasoning", "additional_tools", *CALLS, *RESULTS}
KEPT_STATE = ("previous_response_id", "conversation", "prompt", "background")
FOREIGN_FIELDS = ("web_search_options", "container", "mcp_servers", "inference_geo")


def listed(value):
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def turns(dialect, body):
    return listed(body.get("input" if dialect == "responses" else "messages"))


def parts(dialect, body):
    """All parts of all turns, those inside tool results too."""
    for turn in turns(dialect, body):
        for part in listed(turn.get("output" if turn.get("type") in RESULTS else "content")):
            yield part
            yield from listed(part.get("content"))


def many_choices(dialect, body, target):
    return body.get("n") not in (None, 1)


def kept_state(dialect, body, target):
    return any(body.get(name) for name in KEPT_STATE)


def foreign_field(dialect, body, target):
    return any(body.get(name) is not None for name in FOREIGN_FIELDS)


def other_than_text(dialect, body, target):
    return "audio" in (body.get("modalities") or [])


def declared(dialect, body):
    """All tools, those that an item declares too."""
    yield from listed(body.get("tools"))
    for item in turns(dialect, body):
        if item.get("type") == "additional_tools":
            yield from listed(item.get("tools"))


def foreign_tool(dialect, body, target):
    choice = body.get("tool_choice")
    chosen = isinstance(choice, dict) and choice.get("type") not in (
        "function", "custom", "tool", "auto", "any", "none", "allowed_tools")
    return chosen or any(tool.get("type") not in FUNCTION_TOOLS[dialect] for tool in declared(dialect, body))


def foreign_part(dialect, body, target):
    items = dialect == "responses" and any(item.get("type") not in KNOWN_ITEMS for item in turns(dialect, body))
    return items or any(part.get("type") not in KNOWN_PARTS[dialect] for part in parts(dialect, body))


def file_elsewhere(dialect, body, target):
    text = json.dumps(list(parts(dialect, body)))
    return any(f'"{name}": "' in text for name in ("file_id", "fileId"))


def medium_not_taken(dialect, body, target):
    """Audio, video, and files of other kinds where the target has no part for them; a document's address at chat."""
    text = json.dumps(list(parts(dialect, body)))
    heard = any(word in text for word in ("input_audio", "audio/", "video/", ".mp3", ".wav", ".mp4", "video_url"))
    if target in ("messages", "responses") and heard:
        return True
    if target == "messages":
        return any(part.get("type") in ("file", "input_file", "document_url") for part in parts(dialect, body))
    address = any(name in text for name in ('"file_url"', '"type": "url"', '"document_url"'))
    return target == "chat" and address


def unenforceable_schema(dialect, body, target):
    """Emulation by a forced tool, and Gemini's mode for JSON, leave no room for tools of the client."""
    form = body.get("response_format") or (body.get("text") or {}).get("format") or body.get("output_format") or (
        body.get("output_config") or {}).get("format") or {}
    return isinstance(form, dict) and form.get("type", "text") != "text" and bool(body.get("tools")) and target in ("messages", "gemini")


def calls_of(turn):
    called = [call.get("id") for call in listed(turn.get("tool_calls"))]
    called += [part.get("id") for part in listed(turn.get("content")) if part.get("type") == "tool_use"]
    return called + ([turn.get("call_id")] if turn.get("type") in CALLS else [])


def results_of(turn):
    told = [part.get("tool_use_id") for part in listed(turn.get("content")) if part.get("type") == "tool_result"]
    told += [turn.get("tool_call_id")] if turn.get("role") == "tool" else []
    return told + ([turn.get("call_id")] if turn.get("type") in RESULTS else [])


def broken_history(dialect, body, target):
    """A result that answers no call before it; a call of a function without a name; the old `function` role alone."""
    open_calls = set()
    for turn in turns(dialect, body):
        open_calls.update(calls_of(turn))
        if any(result not in open_calls for result in results_of(turn)) or turn.get("role") == "function":
            return True
    return False


def nameless_call(dialect, body, target):
    """A call of a kind that the API does not have, or without its function."""
    return any(not isinstance((call.get("function") or call.get("custom") or {}).get("name"), str)
               for turn in turns(dialect, body) for call in listed(turn.get("tool_calls")))


def formless(dialect, body, target):
    """A format that is to hold a schema, and holds none."""
    form = body.get("response_format") or {}
    return form.get("type") == "json_schema" and not isinstance((form.get("json_schema") or {}).get("schema"), dict)


def no_model(dialect, body, target):
    return not isinstance(body.get("model"), str)


def nothing_said(dialect, body, target):
    return not any(turn.get("role") in ("user", "assistant", "tool") and turn.get("content") for turn in
                   turns(dialect, body))


def limit_of_none(dialect, body, target):
    return any(isinstance(body.get(name), int) and body[name] < 1 for name in
               ("max_tokens", "max_completion_tokens", "max_output_tokens"))


def undeclared_choice(dialect, body, target):
    choice = body.get("tool_choice") or body.get("function_call")
    return isinstance(choice, dict) and bool(choice)


def begun_by_the_assistant(dialect, body, target):
    first = [turn for turn in turns(dialect, body) if turn.get("role") not in ("system", "developer")]
    return target == "messages" and bool(first) and (
        first[0].get("role") == "assistant" or first[0].get("type") in ("reasoning", *CALLS))


def begun_answer(dialect, body, target):
    """A last turn of the assistant: of a messages client, it is to be continued."""
    said = [turn for turn in turns(dialect, body) if turn.get("type") != "reasoning"]
    return bool(said) and said[-1].get("role") == "assistant"


# In the words of the refusal (a pattern of them) and from the request: both must agree.
GROUNDS = [
    ("decision 14: n", "n: must be", many_choices),
    ("decision 14: state kept elsewhere", "previous_response_id", kept_state),
    ("decision 14: state kept elsewhere", "what it asks for does not exist", kept_state),
    ("decision 14: a service of one provider", "what it asks for does not exist", foreign_field),
    ("decision 14: an answer that is not text", "modalities", other_than_text),
    ("decision 14: server tools", "a tool of type|tool_choice", foreign_tool),
    ("decision 14: what only its own provider reads", "the conversation holds a", foreign_part),
    ("decision 14: a file kept elsewhere", "a file (that|by)", file_elsewhere),
    ("decision 14: a schema that cannot be enforced", "structured output|format of its answer", unenforceable_schema),
    ("transform_errors: a medium the dialect has no part for",
     "audio|video|a file must be|by its address|data URL", medium_not_taken),
    ("decision 13: broken tool history", "answers no|a call has no name|must be a string", broken_history),
    ("decision 13: a call without a name", "a call has no name", nameless_call),
    ("decision 13: a format without its schema", "schema: must be an object", formless),
    ("B117: no model", "model: required", no_model),
    ("decision 13: a conversation that says nothing", "no message that says anything", nothing_said),
    ("B10: a limit below one token", "must be at least 1", limit_of_none),
    ("B09: a tool is chosen that is not declared", "tool_choice", undeclared_choice),
    ("decision 14: an answer that the client began", "does not continue a last turn", begun_answer),
    ("the dialect's own rule: the first turn is the user's", "first turn", begun_by_the_assistant),
]


def ground(dialect, text, target, words):
    """The name of the first ground on which the refusal stands, or None."""
    try:
        body = json.loads(text)
    except ValueError:
        return "decision 13: no JSON"
    for name, said, holds in GROUNDS:
        if re.search(said, words) and holds(dialect, body, target):
            return name
    return None
