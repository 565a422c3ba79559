"""chat/completions as providers of reasoning models speak it: strict in what they take. Reasoning stands in
`reasoning_details`, which must come back as they were; or, on the connection "plain", in `reasoning_content`, without
which a turn of the running tool loop is refused."""
import json

import story
from strict import (Asked, Wrong, data_url, event, expect, json_object, members, number, one_of, pieces, same, text)

PATHS = ("/v1/chat/completions",)
OPTIONAL = ("stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "response_format",
            "max_completion_tokens", "max_tokens", "temperature", "stop", "reasoning_effort", "user", "metadata",
            "store", "prompt_cache_key", "safety_identifier", "service_tier", "n")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
# What an answer's message has besides, and SDKs send back.
ANSWERED = ("content", "tool_calls", "refusal", "annotations", "audio", "function_call", "parsed", "reasoning",
            "reasoning_content", "reasoning_details", "name")


def details(turn):
    """What the provider gives out of a turn's reasoning."""
    if turn == 2:
        return [{"type": "reasoning.encrypted", "data": story.opaque_of("chat", turn), "id": "rs_chat2",
                 "format": "openai-responses-v1", "index": 0}]
    return [{"type": "reasoning.text", "text": story.reasoning_of("chat", turn),
             "signature": story.opaque_of("chat", turn), "format": "anthropic-claude-v1", "index": 0}]


# -- requests ------------------------------------------------------------------------------------------


def read_user(asked, where, content):
    if isinstance(content, str):
        asked.said.append(("user", text(where, content)))
        return
    for index, part in enumerate(expect(where, content, list) or [None]):
        at = f"{where}[{index}]"
        kind = one_of(f"{at}.type", expect(at, part, dict).get("type"), "text", "image_url")
        if kind == "text":
            asked.said.append(("user", text(at, members(at, part, ("type", "text"))["text"])))
        else:
            image = members(at, members(at, part, ("type", "image_url"))["image_url"], ("url",), ("detail",))
            asked.said.append(("picture", data_url(f"{at}.image_url.url", image["url"])))


def texts_of(where, content):
    """A text, or a list of them."""
    if isinstance(content, str):
        return [content]
    return [text(where, members(where, one, ("type", "text"))["text"]) for one in expect(where, content, list)]


def read_call(asked, where, call):
    members(where, call, ("id", "type", "function"), ("index",))
    one_of(f"{where}.type", call["type"], "function")
    function = members(where, call["function"], ("name", "arguments"), ("parsed_arguments",))
    arguments = json_object(f"{where}.function.arguments", function["arguments"])
    asked.said.append(("call", text(where, call["id"]), function["name"], arguments))
    return call["id"]


def read_plain(asked, where, message):
    """As DeepSeek wants it."""
    turns = {story.reasoning_of("chat", turn) for turn in (1, 2, 3)}
    if message.get("reasoning_content") not in turns:
        raise Wrong(f"{where}.reasoning_content", "must be passed back while the model thinks")
    asked.opaque.append(message["reasoning_content"])


def read_reasoning(asked, where, message, calls):
    """Of this provider's own answers alone, and as it gave them."""
    found = message.get("reasoning_details")
    if not found:
        return
    turn = next((number for number in (1, 2, 3) if found[0].get("data", found[0].get("signature")) ==
                 story.opaque_of("chat", number)), None)
    if turn is None or (turn < 3) != bool(calls):
        raise Wrong(f"{where}.reasoning_details", f"is not of this turn: {json.dumps(found)[:200]}")
    same(f"{where}.reasoning_details", found, details(turn))
    asked.opaque.append(story.opaque_of("chat", turn))


def read_assistant(asked, where, message, in_loop):
    members(where, message, ("role",), ANSWERED)
    calls = message.get("tool_calls") or []
    if message.get("content") is None and not calls and not message.get("refusal"):
        raise Wrong(f"{where}.content", "expected a string or tool_calls")
    if message.get("content"):
        asked.said += [("assistant", one) for one in texts_of(f"{where}.content", message["content"])]
    if not asked.plain:
        read_reasoning(asked, where, message, calls)
    elif in_loop:
        read_plain(asked, where, message)
    return [read_call(asked, f"{where}.tool_calls[{index}]", call) for index, call in enumerate(calls)]


def read_tool(asked, where, message, open_calls):
    members(where, message, ("role", "content", "tool_call_id"))
    if message["tool_call_id"] not in open_calls:
        raise Wrong(f"{where}.tool_call_id", "messages with role 'tool' must be a response to a preceding message "
                    f"with 'tool_calls': {message['tool_call_id']}")
    open_calls.remove(message["tool_call_id"])
    asked.said.append(("result", message["tool_call_id"],
                       "".join(texts_of(f"{where}.content", message["content"])), False))


def question(messages):
    """Where the user spoke last; what stands right behind a tool's result belongs to it."""
    roles = [message.get("role") for message in messages]
    return max((index for index, role in enumerate(roles) if role == "user" and roles[index - 1] != "tool"), default=0)


def read_messages(asked, messages):
    open_calls = []
    asked_at = question(expect("messages", messages, list))
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = one_of(f"{where}.role", expect(where, message, dict).get("role"), "system", "developer", "user",
                      "assistant", "tool")
        if role == "tool":
            read_tool(asked, where, message, open_calls)
            continue
        if open_calls:
            raise Wrong(where, "an assistant message with 'tool_calls' must be followed by tool messages responding to "
                        f"each 'tool_call_id': {open_calls}")
        if role == "assistant":
            open_calls = read_assistant(asked, where, message, index > asked_at)
            continue
        members(where, message, ("role", "content"), ("name",))
        if role == "user":
            read_user(asked, f"{where}.content", message["content"])
        else:
            asked.system += texts_of(f"{where}.content", message["content"])
    if open_calls:
        raise Wrong("messages", f"no tool message for {open_calls}")


def read_tools(asked, body):
    for index, tool in enumerate(body.get("tools", [])):
        where = f"tools[{index}]"
        members(where, tool, ("type", "function"))
        function = members(where, tool["function"], ("name",), ("description", "parameters", "strict"))
        asked.tools[function["name"]] = expect(where, function.get("parameters", {}), dict)
    choice = body.get("tool_choice", "auto")
    if "tools" not in body and ("tool_choice" in body or "parallel_tool_calls" in body):
        raise Wrong("tool_choice", "is only allowed when 'tools' are specified")
    if isinstance(choice, dict):
        function = members("tool_choice", choice, ("type", "function"))["function"]
        asked.forced = one_of("tool_choice", members("tool_choice", function, ("name",))["name"], *asked.tools)
    else:
        one_of("tool_choice", choice, "none", "auto", "required")


def read_format(asked, body):
    wanted = body.get("response_format", {"type": "text"})
    kind = one_of("response_format.type", wanted.get("type"), "text", "json_object", "json_schema")
    if kind == "json_schema":
        members("response_format", wanted, ("type", "json_schema"))
        schema = members("response_format.json_schema", wanted["json_schema"], ("name", "schema"),
                         ("strict", "description"))
        asked.schema = expect("response_format.json_schema.schema", schema["schema"], dict)
        if schema.get("strict") and asked.schema.get("additionalProperties") is not False:
            raise Wrong("response_format", "'additionalProperties' is required to be supplied and to be false")


def read(body, path):
    members("", body, ("model", "messages"), OPTIONAL)
    for name in ("max_tokens", "temperature", "stop"):
        if name in body:
            raise Wrong(name, "Unsupported parameter: is not supported with this model.")
    asked = Asked("chat", body)
    asked.plain = path.startswith("/plain/")
    asked.stream = expect("stream", body.get("stream", False), bool)
    asked.thinking = one_of("reasoning_effort", body.get("reasoning_effort", "none"), *EFFORTS) != "none"
    if "stream_options" in body:
        options = members("stream_options", body["stream_options"], (), ("include_usage", "include_obfuscation"))
        if not asked.stream:
            raise Wrong("stream_options", "is only allowed when 'stream' is enabled")
        asked.usage = options.get("include_usage", False)
    else:
        asked.usage = not asked.stream
    if "max_completion_tokens" in body:
        asked.limit = number("max_completion_tokens", body["max_completion_tokens"], 1, 128000)
    read_tools(asked, body)
    read_format(asked, body)
    read_messages(asked, body["messages"])
    return asked


# -- answers -------------------------------------------------------------------------------------------

FINISH = {"stop": "stop", "calls": "tool_calls", "limit": "length", "filter": "content_filter"}


def call_id(reply, index):
    return f"call_Chat{reply.number}{'abc'[index]}"


def usage_of(reply):
    usage = reply.usage
    return {"prompt_tokens": usage["input"], "completion_tokens": usage["output"],
            "total_tokens": usage["input"] + usage["output"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"], "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage["reasoning"], "audio_tokens": 0,
                                          "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}


def head(asked, kind):
    return {"id": "chatcmpl-Stub1", "object": kind, "created": 1700000000, "model": asked.body["model"]}


def whole(asked, reply):
    message = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal or None}
    if reply.reasoning and asked.plain:
        message["reasoning_content"] = reply.reasoning
    elif reply.reasoning:
        entries = details(reply.number)
        message |= {"reasoning": entries[0].get("text"), "reasoning_details": entries}
    if reply.calls:
        message["tool_calls"] = [{"id": call_id(reply, index), "type": "function",
                                  "function": {"name": name, "arguments": arguments}}
                                 for index, (name, arguments) in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": FINISH[reply.finish]}
    return head(asked, "chat.completion") | {"choices": [choice], "usage": usage_of(reply),
                                             "system_fingerprint": "fp_1"}


def deltas(asked, reply):
    yield {"role": "assistant", "content": "", "refusal": None}
    if reply.reasoning and asked.plain:
        yield from ({"content": None, "reasoning_content": piece} for piece in pieces(reply.reasoning))
    elif reply.reasoning:
        entry = details(reply.number)[0]
        if entry["type"] == "reasoning.text":
            for piece in pieces(reply.reasoning):
                yield {"content": "", "reasoning": piece,
                       "reasoning_details": [{"type": "reasoning.text", "text": piece, "index": 0}]}
            # Once: SDKs put texts of the same name together.
            yield {"content": "", "reasoning_details": [{"type": "reasoning.text", "signature": entry["signature"],
                                                         "format": entry["format"], "index": 0}]}
        else:
            yield {"content": "", "reasoning_details": [entry]}
    yield from ({"content": piece} for piece in pieces(reply.text))
    yield from ({"refusal": piece} for piece in pieces(reply.refusal))
    for index, (name, arguments) in enumerate(reply.calls):
        yield {"tool_calls": [{"index": index, "id": call_id(reply, index), "type": "function",
                               "function": {"name": name, "arguments": ""}}]}
        yield from ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                    for piece in pieces(arguments))


def stream(asked, reply):
    base = head(asked, "chat.completion.chunk")
    usage = {"usage": None} if asked.usage else {}
    yield ": PROCESSING\n\n"
    for delta in deltas(asked, reply):
        yield event(base | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]} | usage)
    if reply.breaks:
        yield event({"error": {"message": "The server had an error", "type": "server_error", "param": None,
                               "code": "server_error"}})
        return
    yield event(base | {"choices": [{"index": 0, "delta": {}, "logprobs": None,
                                     "finish_reason": FINISH[reply.finish]}]} | usage)
    if asked.usage:
        yield event(base | {"choices": [], "usage": usage_of(reply)})
    yield event("[DONE]")


def error(status, message, where=None):
    kind = "invalid_request_error" if status == 400 else "server_error"
    return {"error": {"message": message, "type": kind, "param": where, "code": None}}
