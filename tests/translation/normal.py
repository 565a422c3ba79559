"""Requests of the three dialects in one form, and what each dialect can hold of it.

A request that was translated must be in this form what `held` says of the original. Each loss has a name there; what
has none is a fault. The form is a dict:

    system   [[text, cache]]          leading instructions
    turns    [[role, [part]]]         neighbours of one role are one turn; results first, calls last
    part     ["text", text, cache]    ["image", source, type, detail, cache]   ["file", source, type, name, cache]
             ["refusal", text]        ["thinking", text, signature]             ["call", id, name, arguments, cache]
             ["result", id, error, [part], cache]
    tools    [[name, description, schema, strict, cache]]
    choice, parallel_off, max_tokens, stops, format, effort, user, fields, stream
"""
import json

# Fields that are copied, by the names of chat.
FIELDS = {
    "chat": {"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "logit_bias", "logprobs",
             "top_logprobs", "metadata", "service_tier", "prompt_cache_key", "prompt_cache_retention",
             "safety_identifier", "verbosity", "prediction"},
    "messages": {"temperature", "top_p", "top_k", "service_tier"},
    "responses": {"temperature", "top_p", "metadata", "service_tier", "prompt_cache_key", "prompt_cache_retention",
                  "safety_identifier", "verbosity"},
}
OWN_FIELDS = {"responses": {"truncation", "max_tool_calls"}}


def copied(dialect, body):
    names = FIELDS[dialect] | OWN_FIELDS.get(dialect, set())
    return {name: body[name] for name in names if body.get(name) is not None and body[name] is not False}


def empty_form():
    return {"system": [], "turns": [], "tools": [], "choice": None, "parallel_off": False, "max_tokens": None,
            "stops": [], "format": None, "effort": None, "user": None, "fields": {}, "stream": False}


def arranged(turns):
    """Neighbours of one role as one turn, its results first, its calls last; turns that say nothing are none."""
    out = []
    for role, parts in turns:
        if out and out[-1][0] == role:
            out[-1][1].extend(parts)
        elif parts:
            out.append([role, list(parts)])
    rank = {"result": -1, "call": 1}
    return [[role, sorted(parts, key=lambda part: rank.get(part[0], 0))] for role, parts in out]


def parsed_arguments(text):
    given = json.loads(text) if isinstance(text, str) and text.strip() else {}
    return given if isinstance(given, dict) else {}


def listed(content, kind="text"):
    """A content that is a text, or a list of parts."""
    return [{"type": kind, "text": content}] if isinstance(content, str) else content or []


def is_blank(text):
    return not text.strip(" \t\r\n")


def text_part(text, cache=None):
    return [["text", text, cache]] if not is_blank(text) else []


def registered(media_type):
    return "image/jpeg" if media_type == "image/jpg" else media_type


def data_url(url):
    """(source, media type) of an address: ["base64", bytes] or ["url", address]."""
    if url.startswith("data:") and ";base64," in url:
        head, _, data = url.partition(";base64,")
        return ["base64", data], registered(head[5:].split(";")[0])
    return ["url", url], None


# -- chat ------------------------------------------------------------------------------------------

def chat_part(part):
    kind, cache = part["type"], part.get("cache_control")
    if kind == "text":
        return text_part(part["text"], cache)
    if kind == "refusal":
        return [["refusal", part["refusal"]]]
    if kind == "image_url":
        given = part["image_url"] if isinstance(part["image_url"], dict) else {"url": part["image_url"]}
        source, media_type = data_url(given["url"])
        return [["image", source, media_type, given.get("detail"), cache]]
    if kind == "file":
        source, media_type = data_url(part["file"]["file_data"])
        return [["file", source, media_type, part["file"].get("filename"), cache]]
    if kind == "thinking":
        return [["thinking", "".join(one["text"] for one in part["thinking"]), None]]
    raise ValueError(f"part {kind}")


def chat_parts(content):
    return [one for part in listed(content) for one in chat_part(part)]


def chat_message(message):
    role, cache = message["role"], message.get("cache_control")
    if role == "tool":
        return "user", [["result", message["tool_call_id"], False, chat_parts(message.get("content")), cache]]
    if role == "function":
        raise ValueError("a result of the old form, without an id")
    parts = chat_parts(message.get("content"))
    if cache and parts:
        parts[-1][-1] = parts[-1][-1] or cache
    if role in ("system", "developer"):
        return "system", parts
    if message.get("refusal"):
        parts.append(["refusal", message["refusal"]])
    for call in message.get("tool_calls") or []:
        function = call["function"]
        parts.append(["call", call["id"], function["name"], parsed_arguments(function.get("arguments")), None])
    return role, parts


def chat_format(body):
    form = body.get("response_format") or {}
    if form.get("type") == "json_object":
        return ["json"]
    if form.get("type") == "json_schema":
        given = form["json_schema"]
        return ["schema", given.get("name"), given.get("description"), given["schema"], given.get("strict")]
    return None


def leading(form, turns):
    """Takes the leading system turns out as instructions."""
    while turns and turns[0][0] == "system":
        form["system"] += [[part[1], part[2]] for part in turns.pop(0)[1]]
    form["turns"] = arranged(turns)


def narrowed(form, allowed):
    """A choice among some of the tools: the others are as good as not there."""
    names = [tool.get("function", tool)["name"] for tool in allowed["tools"]]
    form["tools"] = [tool for tool in form["tools"] if tool[0] in names]
    return allowed["mode"]


def choice_of(form, choice):
    if not isinstance(choice, dict):
        return "required" if choice == "any" else choice
    if choice.get("type") == "allowed_tools":
        return narrowed(form, choice.get("allowed_tools", choice))
    return ["named", choice.get("function", choice)["name"]]


def old_choice(choice):
    return {"function": choice} if isinstance(choice, dict) else choice


def chat(body):
    form = empty_form()
    leading(form, [chat_message(message) for message in body["messages"]])
    for tool in body.get("tools") or [{"function": function} for function in body.get("functions") or []]:
        function = tool["function"]
        form["tools"].append([function["name"], function.get("description"), function.get("parameters"),
                              function.get("strict"), tool.get("cache_control")])
    form["choice"] = choice_of(form, body.get("tool_choice", old_choice(body.get("function_call"))))
    form["parallel_off"] = body.get("parallel_tool_calls") is False
    form["max_tokens"] = body.get("max_completion_tokens") or body.get("max_tokens")
    stops = body.get("stop") or []
    form["stops"] = [stops] if isinstance(stops, str) else stops
    form.update(format=chat_format(body), effort=body.get("reasoning_effort"), user=body.get("user"),
                fields=copied("chat", body), stream=body.get("stream") is True)
    return form


# -- messages --------------------------------------------------------------------------------------

def messages_source(source):
    if source["type"] == "base64":
        return ["base64", source["data"]], registered(source["media_type"])
    if source["type"] == "text":
        return ["text", source["data"]], source.get("media_type")
    return ["url", source["url"]], None


def messages_part(part):
    kind, cache = part["type"], part.get("cache_control")
    if kind == "text":
        return text_part(part["text"], cache)
    if kind == "thinking":
        return [["thinking", part["thinking"], part.get("signature")]]
    if kind == "redacted_thinking":
        return [["thinking", None, part["data"]]]
    if kind == "image":
        return [["image", *messages_source(part["source"]), None, cache]]
    if kind == "document":
        return [["file", *messages_source(part["source"]), part.get("title"), cache]]
    if kind == "tool_use":
        return [["call", part["id"], part["name"], part["input"], cache]]
    if kind == "tool_reference":
        return text_part(part["tool_name"], cache)
    if kind == "search_result":
        parts = [one for text in (part["title"], part["source"]) for one in text_part(text)]
        parts += [one for inner in part["content"] for one in messages_part(inner)]
        parts[-1][-1] = parts[-1][-1] or cache
        return parts
    if kind == "tool_result":
        inner = [one for each in listed(part.get("content")) for one in messages_result_part(each)]
        return [["result", part["tool_use_id"], part.get("is_error") is True, inner, cache]]
    raise ValueError(f"part {kind}")


def messages_result_part(part):
    """A text document inside a result is its title and its text."""
    read = messages_part(part)
    if read and read[0][0] == "file" and read[0][1][0] == "text":
        return text_part(part.get("title") or "") + text_part(read[0][1][1], read[0][-1])
    return read


def messages(body):
    form = empty_form()
    form["system"] = [[part["text"], part.get("cache_control")] for part in listed(body.get("system"))
                      if not is_blank(part["text"])]
    form["turns"] = arranged([[message["role"], [one for part in listed(message["content"])
                                                 for one in messages_part(part)]] for message in body["messages"]])
    for tool in body.get("tools") or []:
        form["tools"].append([tool["name"], tool.get("description"), tool.get("input_schema"), tool.get("strict"),
                              tool.get("cache_control")])
    choice = body.get("tool_choice") or {}
    words = {"any": "required", "tool": ["named", choice.get("name")]}
    form["choice"] = words.get(choice.get("type"), choice.get("type"))
    form["parallel_off"] = choice.get("disable_parallel_tool_use") is True
    given = (body.get("output_config") or {}).get("format") or body.get("output_format")
    form["format"] = ["schema", None, None, given["schema"], None] if given else None
    form.update(max_tokens=body.get("max_tokens"), stops=body.get("stop_sequences") or [],
                effort=(body.get("output_config") or {}).get("effort"),
                user=(body.get("metadata") or {}).get("user_id"), fields=copied("messages", body),
                stream=body.get("stream") is True)
    return form


# -- responses -------------------------------------------------------------------------------------

def responses_part(part):
    kind = part["type"]
    if kind in ("input_text", "output_text", "text"):
        return text_part(part["text"])
    if kind == "refusal":
        return [["refusal", part["refusal"]]]
    if kind == "input_image":
        source, media_type = data_url(part["image_url"])
        return [["image", source, media_type, part.get("detail"), None]]
    if kind == "input_file":
        source, media_type = data_url(part.get("file_data") or part["file_url"])
        return [["file", source, media_type, part.get("filename"), None]]
    raise ValueError(f"part {kind}")


def responses_parts(content):
    return [one for part in listed(content, "input_text") for one in responses_part(part)]


def flat_name(item):
    """A tool in a namespace is a function NAMESPACE__NAME. (Names that are not legal, too long or taken: the unit tests.)"""
    return f'{item["namespace"]}__{item["name"]}' if item.get("namespace") else item["name"]


TEXT_SCHEMA = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": False}
GRAMMARS = {"lark": "The input must match this grammar:", "regex": "The input must match this regular expression:"}


def responses_tools(tools, space=None, about=None):
    """A custom tool is a function of one text; what its grammar is the model is told."""
    for tool in tools:
        if tool["type"] == "namespace":
            yield from responses_tools(tool["tools"], tool["name"], tool.get("description"))
            continue
        custom, grammar = tool["type"] == "custom", tool.get("format") or {}
        said = [about, tool.get("description"), GRAMMARS.get(grammar.get("syntax")), grammar.get("definition")]
        yield [flat_name(dict(tool, namespace=space)), "\n\n".join(filter(None, said)) or None if custom or space else tool.get("description"),
               TEXT_SCHEMA if custom else tool.get("parameters"), tool.get("strict"), None]


def flat_choice(choice, tools):
    """A choice need not name the namespace."""
    if not isinstance(choice, dict):
        return choice
    flat = {one["name"]: flat_name(dict(one, namespace=tool["name"])) for tool in tools if tool["type"] == "namespace" for one in tool["tools"]}
    named = dict(choice, tools=[flat_choice(one, tools) for one in choice["tools"]]) if "tools" in choice else choice
    return dict(named, name=flat.get(choice["name"], choice["name"])) if "name" in choice else named


def responses_item(item):
    kind = item.get("type", "message")
    if kind == "message":
        role = "system" if item["role"] == "developer" else item["role"]
        return role, responses_parts(item.get("content"))
    if kind in ("function_call", "custom_tool_call"):
        given = parsed_arguments(item.get("arguments")) if kind == "function_call" else {"input": item["input"]}
        return "assistant", [["call", item["call_id"], flat_name(item), given, None]]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return "user", [["result", item["call_id"], False, responses_parts(item.get("output")), None]]
    if kind == "reasoning":
        text = "".join(part["text"] for part in item.get("summary") or [])
        return "assistant", [["thinking", text, item.get("encrypted_content")]]
    raise ValueError(f"item {kind}")


def responses(body):
    form = empty_form()
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    instructions = body.get("instructions")
    turns = [["system", text_part(instructions)]] if instructions else []
    leading(form, turns + [responses_item(item) for item in items])
    tools = body.get("tools") or []
    form["tools"] = list(responses_tools(tools))
    form["choice"] = choice_of(form, flat_choice(body.get("tool_choice"), tools))
    form["parallel_off"] = body.get("parallel_tool_calls") is False
    text = body.get("text") or {}
    wanted = text.get("format") or {}
    if wanted.get("type") == "json_object":
        form["format"] = ["json"]
    elif wanted.get("type") == "json_schema":
        form["format"] = ["schema", wanted.get("name"), wanted.get("description"), wanted["schema"], wanted.get("strict")]
    fields = copied("responses", dict(body, verbosity=text.get("verbosity")))
    form.update(max_tokens=body.get("max_output_tokens"), effort=(body.get("reasoning") or {}).get("effort"),
                user=body.get("user"), fields=fields, stream=body.get("stream") is True)
    return form


NORMAL = {"chat": chat, "messages": messages, "responses": responses}
