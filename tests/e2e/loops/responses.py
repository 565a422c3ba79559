"""OpenAI Responses as its provider speaks it, for a client that keeps nothing there: reasoning comes encrypted, and
goes back as the item it was, before the items it led to."""
import story
from strict import Asked, Wrong, data_url, event, expect, json_object, members, number, one_of, pieces, same, text

PATHS = ("/v1/responses",)
OPTIONAL = ("stream", "instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "max_output_tokens",
            "reasoning", "include", "store", "user", "metadata", "prompt_cache_key", "safety_identifier",
            "service_tier", "truncation", "stream_options")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def reasoning_item(turn, shown):
    """A summary stands in it for who asked to read it, but not in the second turn: most have none."""
    text = story.reasoning_of("responses", turn)
    summary = [{"type": "summary_text", "text": text}] if shown and turn != 2 else []
    return {"id": f"rs_Responses{turn}", "type": "reasoning", "summary": summary,
            "encrypted_content": story.opaque_of("responses", turn)}


# -- requests ------------------------------------------------------------------------------------------


def read_parts(asked, where, content, kind):
    """The texts and pictures of a content, as the story has them: `kind` is who says the texts."""
    if isinstance(content, str):
        return [(kind, text(where, content))]
    found = []
    for index, part in enumerate(expect(where, content, list)):
        at = f"{where}[{index}]"
        which = expect(at, part, dict).get("type")
        if kind == "assistant":
            one_of(f"{at}.type", which, "output_text", "refusal")
            members(at, part, ("type", "text" if which == "output_text" else "refusal"),
                    ("annotations", "logprobs", "parsed"))
            found.append((kind, part.get("text", part.get("refusal"))))
        elif one_of(f"{at}.type", which, "input_text", "input_image") == "input_text":
            found.append((kind, text(at, members(at, part, ("type", "text"))["text"])))
        else:
            members(at, part, ("type", "image_url"), ("detail",))
            found.append(("picture", data_url(at, part["image_url"])))
    return found


def read_message(asked, where, item):
    members(where, item, ("role", "content"), ("type", "id", "status", "phase"))
    role = one_of(f"{where}.role", item["role"], "user", "assistant", "system", "developer")
    if role == "assistant" and "id" in item and not item["id"].startswith("msg_"):
        raise Wrong(f"{where}.id", f"Invalid '{where}.id': Expected an ID that begins with 'msg'.")
    if role == "assistant" and "id" not in item and not isinstance(item["content"], str):
        raise Wrong(where, "a list of output is what the API gave out itself, with its id")
    found = read_parts(asked, f"{where}.content", item["content"], role)
    if role in ("system", "developer"):
        asked.system += [said for _, said in found]
    else:
        asked.said += found


def read_call(asked, where, item):
    members(where, item, ("type", "call_id", "name", "arguments"), ("id", "status", "parsed_arguments", "caller",
                                                                    "namespace"))
    if len(expect(where, item["call_id"], str)) > 64:
        raise Wrong(f"{where}.call_id", "string too long")
    asked.said.append(("call", item["call_id"], item["name"], json_object(f"{where}.arguments", item["arguments"])))
    return item["call_id"]


def read_output(asked, where, item):
    members(where, item, ("type", "call_id", "output"), ("id", "status"))
    found = read_parts(asked, f"{where}.output", item["output"], "text") if item["output"] else []
    said = "".join(one[1] for one in found if one[0] == "text")
    asked.said.append(("result", item["call_id"], said, False))
    asked.said += [one for one in found if one[0] == "picture"]


def read_reasoning(asked, where, item):
    turn = next((one for one in (1, 2, 3) if item.get("id") == f"rs_Responses{one}"), None)
    if turn is None:
        raise Wrong(where, f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is false.")
    sent = {name: value for name, value in item.items() if value is not None or name not in ("status", "content")}
    same(where, sent, reasoning_item(turn, asked.shown))
    asked.opaque.append(item["encrypted_content"])


def read_input(asked, items):
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    calls, thought = [], None
    for index, item in enumerate(items):
        where = f"input[{index}]"
        kind = one_of(f"{where}.type", expect(where, item, dict).get("type", "message"), "message", "function_call",
                      "function_call_output", "reasoning")
        if thought and (kind in ("function_call_output", "reasoning") or item.get("role", "assistant") != "assistant"):
            raise Wrong(where,
                        f"Item '{thought}' of type 'reasoning' was provided without its required following item.")
        thought = None
        if kind == "message":
            read_message(asked, where, item)
        elif kind == "function_call":
            calls.append(read_call(asked, where, item))
        elif kind == "reasoning":
            read_reasoning(asked, where, item)
            thought = item["id"]
        else:
            if item.get("call_id") not in calls:
                raise Wrong(where, f"No tool call found for function call output with call_id {item.get('call_id')}.")
            calls.remove(item["call_id"])
            read_output(asked, where, item)
    if calls or thought:
        raise Wrong("input", f"No tool output found for function call {calls}, or nothing behind {thought}.")


def read_tools(asked, body):
    for index, tool in enumerate(body.get("tools", [])):
        where = f"tools[{index}]"
        members(where, tool, ("type", "name", "parameters"), ("description", "strict"))
        one_of(f"{where}.type", tool["type"], "function")
        if tool.get("strict", True) and tool["parameters"].get("additionalProperties") is not False:
            raise Wrong(f"{where}.parameters", "'additionalProperties' is required to be supplied and to be false.")
        asked.tools[tool["name"]] = tool["parameters"]
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, dict):
        asked.forced = one_of("tool_choice", members("tool_choice", choice, ("type", "name"))["name"], *asked.tools)
    else:
        one_of("tool_choice", choice, "none", "auto", "required")


def read(body, path):
    members("", body, ("model", "input"), OPTIONAL)
    asked = Asked("responses", body)
    asked.stream = expect("stream", body.get("stream", False), bool)
    if body.get("store") is not False:
        raise Wrong("store", "this account keeps nothing")
    for index, name in enumerate(body.get("include", [])):
        one_of(f"include[{index}]", name, "reasoning.encrypted_content")
    wish = members("reasoning", body.get("reasoning", {}), (), ("effort", "summary"))
    asked.thinking = one_of("reasoning.effort", wish.get("effort", "none"), *EFFORTS) != "none"
    asked.shown = "summary" in wish
    one_of("reasoning.summary", wish.get("summary", "auto"), "auto", "concise", "detailed")
    if "max_output_tokens" in body:
        asked.limit = number("max_output_tokens", body["max_output_tokens"], 16, 128000)
    if body.get("instructions") is not None:
        asked.system.append(text("instructions", body["instructions"]))
    wanted = members("text", body.get("text", {}), (), ("format", "verbosity")).get("format", {"type": "text"})
    if one_of("text.format.type", wanted.get("type"), "text", "json_object", "json_schema") == "json_schema":
        members("text.format", wanted, ("type", "name", "schema"), ("strict", "description"))
        asked.schema = wanted["schema"]
    read_tools(asked, body)
    read_input(asked, body["input"])
    return asked


# -- answers -------------------------------------------------------------------------------------------


def usage_of(reply):
    usage = reply.usage
    return {"input_tokens": usage["input"], "input_tokens_details": {"cached_tokens": usage["cached"]},
            "output_tokens": usage["output"], "output_tokens_details": {"reasoning_tokens": usage["reasoning"]},
            "total_tokens": usage["input"] + usage["output"]}


def items_of(asked, reply):
    status = "incomplete" if reply.finish in ("limit", "filter") else "completed"
    if reply.reasoning:
        yield reasoning_item(reply.number, asked.shown)
    if reply.text or reply.refusal:
        part = {"type": "refusal", "refusal": reply.refusal}
        if reply.text:
            part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        yield {"id": f"msg_Responses{reply.number}", "type": "message", "status": status, "role": "assistant",
               "content": [part]}
    for index, (name, arguments) in enumerate(reply.calls):
        yield {"id": f"fc_Responses{reply.number}{index}", "type": "function_call", "status": "completed", "name": name,
               "arguments": arguments, "call_id": f"call_Responses{reply.number}{'abc'[index]}"}


def response(asked, status, items, usage=None, **more):
    body = asked.body
    return {"id": "resp_Stub1", "object": "response", "created_at": 1700000000, "status": status, "background": False,
            "error": None, "incomplete_details": None, "instructions": body.get("instructions"), "max_output_tokens":
            body.get("max_output_tokens"), "model": body["model"], "output": items, "parallel_tool_calls": True,
            "previous_response_id": None, "reasoning": {"effort": None, "summary": None}, "store": False,
            "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []), "top_p": 1.0, "truncation": "disabled", "usage": usage, "user": None,
            "metadata": {}} | more


def final(asked, reply):
    reasons = {"limit": "max_output_tokens", "filter": "content_filter"}
    reason = reasons.get(reply.finish)
    more = {"incomplete_details": {"reason": reason}} if reason else {}
    status = "incomplete" if reason else "completed"
    return response(asked, status, list(items_of(asked, reply)), usage_of(reply), **more)


def whole(asked, reply):
    return final(asked, reply)


def part_events(item, index):
    """A message's one part."""
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    kind, member = ("output_text", "text") if part["type"] == "output_text" else ("refusal", "refusal")
    yield {"type": "response.content_part.added"} | at | {"part": part | {member: ""}}
    for piece in pieces(part[member]):
        yield {"type": f"response.{kind}.delta"} | at | {"delta": piece, "logprobs": []}
    done = {"type": f"response.{kind}.done"} | at | {member: part[member]}
    yield done | ({"logprobs": []} if member == "text" else {})
    yield {"type": "response.content_part.done"} | at | {"part": part}


def summary_events(item, index):
    for which, part in enumerate(item["summary"]):
        at = {"item_id": item["id"], "output_index": index, "summary_index": which}
        yield {"type": "response.reasoning_summary_part.added"} | at | {"part": part | {"text": ""}}
        for piece in pieces(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta"} | at | {"delta": piece}
        yield {"type": "response.reasoning_summary_text.done"} | at | {"text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done"} | at | {"part": part}


def call_events(item, index):
    at = {"item_id": item["id"], "output_index": index}
    for piece in pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta"} | at | {"delta": piece}
    done = {"arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.function_call_arguments.done"} | at | done


BEGUN = {"message": {"content": [], "status": "in_progress"},
         "function_call": {"arguments": "", "status": "in_progress"}, "reasoning": {"summary": []}}
INSIDE = {"message": part_events, "function_call": call_events, "reasoning": summary_events}


def events(asked, reply):
    yield {"type": "response.created", "response": response(asked, "in_progress", [])}
    yield {"type": "response.in_progress", "response": response(asked, "in_progress", [])}
    for index, item in enumerate(items_of(asked, reply)):
        yield {"type": "response.output_item.added", "output_index": index, "item": item | BEGUN[item["type"]]}
        yield from INSIDE[item["type"]](item, index)
        if reply.breaks:
            failure = {"code": "server_error", "message": "The model broke."}
            yield {"type": "response.failed", "response": response(asked, "failed", [], error=failure)}
            return
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    last = final(asked, reply)
    yield {"type": f"response.{last['status']}", "response": last}


def stream(asked, reply):
    for sequence, data in enumerate(events(asked, reply)):
        yield event(data | {"sequence_number": sequence}, data["type"])


def error(status, message, where=None):
    kind = "invalid_request_error" if status == 400 else "server_error"
    return {"error": {"message": message, "type": kind, "param": where, "code": None}}
