"""Anthropic Messages as its provider speaks it: strict about turns, results and thinking blocks, whose signatures cover
every byte."""
import re

import story
from strict import Asked, Wrong, event, expect, members, number, one_of, pieces, same, spelled, text

PATHS = ("/v1/messages", "/v1/messages?beta=true")
OPTIONAL = ("thread", "stream", "system", "tools", "tool_choice", "thinking", "output_config", "temperature", "top_p",
            "top_k", "stop_sequences", "metadata", "service_tier")
CACHE = ("cache_control",)


# -- requests ------------------------------------------------------------------------------------------


def read_picture(asked, where, block):
    source = members(f"{where}.source", members(where, block, ("type", "source"), CACHE)["source"],
                     ("type", "media_type", "data"))
    one_of(f"{where}.source.media_type", source["media_type"], "image/png")
    asked.said.append(("picture", source["data"]))


def read_text(where, block):
    return text(where, members(where, block, ("type", "text"), CACHE + ("citations", "parsed_output"))["text"])


def read_result(asked, where, block, open_calls):
    members(where, block, ("type", "tool_use_id"), CACHE + ("content", "is_error"))
    if block["tool_use_id"] not in open_calls:
        raise Wrong(where, f"unexpected `tool_use_id` found in `tool_result` blocks: {block['tool_use_id']}")
    open_calls.remove(block["tool_use_id"])
    content = block.get("content", "")
    said, pictures = content, Asked("messages", {})
    if not isinstance(content, str):
        said = ""
        for index, part in enumerate(content):
            if one_of(where, part.get("type"), "text", "image") == "text":
                said += read_text(f"{where}.content.{index}", part)
            else:
                read_picture(pictures, f"{where}.content.{index}", part)
    asked.said.append(("result", block["tool_use_id"], said, expect(where, block.get("is_error", False), bool)))
    asked.said += pictures.said


def read_user(asked, where, blocks, open_calls):
    others = False
    for index, block in enumerate(blocks):
        at = f"{where}.content.{index}"
        kind = one_of(f"{at}.type", expect(at, block, dict).get("type"), "text", "image", "tool_result")
        if kind == "tool_result":
            if others:
                raise Wrong(at, "`tool_result` blocks must come first")
            read_result(asked, at, block, open_calls)
            continue
        if open_calls:
            raise Wrong(where, "`tool_use` ids were found without `tool_result` blocks immediately after: "
                        + ", ".join(open_calls))
        others = True
        if kind == "text":
            asked.said.append(("user", read_text(at, block)))
        else:
            read_picture(asked, at, block)
    if open_calls:
        raise Wrong(where, "`tool_use` ids were found without `tool_result` blocks immediately after: "
                    + ", ".join(open_calls))


def read_thinking(asked, where, block):
    """Every byte is signed."""
    if block["type"] == "redacted_thinking":
        same(where, members(where, block, ("type", "data"))["data"], story.STORY["redacted"])
        asked.opaque.append(block["data"])
        return
    members(where, block, ("type", "thinking", "signature"))
    known = {story.opaque_of("messages", turn): story.reasoning_of("messages", turn) for turn in (1, 2, 3)}
    if known.get(block["signature"]) != block["thinking"]:
        raise Wrong(where, f"Invalid `signature` in `thinking` block: {block}")
    asked.opaque.append(block["signature"])


def read_assistant(asked, where, blocks):
    calls = []
    for index, block in enumerate(blocks):
        at = f"{where}.content.{index}"
        kind = one_of(f"{at}.type", expect(at, block, dict).get("type"), "text", "tool_use", "thinking",
                      "redacted_thinking")
        if kind == "tool_use":
            members(at, block, ("type", "id", "name", "input"), CACHE + ("caller",))
            if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", expect(at, block["id"], str)):
                raise Wrong(f"{at}.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
            calls.append(block["id"])
            asked.said.append(("call", block["id"], block["name"], expect(f"{at}.input", block["input"], dict)))
        elif kind == "text":
            asked.said.append(("assistant", read_text(at, block)))
        else:
            read_thinking(asked, at, block)
    if len(set(calls)) != len(calls):
        raise Wrong(where, "`tool_use` ids must be unique")
    return calls


def blocks_of(where, content):
    if isinstance(content, str):
        return [{"type": "text", "text": text(where, content)}]
    if not expect(where, content, list):
        raise Wrong(where, "all messages must have non-empty content")
    return content


def read_messages(asked, messages):
    open_calls = []
    for index, message in enumerate(expect("messages", messages, list)):
        where = f"messages.{index}"
        members(where, message, ("role", "content"))
        if message["role"] != ("user", "assistant")[index % 2]:
            raise Wrong(where, "roles must alternate between \"user\" and \"assistant\"")
        blocks = blocks_of(where, message["content"])
        if message["role"] == "user":
            read_user(asked, where, blocks, open_calls)
        else:
            open_calls = read_assistant(asked, where, blocks)
    if open_calls:
        raise Wrong("messages", f"`tool_use` ids were found without `tool_result` blocks: {open_calls}")
    if messages[-1]["role"] != "user":
        raise Wrong("messages", "the conversation must end with a user message")


def check_thinking_of_loop(messages):
    """While it thinks, the running tool loop's turns begin with what it thought."""
    for message in reversed(messages):
        if message["role"] == "user":
            blocks = message["content"]
            if isinstance(blocks, str) or not any(block["type"] == "tool_result" for block in blocks):
                return
        elif message["content"][0]["type"] not in ("thinking", "redacted_thinking"):
            raise Wrong("messages", "Expected `thinking` or `redacted_thinking`, but found "
                        f"`{message['content'][0]['type']}`. When `thinking` is enabled, a final `assistant` message "
                        "must start with a thinking block")


def read_thinking_config(asked, body, adaptive):
    thinking = expect("thinking", body.get("thinking", {"type": "disabled"}), dict)
    kind = one_of("thinking.type", thinking.get("type"), "enabled", "disabled", *(["adaptive"] if adaptive else []))
    if kind == "enabled":
        members("thinking", thinking, ("type", "budget_tokens"), ("display",))
        if number("thinking.budget_tokens", thinking["budget_tokens"], 1024) >= asked.limit:
            raise Wrong("max_tokens", "must be greater than `thinking.budget_tokens`")
        check_thinking_of_loop(body["messages"])
    asked.thinking = kind != "disabled"
    if asked.thinking and (body.get("temperature", 1) != 1 or "top_k" in body):
        raise Wrong("temperature", "may only be set to 1 when thinking is enabled")
    if asked.thinking and body.get("tool_choice", {}).get("type") in ("any", "tool"):
        raise Wrong("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")


def read_tools(asked, body):
    for index, tool in enumerate(body.get("tools", [])):
        where = f"tools.{index}"
        members(where, tool, ("name", "input_schema"), CACHE + ("description", "strict", "type"))
        one_of(f"{where}.input_schema.type", tool["input_schema"].get("type"), "object")
        asked.tools[tool["name"]] = tool["input_schema"]
    choice = body.get("tool_choice")
    if choice is not None:
        kind = one_of("tool_choice.type", choice.get("type"), "auto", "any", "tool", "none")
        required = ("type", "name") if kind == "tool" else ("type",)
        members("tool_choice", choice, required, ("disable_parallel_tool_use",))
        asked.forced = one_of("tool_choice.name", choice["name"], *asked.tools) if kind == "tool" else None


def read_output(asked, body, adaptive):
    config = members("output_config", body.get("output_config", {}), (), ("effort", "format"))
    if not adaptive and config:
        raise Wrong("output_config", "is not supported by this model")
    if "effort" in config:
        one_of("output_config.effort", config["effort"], "low", "medium", "high", "max")
    if config.get("format"):
        wanted = members("output_config.format", config["format"], ("type", "schema"))
        one_of("output_config.format.type", wanted["type"], "json_schema")
        asked.schema = wanted["schema"]


def read(body, path):
    if body.get("thread") is not None:
        raise Wrong("thread", "threads are not available to this organization")
    members("", body, ("model", "messages", "max_tokens"), OPTIONAL)
    adaptive = "adaptive" in path
    asked = Asked("messages", body)
    asked.stream = expect("stream", body.get("stream", False), bool)
    asked.limit = number("max_tokens", body["max_tokens"], 1, 64000)
    system = body.get("system", [])
    asked.system = [system] if isinstance(system, str) else [read_text("system", one) for one in system]
    read_tools(asked, body)
    read_output(asked, body, adaptive)
    read_messages(asked, body["messages"])
    read_thinking_config(asked, body, adaptive)
    return asked


# -- answers -------------------------------------------------------------------------------------------

FINISH = {"stop": "end_turn", "calls": "tool_use", "limit": "max_tokens", "filter": "refusal"}


def usage_of(reply):
    usage = reply.usage
    return {"input_tokens": usage["input"] - usage["cached"], "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage["cached"], "output_tokens": usage["output"], "service_tier": "standard"}


def stop_of(reply):
    refused = reply.finish == "filter" or reply.refusal
    stop = {"stop_reason": "refusal" if refused else FINISH[reply.finish], "stop_sequence": None}
    if refused:
        stop["stop_details"] = {"type": "refusal", "category": story.STORY["category"],
                                "explanation": story.STORY["explanation"]}
    return stop


def blocks_of_reply(asked, reply):
    """Thinking is given out only to who asked for it. The second turn has a redacted block too."""
    blocks = []
    if reply.reasoning and asked.thinking:
        blocks.append({"type": "thinking", "thinking": reply.reasoning,
                       "signature": story.opaque_of("messages", reply.number)})
        if reply.number == 2:
            blocks.append({"type": "redacted_thinking", "data": story.STORY["redacted"]})
    if reply.text or reply.refusal:
        blocks.append({"type": "text", "text": reply.text or reply.refusal})
    for index, (name, arguments) in enumerate(reply.calls):
        blocks.append({"type": "tool_use", "id": f"toolu_Messages{reply.number}{'abc'[index]}", "name": name,
                       "input": arguments})
    return blocks


def head(asked, reply, content):
    return {"id": "msg_Stub1", "type": "message", "role": "assistant", "model": asked.body["model"], "content": content,
            "stop_reason": None, "stop_sequence": None, "usage": usage_of(reply)}


def whole(asked, reply):
    return spelled(reply.calls, head(asked, reply, blocks_of_reply(asked, reply)) | stop_of(reply))


def deltas_of(block):
    if block["type"] == "thinking":
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"]))
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
    elif block["type"] == "tool_use":
        yield {"type": "input_json_delta", "partial_json": ""}
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(block["input"]))


EMPTY = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}},
         "redacted_thinking": {}}


def named(data):
    return event(data, data["type"])


def stream(asked, reply):
    start = head(asked, reply, [])
    start["usage"] = start["usage"] | {"output_tokens": 1}
    yield named({"type": "message_start", "message": start})
    yield named({"type": "ping"})
    for index, block in enumerate(blocks_of_reply(asked, reply)):
        yield named({"type": "content_block_start", "index": index, "content_block": block | EMPTY[block["type"]]})
        for delta in deltas_of(block):
            yield named({"type": "content_block_delta", "index": index, "delta": delta})
        if reply.breaks:
            yield named({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            return
        yield named({"type": "content_block_stop", "index": index})
    yield named({"type": "message_delta", "delta": stop_of(reply), "usage": {"output_tokens": reply.usage["output"]}})
    yield named({"type": "message_stop"})


def error(status, message, where=None):
    kind = "invalid_request_error" if status == 400 else "overloaded_error"
    told = {"type": kind, "message": message}
    if where == "thread":  # its SDKs know this one, and send all messages instead
        told["details"] = {"error_code": "thread_unsupported_request"}
    return {"type": "error", "error": told, "request_id": "req_Stub1"}
