#!/usr/bin/env python3
"""Tools that a Responses client knows by other names than upstreams do: functions in namespaces, and custom tools.

    identities_test.py TRANSLATE      run by run.py

The names that a request is told with are called by each provider, whole and in a stream, with text and other calls around
them, fed at once and a byte at a time. What comes back holds to OpenAI's schema, and OpenAI's SDK reads the calls under the
client's names, in the events and in the response that it gathers from them.
"""
import itertools
import json
import sys

import corpus
import readings
import schemas
from driver import translate

PARAMETERS = {"type": "object", "properties": {"x": {"type": "string"}}}
LONG = "a_very_long_name_for_a_tool_that_no_provider_would_ever_take_as_it_is"
TOOLS = [
    {"type": "function", "name": "plain", "parameters": PARAMETERS, "strict": False},
    {"type": "namespace", "name": "agents.v1", "description": "About agents.", "tools": [
        {"type": "function", "name": "close", "description": "Closes.", "parameters": PARAMETERS},
        {"type": "function", "name": LONG, "parameters": PARAMETERS},
        {"type": "custom", "name": "script", "format": {"type": "text"}}]},
    {"type": "custom", "name": "patch", "description": "Patches.",
     "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\"\n"}}]
REQUEST = {"model": "m", "input": "hi", "tools": TOOLS}
TEXT = "*** Begin\n+\"q\" \\ ä 🤔\t\n"
# What the client calls, and with what; what its provider is asked to send.
CALLS = [("function_call", None, "plain", {"x": "1"}), ("function_call", "agents.v1", "close", {}),
         ("function_call", "agents.v1", LONG, {"x": TEXT}), ("custom_tool_call", "agents.v1", "script", TEXT),
         ("custom_tool_call", None, "patch", ""), ("custom_tool_call", None, "patch", "a" * 3000)]
UPSTREAMS = ("chat", "messages", "gemini")


def told_names(program, upstream):
    """{(namespace, name): the name that the upstream gets}, by the order of the tools."""
    tools = [tool for tool in TOOLS if not (upstream == "messages" and tool["type"] == "custom")]
    tools = [dict(tool, tools=[one for one in tool["tools"] if upstream != "messages" or one["type"] == "function"])
             if tool["type"] == "namespace" else tool for tool in tools]
    declared = [(tool["name"] if tool["type"] == "namespace" else None, one["name"])
                for tool in tools for one in tool.get("tools", [tool])]
    request = dict(REQUEST, tools=tools)
    answer = translate(program, [{"op": "request", "from": "responses", "to": upstream, "model": "", "body": json.dumps(request)}])[0]
    body = json.loads(answer["body"])
    found = schemas.request_complaints(upstream, body)
    if found:
        raise SystemExit(f"WRONG request to {upstream}: {found[0]}")
    listed = body["tools"][0]["functionDeclarations"] if upstream == "gemini" else body["tools"]
    names = [tool.get("function", tool)["name"] for tool in listed]
    if len(set(names)) != len(names) or any(len(name) > 64 for name in names):
        raise SystemExit(f"WRONG names at {upstream}: {names}")
    return request, dict(zip(declared, names))


def arguments_of(call):
    return {"input": call[3]} if call[0] == "custom_tool_call" else call[3]


def pieces(text):
    return [text[at:at + 7] for at in range(0, len(text), 7)]


def chat(names, calls):
    told = [{"id": f"call_{i}", "type": "function", "function": {"name": names[call[1:3]], "arguments": json.dumps(arguments_of(call))}}
            for i, call in enumerate(calls)]
    head = {"id": "chatcmpl-1", "created": 1, "model": "m"}
    whole = {**head, "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "T", "tool_calls": told}, "finish_reason": "tool_calls"}]}
    deltas = [{"role": "assistant", "content": "T"}]
    for i, one in enumerate(told):
        deltas.append({"tool_calls": [{"index": i, **one, "function": {"name": one["function"]["name"], "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": i, "function": {"arguments": piece}}]} for piece in pieces(one["function"]["arguments"])]
    chunks = [{**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return whole, "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def messages(names, calls):
    blocks = [{"type": "text", "text": "T"}] + [
        {"type": "tool_use", "id": f"call_{i}", "name": names[call[1:3]], "input": arguments_of(call)} for i, call in enumerate(calls)]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": {"input_tokens": 5, "output_tokens": 2}}
    whole = {**head, "content": blocks, "stop_reason": "tool_use", "stop_sequence": None}
    events = [{"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "stop_sequence": None}}]
    for i, block in enumerate(blocks):
        text = block["type"] == "text"
        events.append({"type": "content_block_start", "index": i, "content_block": {**block, "text": ""} if text else {**block, "input": {}}})
        said = [block["text"]] if text else pieces(json.dumps(block["input"]))
        for piece in said:
            delta = {"type": "text_delta", "text": piece} if text else {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "index": i, "delta": delta})
        events.append({"type": "content_block_stop", "index": i})
    events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]
    return whole, "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def gemini(names, calls):
    parts = [{"text": "T"}] + [{"functionCall": {"id": f"call_{i}", "name": names[call[1:3]], "args": arguments_of(call)}} for i, call in enumerate(calls)]
    head = {"responseId": "r1", "modelVersion": "m", "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}
    whole = {**head, "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    chunks = [{**head, "candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    return whole, "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks)


def called(item):
    """An item of the answer as CALLS has it."""
    given = item["input"] if item["type"] == "custom_tool_call" else json.loads(item["arguments"])
    return item["type"], item.get("namespace"), item["name"], given


def by_sdk(stream, text):
    """What OpenAI's SDK makes of it: the items of the response, and of a stream the inputs that its events built."""
    readings.SENT["body"] = text.encode()
    readings.SENT["type"] = "text/event-stream" if stream else "application/json"
    if not stream:
        return readings.OPENAI.responses.create(model="m", input="hi").to_dict(mode="json", warnings=False)["output"], None
    built, done = {}, {}
    with readings.OPENAI.responses.stream(model="m", input="hi") as events:
        for event in events:
            if event.type in ("response.custom_tool_call_input.delta", "response.function_call_arguments.delta"):
                built[event.item_id] = built.get(event.item_id, "") + event.delta
            elif event.type in ("response.custom_tool_call_input.done", "response.function_call_arguments.done"):
                done[event.item_id] = event.input if "custom" in event.type else event.arguments
        items = events.get_final_response().to_dict(mode="json", warnings=False)["output"]
    if any(built.get(item, "") != text for item, text in done.items()):
        raise ValueError("the deltas are not what is done")
    return items, done


def complaint(stream, calls, got):
    out = got.get("sse" if stream else "body")
    if out is None or (stream and not got["complete"]):
        return json.dumps(got)[:300]
    values = [json.loads(data) for _, data in corpus.events_of(out)] if stream else [json.loads(out)]
    for value in values:
        found = schemas.complaints("responses", (schemas.EVENTS if stream else schemas.WHOLE)["responses"], value)
        if found:
            return f"schema: {json.dumps(value)[:200]}: {found[0]}"
    items, done = by_sdk(stream, out)
    seen = [item for item in items if item["type"].endswith("_call")]
    if [called(item) for item in seen] != calls:
        return f"calls: {[called(item) for item in seen]}"
    if [item["call_id"] for item in seen] != [f"call_{i}" for i in range(len(calls))]:
        return f"ids: {seen}"
    if stream and [done[item["id"]] for item in seen] != [item.get("input", item.get("arguments")) for item in seen]:
        return f"events: {done}"
    return None


def main():
    makers, tried, wrong = {"chat": chat, "messages": messages, "gemini": gemini}, 0, 0
    for upstream in UPSTREAMS:
        request, names = told_names(sys.argv[1], upstream)
        known = [call for call in CALLS if call[1:3] in names]
        rows = [[call] for call in known] + [list(pair) for pair in itertools.permutations(known, 2)] + [known]
        asked = []
        for calls in rows:
            whole, sse = makers[upstream](names, calls)
            more = {"client": "responses", "upstream": upstream, "request": json.dumps(request)}
            asked.append((False, calls, {"op": "whole", "body": json.dumps(whole), **more}))
            asked += [(True, calls, {"op": "stream", "sse": sse, "piece": piece, **more}) for piece in (0, 1)]
        for (stream, calls, _), got in zip(asked, translate(sys.argv[1], [command for _, _, command in asked])):
            tried += 1
            what = complaint(stream, calls, got)
            if what:
                wrong += 1
                print(f"WRONG {upstream} {'stream' if stream else 'whole'} {[call[2] for call in calls]}: {what}")
    print(f"{tried} answers, {wrong} wrong")
    sys.exit(1 if wrong or not tried else 0)


if __name__ == "__main__":
    main()
