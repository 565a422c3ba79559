"""An example for each row of the table in core/dialect/README.md, by the row's name.

A request row: for each client dialect that has the feature, what is added to a plain request; `seen`: a piece of the
body that each upstream dialect gets when it is carried (a pair's own, or the dialect's). `model`: whose rules hold, by
upstream dialect. An answer row: for each upstream dialect the answer; `seen`: a piece of what each client gets; `asked`:
what the client asked with, where only such a client gets the answer.
"""
import json

USER = {"role": "user", "content": "hi"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}
USED = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\"a\":1}"}
BEGUN = {"role": "assistant", "content": "{"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}}
AN_TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}
CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
RS_TOOL = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": False}
RS_SPACE = {"type": "namespace", "name": "n", "description": "D", "tools": [RS_TOOL]}
TEXT_SCHEMA = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}'
LONG_NAME = "abcdefghij" * 6 + "abcde"
CUT_NAME = LONG_NAME[:55] + "_3a54693f"
MARK = {"type": "ephemeral", "ttl": "1h"}
LIST = {"type": "object", "properties": {"a": {"type": "array"}}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
SCHEMA_TEXT = json.dumps(SCHEMA, separators=(",", ":"))
OPTIONAL = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
BOUNDED = {**SCHEMA, "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}}
OF_A_MAP = {**SCHEMA, "properties": {"n": {"type": "object", "additionalProperties": {"type": "integer"}}}}
DESCRIBED = {**SCHEMA, "$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n", "description": "many"}}}
FORMATS = {"chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "p", "strict": True, "schema": SCHEMA}}},
           "messages": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
           "responses": {"text": {"format": {"type": "json_schema", "name": "p", "strict": True, "schema": SCHEMA}}}}
WITH_TOOLS = {"chat": {"tools": [TOOL]}, "messages": {"tools": [AN_TOOL]}, "responses": {"tools": [RS_TOOL]}}
NATIVE = {"chat": "gpt-4o", "messages": "claude-haiku-4-5", "responses": "gpt-4o", "gemini": "gemini-2.5-flash"}
THINKS = {"chat": "gpt-5-mini", "messages": "claude-opus-4-8", "responses": "gpt-5-mini", "gemini": "gemini-3-pro"}
BUDGET = {"chat": "gpt-5-mini", "messages": "claude-haiku-4-5", "responses": "gpt-5-mini", "gemini": "gemini-2.5-flash"}
NO_SAMPLING = {"chat": "gpt-5-mini", "messages": "claude-opus-4-8", "responses": "gpt-5-mini", "gemini": "gemini-2.5-flash"}


def said(part_or_text):
    return {"role": "user", "content": part_or_text if isinstance(part_or_text, str) else [part_or_text]}


def chat(*turns, **more):
    return {"messages": list(turns) or [USER], **more}


def messages(*turns, **more):
    return {"messages": list(turns) or [USER], **more}


def responses(*items, **more):
    return {"input": list(items) or [USER], **more}


def as_text(schema):
    return json.dumps(schema, separators=(",", ":"))


def format_of(schema):
    """The answer's format in each client's words."""
    named = {"name": "p", "strict": True, "schema": schema}
    return {"chat": {"response_format": {"type": "json_schema", "json_schema": named}},
            "messages": {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
            "responses": {"text": {"format": {"type": "json_schema", **named}}}}


def formats(schema, *dialects):
    made = format_of(schema)
    return {dialect: {"chat": chat, "messages": messages, "responses": responses}[dialect](**made[dialect])
            for dialect in dialects or made}


def tools(choice):
    """The choice in each client's words."""
    named = choice == "f"
    words = {"auto": "auto", "required": "any", "none": "none", "f": "tool"}
    return {"chat": chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "f"}} if named else choice),
            "messages": messages(tools=[AN_TOOL], tool_choice={"type": words[choice], **({"name": "f"} if named else {})}),
            "responses": responses(tools=[RS_TOOL], tool_choice={"type": "function", "name": "f"} if named else choice)}


def forced(reasoning_effort):
    """A call that must be made, and an effort."""
    row = tools("required")
    row["chat"].update(reasoning_effort=reasoning_effort)
    row["messages"].update(output_config={"effort": reasoning_effort})
    row["responses"].update(reasoning={"effort": reasoning_effort})
    return row


def field(chat_name=None, messages_name=None, responses_name=None, value=None, seen=None):
    """A field that is copied, by its name in each dialect that has it."""
    names = {"chat": chat_name, "messages": messages_name, "responses": responses_name}
    makers = {"chat": chat, "messages": messages, "responses": responses}
    row = {dialect: makers[dialect](**{name: value}) for dialect, name in names.items() if name}
    text = json.dumps(value, separators=(",", ":"))
    row["seen"] = {**{dialect: f'"{name}":{text}' for dialect, name in names.items() if name}, **(seen or {})}
    return row


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
AN_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
RS_IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
SEEN_IMAGE = {"chat": '"image_url":{"url":"data:image/png;base64,AAAA"}',
              "messages": '"source":{"type":"base64","media_type":"image/png","data":"AAAA"}',
              "responses": '"image_url":"data:image/png;base64,AAAA"',
              "gemini": '"inlineData":{"mimeType":"image/png","data":"AAAA"}'}

REQUESTS = {
    "system text": {
        "chat": chat({"role": "system", "content": "S"}, USER), "messages": messages(system="S"),
        "responses": responses(instructions="S"),
        "seen": {"chat": '{"role":"system","content":"S"}', "messages": '"system":[{"type":"text","text":"S"}]',
                 "responses": '"instructions":"S"', "gemini": '"systemInstruction":{"parts":[{"text":"S"}]}'}},
    "developer turn, leading": {
        "chat": chat({"role": "developer", "content": "S"}, USER), "responses": responses({"role": "developer", "content": "S"}, USER),
        "seen": {"chat": '{"role":"system","content":"S"}', "messages": '"system":[{"type":"text","text":"S"}]',
                 "responses": '"instructions":"S"', "gemini": '"systemInstruction":{"parts":[{"text":"S"}]}'}},
    "several leading instructions": {
        "chat": chat({"role": "system", "content": "S"}, {"role": "system", "content": "T"}, USER),
        "messages": messages(system=[{"type": "text", "text": "S"}, {"type": "text", "text": "T"}]),
        "responses": responses({"role": "system", "content": "T"}, USER, instructions="S"),
        "seen": {"chat": '"content":[{"type":"text","text":"S"},{"type":"text","text":"T"}]',
                 "messages": '"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}]',
                 "responses": '"instructions":"S\\n\\nT"', "gemini": '{"parts":[{"text":"S"},{"text":"T"}]}'}},
    "system turn behind the user's, the model takes it": {
        "chat": chat(USER, {"role": "system", "content": "S"}), "responses": responses(USER, {"role": "system", "content": "S"}),
        "messages": messages(USER, {"role": "system", "content": "S"}), "model": {"messages": "claude-opus-4-8"},
        "seen": {"chat": '{"role":"system","content":"S"}', "messages": '{"role":"system","content":[{"type":"text","text":"S"}]}',
                 "responses": '"role":"system","content":[{"type":"input_text","text":"S"}]',
                 "gemini": '{"text":"<system>S</system>"}'}},
    "system turn before the user's, or the model takes none": {
        "chat": chat(USER, {"role": "system", "content": "S"}, USER), "responses": responses(USER, {"role": "system", "content": "S"}, USER),
        "model": {"messages": "claude-opus-4-8"},
        "seen": {"messages": '{"type":"text","text":"<system>S</system>"}', "gemini": '{"text":"<system>S</system>"}',
                 "chat": '{"role":"system","content":"S"}', "responses": '"role":"system","content":[{"type":"input_text","text":"S"}]'}},
    "system text alone, and no other turn": {
        "chat": chat({"role": "system", "content": "S"}),
        "responses": responses({"role": "system", "content": "S"}),
        "seen": {"chat": '{"role":"system","content":"S"}', "messages": '{"type":"text","text":"<system>S</system>"}',
                 "responses": '"role":"system","content":[{"type":"input_text","text":"S"}]',
                 "gemini": '{"text":"<system>S</system>"}'}},
    "last turn of the assistant, the model continues it": {
        "chat": chat(USER, BEGUN), "messages": messages(USER, BEGUN), "responses": responses(USER, BEGUN),
        "model": {"messages": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"},
        "seen": {"messages": '{"role":"assistant","content":[{"type":"text","text":"{"}]}]', "gemini": '{"role":"model","parts":[{"text":"{"}]}]',
                 "chat": '{"role":"assistant","content":"{"}]', "responses": '"role":"assistant","content":"{"}]'}},
    "last turn of the assistant, the model does not continue it": {
        "chat": chat(USER, BEGUN), "messages": messages(USER, BEGUN), "responses": responses(USER, BEGUN),
        "model": {"messages": "claude-opus-4-8", "gemini": "gemini-3.6-flash", "chat": "gpt-4o", "responses": "gpt-4o"},
        "seen": {"chat": '{"role":"assistant","content":"{"}]', "responses": '"role":"assistant","content":"{"}]'}},
    "text": {
        "chat": chat(said("héy \"x\"")), "messages": messages(said("héy \"x\"")), "responses": responses(said("héy \"x\"")),
        "seen": {"chat": '"content":"héy \\"x\\""', "messages": '"text":"héy \\"x\\""', "responses": '"text":"héy \\"x\\""',
                 "gemini": '"text":"héy \\"x\\""'}},
    "name of a speaker": {"chat": chat({"role": "user", "content": "hi", "name": "bob"}), "seen": {}},
    "image, base64": {
        "chat": chat(said(IMAGE)), "messages": messages(said(AN_IMAGE)), "responses": responses(said(RS_IMAGE)), "seen": SEEN_IMAGE},
    "image of another type than PNG, JPEG, GIF, WebP, base64": {
        "chat": chat(said({"type": "image_url", "image_url": {"url": "data:image/heic;base64,AAAA"}})),
        "messages": messages(said({"type": "image", "source": {"type": "base64", "media_type": "image/heic", "data": "AAAA"}})),
        "responses": responses(said({"type": "input_image", "image_url": "data:image/heic;base64,AAAA"})),
        "seen": {dialect: seen.replace("image/png", "image/heic") for dialect, seen in SEEN_IMAGE.items()}},
    "image, by its address": {
        "chat": chat(said({"type": "image_url", "image_url": {"url": "https://x.example/a.png?s=a%2Bb"}})),
        "messages": messages(said({"type": "image", "source": {"type": "url", "url": "https://x.example/a.png?s=a%2Bb"}})),
        "responses": responses(said({"type": "input_image", "image_url": "https://x.example/a.png?s=a%2Bb"})),
        "seen": {"chat": '"image_url":{"url":"https://x.example/a.png?s=a%2Bb"', "messages": '"source":{"type":"url","url":"https://x.example/a.png?s=a%2Bb"}',
                 "responses": '"image_url":"https://x.example/a.png?s=a%2Bb"', "gemini": '"fileUri":"https://x.example/a.png?s=a%2Bb"'}},
    "detail of an image": {
        "chat": chat(said({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}})),
        "responses": responses(said(dict(RS_IMAGE, detail="low"))),
        "seen": {"chat": '"detail":"low"', "responses": '"detail":"low"'}},
    "PDF, base64": {
        "chat": chat(said({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}})),
        "messages": messages(said({"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}})),
        "responses": responses(said({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"})),
        "seen": {"chat": '"file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}',
                 "messages": '"source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}',
                 "responses": '"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"',
                 "gemini": '"inlineData":{"mimeType":"application/pdf","data":"AAAA"}'}},
    "PDF, by its address": {
        "messages": messages(said({"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}})),
        "responses": responses(said({"type": "input_file", "file_url": "https://x.example/a.pdf"})),
        "seen": {"messages": '"source":{"type":"url","url":"https://x.example/a.pdf"}', "responses": '"file_url":"https://x.example/a.pdf"',
                 "gemini": '"fileUri":"https://x.example/a.pdf"'}},
    "text document": {
        "messages": messages(said({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "doc"}})),
        "seen": {"chat": '{"type":"text","text":"doc"}', "responses": '{"type":"input_text","text":"doc"}', "gemini": '{"text":"doc"}'}},
    "file by its id": {
        "chat": chat(said({"type": "file", "file": {"file_id": "file-1"}})),
        "messages": messages(said({"type": "document", "source": {"type": "file", "file_id": "file-1"}})),
        "responses": responses(said({"type": "input_file", "file_id": "file-1"})), "seen": {}},
    "audio": {
        "chat": chat(said({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})),
        "seen": {"gemini": '"inlineData":{"mimeType":"audio/wav","data":"AAAA"}'}},
    "speech in the history, by its id": {
        "chat": chat(USER, {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}, USER), "seen": {}},
    "tool": {
        "chat": chat(tools=[TOOL]), "messages": messages(tools=[AN_TOOL]), "responses": responses(tools=[RS_TOOL]),
        "seen": {"chat": '"name":"f","description":"d","parameters":{"type":"object","properties":{}}',
                 "messages": '{"name":"f","description":"d","input_schema":{"type":"object","properties":{}}}',
                 "responses": '"name":"f","description":"d","parameters":{"type":"object","properties":{}}',
                 "gemini": '{"name":"f","description":"d","parametersJsonSchema":{"type":"object","properties":{}}}'}},
    "tool whose object names no properties": {
        "chat": chat(tools=[{**TOOL, "function": {"name": "f", "parameters": {"type": "object"}}}]),
        "messages": messages(tools=[{"name": "f", "input_schema": {"type": "object"}}]),
        "responses": responses(tools=[{**RS_TOOL, "parameters": {"type": "object"}}]),
        "seen": {"chat": '"parameters":{"properties":{},"type":"object"}', "messages": '"input_schema":{"type":"object"}',
                 "responses": '"parameters":{"properties":{},"type":"object"}',
                 "gemini": '"parametersJsonSchema":{"type":"object"}'}},
    "tool with an array that does not say of what": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f", "parameters": LIST}}]),
        "messages": messages(tools=[{"name": "f", "input_schema": LIST}]),
        "responses": responses(tools=[{"type": "function", "name": "f", "parameters": LIST, "strict": False}]),
        "seen": {"chat": '"a":{"items":{},"type":"array"}', "responses": '"a":{"items":{},"type":"array"}', "messages": '"a":{"type":"array"}',
                 "gemini": '"a":{"type":"array"}'}},
    "tool without a schema": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f"}}]),
        "seen": {"messages": '"input_schema":{"type":"object"}', "responses": '"parameters":{"type":"object","properties":{}}',
                 "gemini": '"functionDeclarations":[{"name":"f"}]'}},
    "tool with a name of more than 64 characters": {
        "messages": messages(tools=[{**AN_TOOL, "name": LONG_NAME}]), "responses": responses(tools=[{**RS_TOOL, "name": LONG_NAME}]),
        "seen": {"chat": f'"name":"{CUT_NAME}"', "messages": f'"name":"{LONG_NAME}"', "responses": f'"name":"{LONG_NAME}"',
                 "gemini": f'"name":"{CUT_NAME}"'}},
    "tool with a name that begins with a digit": {
        "chat": chat(tools=[{**TOOL, "function": {"name": "1tool"}}]), "messages": messages(tools=[{**AN_TOOL, "name": "1tool"}]),
        "responses": responses(tools=[{**RS_TOOL, "name": "1tool"}]),
        "seen": {"chat": '"name":"1tool"', "messages": '"name":"1tool"', "responses": '"name":"1tool"', "gemini": '"name":"_tool_95304761"'}},
    "strict tool, the model is held to schemas": {
        "chat": chat(tools=[{"type": "function", "function": dict(TOOL["function"], strict=True)}]),
        "messages": messages(tools=[dict(AN_TOOL, strict=True, input_schema=CLOSED)]),
        "responses": responses(tools=[dict(RS_TOOL, strict=True)]),
        "model": NATIVE, "seen": {"chat": '"strict":true', "messages": '"additionalProperties":false},"strict":true', "responses": '"strict":true'}},
    "strict tool with an optional argument": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f", "parameters": OPTIONAL, "strict": True}}]),
        "messages": messages(tools=[{"name": "f", "input_schema": OPTIONAL, "strict": True}]),
        "responses": responses(tools=[dict(RS_TOOL, parameters=OPTIONAL, strict=True)]),
        "model": NATIVE, "seen": {"chat": '"strict":true', "messages": '"strict":true', "responses": '"strict":true'}},
    "strict tool with a bound": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f", "parameters": BOUNDED, "strict": True}}]),
        "responses": responses(tools=[dict(RS_TOOL, parameters=BOUNDED, strict=True)]),
        "model": NATIVE, "seen": {"chat": as_text(BOUNDED), "messages": '"description":"{minimum: 1, maximum: 9}"}', "responses": as_text(BOUNDED)}},
    "strict tool with a map": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f", "parameters": OF_A_MAP, "strict": True}}]),
        "responses": responses(tools=[dict(RS_TOOL, parameters=OF_A_MAP, strict=True)]),
        "model": NATIVE, "seen": {"chat": '"strict":true', "responses": '"strict":true'}},
    "tool, words beside a $ref in its schema": {
        "chat": chat(tools=[{"type": "function", "function": {"name": "f", "parameters": DESCRIBED}}]),
        "messages": messages(tools=[{"name": "f", "input_schema": DESCRIBED}]),
        "responses": responses(tools=[dict(RS_TOOL, parameters=DESCRIBED)]),
        "seen": {"chat": as_text(DESCRIBED), "messages": as_text(DESCRIBED), "responses": as_text(DESCRIBED),
                 "gemini": '"properties":{"n":{"$ref":"#/$defs/n"}}'}},
    "tool choice auto": {
        **tools("auto"), "seen": {"chat": '"tool_choice":"auto"', "messages": '"tool_choice":{"type":"auto"}',
                                  "responses": '"tool_choice":"auto"', "gemini": '"functionCallingConfig":{"mode":"AUTO"}'}},
    "tool choice required": {
        **tools("required"), "seen": {"chat": '"tool_choice":"required"', "messages": '"tool_choice":{"type":"any"}',
                                      "responses": '"tool_choice":"required"', "gemini": '"functionCallingConfig":{"mode":"ANY"}'}},
    "tool choice required, the model cannot be made to call": {
        **{client: row for client, row in tools("required").items() if client != "messages"}, "model": {"messages": "claude-opus-5-5"},
        "seen": {"chat": '"tool_choice":"required"', "responses": '"tool_choice":"required"', "gemini": '"functionCallingConfig":{"mode":"ANY"}'}},
    "tool choice none": {
        **tools("none"), "seen": {"chat": '"tool_choice":"none"', "messages": '"tool_choice":{"type":"none"}',
                                  "responses": '"tool_choice":"none"', "gemini": '"functionCallingConfig":{"mode":"NONE"}'}},
    "tool choice of one tool": {
        **tools("f"), "seen": {"chat": '"tool_choice":{"type":"function","function":{"name":"f"}}',
                               "messages": '"tool_choice":{"type":"tool","name":"f"}',
                               "responses": '"tool_choice":{"type":"function","name":"f"}',
                               "gemini": '{"mode":"ANY","allowedFunctionNames":["f"]}'}},
    "tool choice among some tools": {
        "chat": chat(tools=[TOOL, {"type": "function", "function": {"name": "g"}}], tool_choice={
            "type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]}}),
        "responses": responses(tools=[RS_TOOL, dict(RS_TOOL, name="g")],
                               tool_choice={"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}),
        "seen": {"chat": '"name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":false}}],"tool_choice":"required"',
                 "messages": '"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}',
                 "responses": '"strict":false}],"tool_choice":"required"', "gemini": '"parametersJsonSchema":{"type":"object","properties":{}}}]}],"toolConfig"'}},
    "parallel calls switched off": {
        "chat": chat(tools=[TOOL], parallel_tool_calls=False), "responses": responses(tools=[RS_TOOL], parallel_tool_calls=False),
        "messages": messages(tools=[AN_TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        "seen": {"chat": '"parallel_tool_calls":false', "messages": '"tool_choice":{"type":"auto","disable_parallel_tool_use":true}',
                 "responses": '"parallel_tool_calls":false'}},
    "call and its result": {
        "chat": chat(USER, CALLED, {"role": "tool", "tool_call_id": "c1", "content": "R"}),
        "messages": messages(USER, USED, said({"type": "tool_result", "tool_use_id": "c1", "content": "R"})),
        "responses": responses(USER, CALL, {"type": "function_call_output", "call_id": "c1", "output": "R"}),
        "seen": {"chat": '"arguments":"{\\"a\\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"R"}',
                 "messages": '{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"R"}]}]}',
                 "responses": '"call_id":"c1","name":"f","arguments":"{\\"a\\":1}"},{"type":"function_call_output","call_id":"c1","output":"R"}',
                 "gemini": '{"functionCall":{"id":"c1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"output":"R"}}}]}'}},
    "result that is an error": {
        "messages": messages(USER, USED, said({"type": "tool_result", "tool_use_id": "c1", "content": "R", "is_error": True})),
        "seen": {"chat": '"content":"Error: R"', "responses": '"output":"Error: R"', "gemini": '"response":{"error":"R"}'}},
    "image inside a result": {
        "messages": messages(USER, USED, said({"type": "tool_result", "tool_use_id": "c1", "content": [AN_IMAGE]})),
        "responses": responses(USER, CALL, {"type": "function_call_output", "call_id": "c1", "output": [RS_IMAGE]}),
        "seen": {**SEEN_IMAGE, "chat": '"content":""},{"role":"user","content":[{"type":"image_url"'}},
    "found tool, in a result": {
        "messages": messages(USER, USED, said({"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "tool_reference", "tool_name": "g"}]})),
        "seen": {"chat": '"tool_call_id":"c1","content":"g"', "responses": '"output":"g"', "gemini": '"response":{"output":"g"}'}},
    "summary of a compaction": {
        "messages": messages(USER, {"role": "assistant", "content": [{"type": "compaction", "content": "sum"}]}, USER),
        "seen": {"chat": '"content":"sum"', "responses": '"content":"sum"', "gemini": '"text":"sum"'}},
    "transformations of an image": {
        "messages": messages(said(dict(AN_IMAGE, transformations={"oversized_image": "error"}))), "seen": {}},
    "refusal in the history": {
        "chat": chat(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER),
        "responses": responses(USER, {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
                                      "content": [{"type": "refusal", "refusal": "no"}]}, USER),
        "seen": {"chat": '"refusal":"no"', "messages": '{"type":"text","text":"no"}', "responses": '{"type":"refusal","refusal":"no"}',
                 "gemini": '{"text":"no"}'}},
    "another maker's thinking, its signature and encrypted items": {
        "chat": chat(USER, {"role": "assistant", "content": "A", "reasoning_content": "secret"}, USER),
        "messages": messages(USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "secret", "signature": "secret"},
                                                                     {"type": "redacted_thinking", "data": "secret"}, {"type": "text", "text": "A"}]}, USER),
        "responses": responses(USER, {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "secret"}], "encrypted_content": "secret"},
                               {"role": "assistant", "content": "A"}, USER), "hidden": "secret", "seen": {}},
    "its own maker's thinking, come back": {
        "chat": chat(USER, {"role": "assistant", "content": "A", "reasoning_content": "T", "reasoning_details": [
            {"type": "reasoning.text", "text": "T", "signature": "acog.messages..SIG", "index": 0}]}, USER),
        "responses": responses(USER, {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "T"}],
                                      "encrypted_content": "acog.messages..SIG"}, {"role": "assistant", "content": "A"}, USER),
        "messages": messages(USER, {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "acog.redacted-responses.rs_1.SIG"},
                                                                     {"type": "text", "text": "A"}]}, USER),
        "seen": {"messages": '{"type":"thinking","thinking":"T","signature":"SIG"}', ("messages", "responses"): '"encrypted_content":"SIG"'}},
    "effort, the model takes words": {
        "chat": chat(reasoning_effort="low", max_tokens=9000), "messages": messages(output_config={"effort": "low"}, max_tokens=9000),
        "responses": responses(reasoning={"effort": "low"}, max_output_tokens=9000), "model": THINKS,
        "seen": {"chat": '"reasoning_effort":"low"', "messages": '"output_config":{"effort":"low"}', "responses": '"reasoning":{"effort":"low"',
                 "gemini": '"thinkingLevel":"low"'}},
    "effort, the model takes other words": {
        "chat": chat(reasoning_effort="xhigh", max_tokens=9000), "messages": messages(output_config={"effort": "xhigh"}, max_tokens=9000),
        "responses": responses(reasoning={"effort": "xhigh"}, max_output_tokens=9000), "model": dict(THINKS, messages="claude-opus-4-6"),
        "seen": {"chat": '"reasoning_effort":"high"', "messages": '"output_config":{"effort":"high"}', "responses": '"reasoning":{"effort":"high"',
                 "gemini": '"thinkingLevel":"high"'}},
    "effort, the model takes budgets": {
        "chat": chat(reasoning_effort="high", max_tokens=8000), "messages": messages(output_config={"effort": "high"}, max_tokens=8000),
        "responses": responses(reasoning={"effort": "high"}, max_output_tokens=8000), "model": BUDGET,
        "seen": {"chat": '"reasoning_effort":"high"', "responses": '"reasoning":{"effort":"high"',
                 "messages": '"thinking":{"type":"enabled","budget_tokens":5999', "gemini": '"thinkingBudget":5999'}},
    "effort beside a forced call, the model takes words": {
        **forced(reasoning_effort="low"), "model": THINKS,
        "seen": {"chat": '"reasoning_effort":"low"', "responses": '"reasoning":{"effort":"low"',
                 "messages": '"tool_choice":{"type":"any"},"output_config":{"effort":"low"}}', "gemini": '"thinkingLevel":"low"'}},
    "effort beside a forced call, the model takes budgets": {
        **forced(reasoning_effort="low"), "model": BUDGET,
        "seen": {"chat": '"reasoning_effort":"low"', "responses": '"reasoning":{"effort":"low"',
                 "messages": '"thinking":', "gemini": '"thinkingBudget":4096'}},
    "thinking budget": {
        "messages": messages(thinking={"type": "enabled", "budget_tokens": 4096}, max_tokens=9000), "model": BUDGET,
        "seen": {"chat": '"reasoning_effort":"low"', "responses": '"reasoning":{"effort":"low"', "gemini": '"thinkingBudget":4096'}},
    "no thinking, the model can be told": {
        "chat": chat(reasoning_effort="none"), "messages": messages(thinking={"type": "disabled"}),
        "responses": responses(reasoning={"effort": "none"}),
        "model": {"chat": "gpt-5.4", "messages": "claude-opus-5", "responses": "gpt-5.4", "gemini": "gemini-2.5-flash"},
        "seen": {"chat": '"reasoning_effort":"none"', "messages": '"thinking":{"type":"disabled"}',
                 "responses": '"reasoning":{"effort":"none"}', "gemini": '"thinkingConfig":{"thinkingBudget":0}'}},
    "no thinking, the model always thinks": {
        "chat": chat(reasoning_effort="none"), "messages": messages(thinking={"type": "disabled"}),
        "responses": responses(reasoning={"effort": "none"}),
        "model": {"chat": "gpt-5-mini", "messages": "claude-opus-5-5", "responses": "gpt-5-mini", "gemini": "gemini-3-pro"},
        "seen": {"chat": '"reasoning_effort":"minimal"', "messages": '"output_config":{"effort":"low"}',
                 "responses": '"reasoning":{"effort":"minimal"}', "gemini": '"thinkingLevel":"low"'}},
    "effort, the model does not think": {
        "chat": chat(reasoning_effort="low"), "messages": messages(output_config={"effort": "low"}),
        "responses": responses(reasoning={"effort": "low"}), "seen": {}},
    "thinking budget, the model does not think": {
        "messages": messages(thinking={"type": "enabled", "budget_tokens": 4096}, max_tokens=9000), "seen": {}},
    "schema, the model is held to it": {
        dialect: {"chat": chat, "messages": messages, "responses": responses}[dialect](**FORMATS[dialect]) for dialect in FORMATS} | {
        "model": NATIVE, "seen": {
            "chat": f'"schema":{SCHEMA_TEXT},"strict":true', "messages": f'"output_config":{{"format":{{"type":"json_schema","schema":{SCHEMA_TEXT}}}}}',
            "responses": f'"schema":{SCHEMA_TEXT},"strict":true', "gemini": f'"responseMimeType":"application/json","responseJsonSchema":{SCHEMA_TEXT}'}},
    "schema beside any JSON object (llama.cpp, Together)": {
        "chat": chat(response_format={"type": "json_object", "schema": SCHEMA}), "model": NATIVE, "seen": {
            "messages": f'"output_config":{{"format":{{"type":"json_schema","schema":{SCHEMA_TEXT}}}}}',
            "responses": f'"type":"json_schema","name":"structured_answer","schema":{SCHEMA_TEXT}',
            "gemini": f'"responseMimeType":"application/json","responseJsonSchema":{SCHEMA_TEXT}'}},
    "schema, by a forced tool": {
        "chat": chat(**FORMATS["chat"]), "responses": responses(**FORMATS["responses"]), "model": {"messages": "claude-sonnet-4-0"},
        "seen": {"messages": f'"input_schema":{SCHEMA_TEXT}}}],"tool_choice":{{"type":"tool","name":"structured_answer"',
                 "chat": f'"schema":{SCHEMA_TEXT}', "responses": f'"schema":{SCHEMA_TEXT}', "gemini": f'"responseJsonSchema":{SCHEMA_TEXT}'}},
    "schema with an optional property": {
        **formats(OPTIONAL), "model": NATIVE, "seen": {
            ("messages", "chat"): '"strict":false', ("messages", "responses"): '"strict":false',
            "chat": '"strict":true', "messages": f'"schema":{as_text(OPTIONAL)}', "responses": '"strict":true',
            "gemini": as_text(OPTIONAL)}},
    "schema with bounds, the model is held to it": {
        **formats(BOUNDED, "chat", "responses"), "model": NATIVE, "seen": {
            "messages": '"n":{"type":"integer","description":"{minimum: 1, maximum: 9}"}',
            "chat": as_text(BOUNDED), "responses": as_text(BOUNDED), "gemini": as_text(BOUNDED)}},
    "schema of open objects": {
        **formats({"type": "object", "properties": {"n": {"type": "integer"}}}, "chat", "responses"), "model": NATIVE, "seen": {
            "messages": '"properties":{"n":{"type":"integer"}},"additionalProperties":false}',
            "chat": '"properties":{"n":{"type":"integer"}}}', "responses": '"properties":{"n":{"type":"integer"}}}',
            "gemini": '"properties":{"n":{"type":"integer"}}}'}},
    "schema with a map": {
        **formats(OF_A_MAP, "chat", "responses"), "model": NATIVE, "seen": {
            "messages": f'"input_schema":{as_text(OF_A_MAP)}}}],"tool_choice":{{"type":"tool","name":"structured_answer"',
            "chat": as_text(OF_A_MAP), "responses": as_text(OF_A_MAP), "gemini": as_text(OF_A_MAP)}},
    "schema with a map, beside tools": {
        dialect: {"chat": chat, "responses": responses}[dialect](**format_of(OF_A_MAP)[dialect], **WITH_TOOLS[dialect])
        for dialect in ("chat", "responses")} | {"model": {**NATIVE, "gemini": "gemini-3-pro"}, "seen": {
            "chat": as_text(OF_A_MAP), "responses": as_text(OF_A_MAP), "gemini": as_text(OF_A_MAP)}},
    "schema, words beside a $ref": {
        **formats(DESCRIBED), "model": NATIVE, "seen": {
            ("messages", "chat"): '"strict":false', ("messages", "responses"): '"strict":false',
            "chat": as_text(DESCRIBED), "responses": as_text(DESCRIBED), "messages": '"n":{"$ref":"#/$defs/n"}',
            "gemini": '"n":{"$ref":"#/$defs/n"}'}},
    "schema beside tools, the model is held to it": {
        dialect: {"chat": chat, "messages": messages, "responses": responses}[dialect](**FORMATS[dialect], **WITH_TOOLS[dialect])
        for dialect in FORMATS} | {"model": NATIVE, "seen": {
            "chat": f'"schema":{SCHEMA_TEXT}', "messages": f'"schema":{SCHEMA_TEXT}', "responses": f'"schema":{SCHEMA_TEXT}'}},
    "schema beside a forced call, the model is held to it": {
        dialect: {**body, **FORMATS[dialect]} for dialect, body in tools("required").items()} | {"model": NATIVE, "seen": {
            "chat": f'"schema":{SCHEMA_TEXT}', "messages": f'"schema":{SCHEMA_TEXT}', "responses": f'"schema":{SCHEMA_TEXT}',
            "gemini": SCHEMA_TEXT}},
    "schema beside a forced call, the model cannot be held to it": {
        dialect: {**body, **FORMATS[dialect], **({"max_tokens": 50} if dialect == "messages" else {})} for dialect, body in tools("required").items()} | {
        "model": {"chat": "gpt-4", "responses": "gpt-4", "gemini": "gemini-2.5-flash"}, "seen": {}, "hidden": SCHEMA_TEXT},
    "schema, the model cannot be held to it": {
        dialect: {"chat": chat, "messages": messages, "responses": responses}[dialect](**FORMATS[dialect]) for dialect in FORMATS} | {
        "model": {"chat": "gpt-4", "responses": "gpt-4"}, "seen": {"messages": SCHEMA_TEXT, "gemini": SCHEMA_TEXT}},
    "any JSON object": {
        "chat": chat(response_format={"type": "json_object"}), "responses": responses(text={"format": {"type": "json_object"}}),
        "seen": {"chat": '"response_format":{"type":"json_object"}', "responses": '"format":{"type":"json_object"}',
                 "messages": '"tool_choice":{"type":"tool","name":"structured_answer"', "gemini": '"responseMimeType":"application/json"'}},
    "stop sequences": {
        "chat": chat(stop=["a", "b"]), "messages": messages(stop_sequences=["a", "b"]),
        "seen": {"chat": '"stop":["a","b"]', "messages": '"stop_sequences":["a","b"]', "gemini": '"stopSequences":["a","b"]'}},
    "stop sequence of white space": {
        "chat": chat(stop="\n"), "seen": {"gemini": '"stopSequences":["\\n"]'}},
    "temperature": field("temperature", "temperature", "temperature", 0.5, {"gemini": '"temperature":0.5'}),
    "temperature over the range": {
        "chat": chat(temperature=1.5), "responses": responses(temperature=1.5),
        "seen": {"chat": '"temperature":1.5', "messages": '"temperature":1', "responses": '"temperature":1.5', "gemini": '"temperature":1.5'}},
    "temperature, the model takes none": dict(field("temperature", "temperature", "temperature", 0.5, {"gemini": '"temperature":0.5'}), model=NO_SAMPLING),
    "top_p": field("top_p", "top_p", "top_p", 0.5, {"gemini": '"topP":0.5'}),
    "top_p beside temperature": {
        "chat": chat(temperature=0.5, top_p=0.5), "responses": responses(temperature=0.5, top_p=0.5), "messages": messages(temperature=0.5, top_p=0.5),
        "seen": {"chat": '"top_p":0.5', "responses": '"top_p":0.5', "gemini": '"topP":0.5'}},
    "top_k": field(None, "top_k", None, 5, {"gemini": '"topK":5'}),
    "frequency_penalty": field("frequency_penalty", None, None, 0.5, {"gemini": '"frequencyPenalty":0.5'}),
    "presence_penalty": field("presence_penalty", None, None, 0.5, {"gemini": '"presencePenalty":0.5'}),
    "penalties, the model takes none": {"chat": chat(presence_penalty=0.5), "model": {"gemini": "gemini-2.5-flash"}, "seen": {}},
    "seed": field("seed", None, None, 7, {"gemini": '"seed":7'}),
    "logit_bias": field("logit_bias", None, None, {"5": 1}),
    "logprobs": field("logprobs", None, None, True),
    "top_logprobs": field("top_logprobs", None, None, 2),
    "n above 1": field("n", None, None, 2),
    "token limit": {
        "chat": chat(max_tokens=50), "messages": messages(max_tokens=50), "responses": responses(max_output_tokens=50),
        "seen": {"chat": '"max_tokens":50', "messages": '"max_tokens":50', "responses": '"max_output_tokens":50', "gemini": '"maxOutputTokens":50'}},
    "token limit, by both names": {
        "chat": chat(max_tokens=60, max_completion_tokens=50),
        "seen": {"messages": '"max_tokens":50', "responses": '"max_output_tokens":50', "gemini": '"maxOutputTokens":50'}},
    "token limit of a model that reasons": {
        "messages": messages(max_tokens=50), "responses": responses(max_output_tokens=50), "model": {"chat": "gpt-5-mini"},
        "seen": {"chat": '"max_completion_tokens":50', "messages": '"max_tokens":50', "responses": '"max_output_tokens":50', "gemini": '"maxOutputTokens":50'}},
    "token limit below 16": {
        "chat": chat(max_tokens=5), "messages": messages(max_tokens=5),
        "seen": {"chat": '"max_tokens":5', "messages": '"max_tokens":5', "responses": '"max_output_tokens":16', "gemini": '"maxOutputTokens":5'}},
    "no token limit": {"chat": chat(), "responses": responses(), "model": {"messages": "claude-opus-4-8"}, "seen": {"messages": '"max_tokens":32000'}},
    "no token limit, and thinking": {
        "chat": chat(reasoning_effort="high"), "responses": responses(reasoning={"effort": "high"}), "model": THINKS,
        "seen": {"messages": '"max_tokens":48384', "chat": '"reasoning_effort":"high"', "responses": '"reasoning":{"effort":"high"', "gemini": '"thinkingLevel":"high"'}},
    "prompt-cache markers": {
        "chat": chat(said({"type": "text", "text": "hi", "cache_control": MARK})), "messages": messages(said({"type": "text", "text": "hi", "cache_control": MARK})),
        "seen": {"messages": '{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}'}},
    "prompt_cache_key": field("prompt_cache_key", None, "prompt_cache_key", "k"),
    "prompt_cache_retention": field("prompt_cache_retention", None, "prompt_cache_retention", "24h"),
    "metadata": field("metadata", None, "metadata", {"k": "v"}),
    "user, an opaque name": {
        "chat": chat(user="u-1"), "messages": messages(metadata={"user_id": "u-1"}), "responses": responses(user="u-1"),
        "seen": {"chat": '"user":"u-1"', "messages": '"metadata":{"user_id":"u-1"}', "responses": '"user":"u-1"'}},
    "user, an opaque name longer than the provider takes": {
        "chat": chat(user="u" * 600), "messages": messages(metadata={"user_id": "u" * 100}), "responses": responses(user="u" * 600),
        "hidden": "uuu", "seen": {}},
    "user, an e-mail address": {"chat": chat(user="pat@mail.example"), "responses": responses(user="pat@mail.example"),
                                "hidden": "pat@mail", "seen": {"chat": '"user":"pat@mail.example"', "responses": '"user":"pat@mail.example"'}},
    "safety_identifier": field("safety_identifier", None, "safety_identifier", "s-1"),
    "service tier auto": field("service_tier", "service_tier", "service_tier", "auto"),
    "service tier flex": field("service_tier", None, "service_tier", "flex"),
    "service tier standard_only": {"messages": messages(service_tier="standard_only"),
                                   "seen": {"chat": '"service_tier":"default"', "responses": '"service_tier":"default"'}},
    "verbosity": {"chat": chat(verbosity="low"), "responses": responses(text={"verbosity": "low"}),
                  "seen": {"chat": '"verbosity":"low"', "responses": '"text":{"verbosity":"low"}'}},
    "store": dict(field("store", None, "store", True), seen={}),
    "previous_response_id": {"responses": responses(previous_response_id="resp_1"), "seen": {}},
    "conversation": {"responses": responses(conversation="conv_1"), "seen": {}},
    "thread": {"messages": messages(thread={"type": "create"}), "seen": {}},
    "prompt, a stored one": {"responses": responses(prompt={"id": "pmpt_1"}), "seen": {}},
    "background": {"responses": responses(background=True), "seen": {}},
    "server tools": {
        "messages": messages(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
        "responses": responses(tools=[{"type": "web_search"}]), "seen": {}},
    "what server tools left in the history": {
        "messages": messages(USER, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                                                                     {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
                                                                     {"type": "text", "text": "A"}]}, USER),
        "responses": responses(USER, {"type": "compaction", "encrypted_content": "x"}, USER), "seen": {}},
    "tools that an item of the input declares": {
        "responses": responses({"type": "additional_tools", "role": "developer", "tools": [RS_TOOL]}, USER),
        "seen": {"chat": '"name":"f"', "messages": '"name":"f"', "gemini": '"name":"f"'}},
    "function of a namespace": {
        "responses": responses(tools=[RS_SPACE, RS_TOOL]),
        "seen": {"chat": '"name":"n__f","description":"D\\n\\nd"', "messages": '"name":"n__f","description":"D\\n\\nd"',
                 "gemini": '"name":"n__f","description":"D\\n\\nd"'}},
    "tool choice of a function of a namespace": {
        "responses": responses(tools=[RS_SPACE], tool_choice={"type": "function", "name": "f"}),
        "seen": {"chat": '"tool_choice":{"type":"function","function":{"name":"n__f"}}', "messages": '"tool_choice":{"type":"tool","name":"n__f"',
                 "gemini": '"allowedFunctionNames":["n__f"]'}},
    "call of a function of a namespace, and its result": {
        "responses": responses(USER, dict(CALL, namespace="n"), {"type": "function_call_output", "call_id": "c1", "output": "R"}),
        "seen": {"chat": '{"name":"n__f","arguments":"{\\"a\\":1}"}', "messages": '"name":"n__f","input":{"a":1}', "gemini": '"name":"n__f","args":{"a":1}'}},
    "custom tool, whose input is a text": {
        "chat": chat(tools=[{"type": "custom", "custom": {"name": "c"}}]), "responses": responses(tools=[{"type": "custom", "name": "c"}]),
        "seen": {"chat": f'"parameters":{TEXT_SCHEMA}', "messages": f'"input_schema":{TEXT_SCHEMA}', "gemini": f'"parametersJsonSchema":{TEXT_SCHEMA}'}},
    "grammar of a custom tool": {
        "responses": responses(tools=[{"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "lark", "definition": "start: 1"}}]),
        "seen": {"chat": 'grammar:\\n\\nstart: 1"', "messages": 'grammar:\\n\\nstart: 1"', "gemini": 'grammar:\\n\\nstart: 1"'}},
    "call of a custom tool, and its result": {
        "responses": responses(USER, {"type": "custom_tool_call", "call_id": "c1", "name": "c", "input": "a"}, {"type": "custom_tool_call_output", "call_id": "c1", "output": "R"}),
        "seen": {"chat": '"arguments":"{\\"input\\":\\"a\\"}"', "messages": '"input":{"input":"a"}', "gemini": '"args":{"input":"a"}'}},
    "container": {"messages": messages(container="c_1"), "seen": {}},
    "mcp_servers": {"messages": messages(mcp_servers=[{"type": "url", "name": "m", "url": "https://x.example"}]), "seen": {}},
    "inference_geo": {"messages": messages(inference_geo="us"), "seen": {}},
    "web_search_options": {"chat": chat(web_search_options={}), "seen": {}},
    "modalities, other than text": {"chat": chat(modalities=["text", "audio"], audio={"voice": "a", "format": "wav"}), "seen": {}},
    "prediction": field("prediction", None, None, {"type": "content", "content": "x"}),
    "context_management": field(None, "context_management", None, {"edits": []}),
    "truncation": field(None, None, "truncation", "auto"),
    "max_tool_calls": field(None, None, "max_tool_calls", 3),
    "include": dict(field(None, None, "include", ["message.output_text.logprobs"]), seen={}),
    "stream": {
        "chat": chat(stream=True, stream_options={"include_usage": True}), "messages": messages(stream=True), "responses": responses(stream=True),
        "seen": {"chat": '"stream":true,"stream_options":{"include_usage":true}', "messages": '"stream":true', "responses": '"stream":true'}},
    "an unknown field": dict(field("x_field", "x_field", "x_field", 1), seen={}),
    "an unknown member of a message": {
        "chat": chat({**USER, "x_member": 1}), "messages": messages({**USER, "x_member": 1}),
        "responses": responses({**USER, "x_member": 1}), "seen": {}},
    "an unknown member of a tool": {
        "chat": chat(tools=[{**TOOL, "x_member": 1}]), "messages": messages(tools=[{**AN_TOOL, "x_member": 1}]),
        "responses": responses(tools=[{**RS_TOOL, "x_member": 1}]), "seen": {}},
}


def chat_answer(message, finish="stop", usage=None, **more):
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage, "choices": [
        {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **more}]}


def messages_answer(*blocks, stop="end_turn", usage=None, **more):
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop,
            "stop_sequence": None, "usage": usage or {"input_tokens": 5, "output_tokens": 2}, **more}


def responses_answer(*items, status="completed", usage=None, **more):
    return {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": list(items),
            "usage": usage or {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}, **more}


def gemini_answer(*parts, finish="STOP", usage=None, **more):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, **more}],
            "usageMetadata": usage or {"promptTokenCount": 5, "candidatesTokenCount": 2}, "modelVersion": "m", "responseId": "r1"}


def told(*parts):
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": list(parts)}


OUT = {"type": "output_text", "text": "A", "annotations": []}
TEXT = {"type": "text", "text": "A"}
FOUND = {"type": "url_citation", "url": "https://s.example", "title": "S", "start_index": 0, "end_index": 1}

def calls_of(name, arguments):
    """One call, in the answer of each provider that is not OpenAI's Responses."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"chat": chat_answer({"content": None, "tool_calls": [call]}, "tool_calls"),
            "messages": messages_answer({"type": "tool_use", "id": "c1", "name": name, "input": arguments}, stop="tool_use"),
            "gemini": gemini_answer({"functionCall": {"id": "c1", "name": name, "args": arguments}})}


ANSWERS = {
    "answer: text": {
        "chat": chat_answer({"content": "A"}), "messages": messages_answer(TEXT), "responses": responses_answer(told(OUT)), "gemini": gemini_answer({"text": "A"}),
        "seen": {"chat": '"content":"A"', "messages": '{"type":"text","text":"A"}', "responses": '"type":"output_text","annotations":[],"logprobs":[],"text":"A"'}},
    "answer: reasoning to read": {
        "chat": chat_answer({"content": "A", "reasoning_content": "T"}), "messages": messages_answer({"type": "thinking", "thinking": "T", "signature": "SIG"}, TEXT),
        "responses": responses_answer({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "T"}], "encrypted_content": "SIG"}, told(OUT)),
        "gemini": gemini_answer({"text": "T", "thought": True}, {"text": "A"}),
        "seen": {"chat": '"reasoning_content":"T"', "messages": '"thinking":"T"', "responses": '"text":"T"'}},
    "answer: signatures and encrypted reasoning": {
        "messages": messages_answer({"type": "thinking", "thinking": "T", "signature": "SIG"}, TEXT),
        "responses": responses_answer({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "SIG"}, told(OUT)),
        "gemini": gemini_answer({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "SIG"}),
        "seen": {("chat", "messages"): '"signature":"acog.messages..SIG"', ("chat", "responses"): '"data":"acog.redacted-responses.rs_1.SIG"',
                 ("chat", "gemini"): '"data":"acog.gemini', ("messages", "responses"): "acog.redacted-responses.rs_1.SIG", ("messages", "gemini"): "acog.gemini",
                 ("responses", "messages"): '"encrypted_content":"acog.messages..SIG"', ("responses", "gemini"): '"encrypted_content":"acog.gemini'}},
    "answer: calls": {
        "chat": chat_answer({"content": None, "tool_calls": CALLED["tool_calls"]}, "tool_calls"), "messages": messages_answer(USED["content"][0], stop="tool_use"),
        "responses": responses_answer(dict(CALL, id="fc_1", status="completed")), "gemini": gemini_answer({"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}),
        "seen": {"chat": '"finish_reason":"tool_calls"', "messages": '"input":{"a":1}', "responses": '"arguments":"{\\"a\\":1}"'}},
    "answer: call of a tool whose name was not taken": {
        "asked": {"messages": messages(tools=[{**AN_TOOL, "name": LONG_NAME}], max_tokens=9), "responses": responses(tools=[{**RS_TOOL, "name": LONG_NAME}])},
        **{upstream: answer for upstream, answer in calls_of(CUT_NAME, {"a": 1}).items() if upstream != "messages"},
        "seen": {"messages": f'"name":"{LONG_NAME}"', "responses": f'"name":"{LONG_NAME}"'}},
    "answer: call of a function of a namespace": {
        "asked": {"responses": responses(tools=[RS_SPACE])}, **calls_of("n__f", {"a": 1}),
        "seen": {"responses": '"name":"f","namespace":"n"'}},
    "answer: call of a custom tool": {
        "asked": {"responses": responses(tools=[{"type": "custom", "name": "c"}])}, **calls_of("c", {"input": "x\ny"}),
        "seen": {"responses": '"type":"custom_tool_call","status":"completed","input":"x\\ny"'}},
    "answer: refusal in the model's words": {
        "chat": chat_answer({"content": None, "refusal": "no"}), "responses": responses_answer(told({"type": "refusal", "refusal": "no"})),
        "seen": {"chat": '"refusal":"no"', "messages": '{"type":"text","text":"no"}', "responses": '{"type":"refusal","refusal":"no"}'}},
    "answer: category of a refusal": {
        "messages": messages_answer(stop="refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "E"}),
        "gemini": gemini_answer(finish="SAFETY", safetyRatings=[{"category": "HARM_CATEGORY_HATE_SPEECH", "blocked": True}]),
        "seen": {("chat", "messages"): "cyber", ("responses", "messages"): '"category":"cyber"', ("chat", "gemini"): "hate_speech",
                 ("messages", "gemini"): '"explanation":"hate_speech"', ("responses", "gemini"): '"category":"hate_speech"'}},
    "answer: citations with an address": {
        "chat": chat_answer({"content": "A", "annotations": [{"type": "url_citation", "url_citation": {"url": "https://s.example", "title": "S", "start_index": 0, "end_index": 1}}]}),
        "messages": messages_answer(dict(TEXT, citations=[{"type": "web_search_result_location", "url": "https://s.example", "title": "S", "cited_text": "c", "encrypted_index": "i"}])),
        "responses": responses_answer(told(dict(OUT, annotations=[FOUND]))),
        "gemini": gemini_answer({"text": "A"}, groundingMetadata={"groundingChunks": [{"web": {"uri": "https://s.example", "title": "S"}}]}),
        "seen": {"chat": '"url":"https://s.example"', "responses": '"url":"https://s.example"', "messages": "https://s.example"}},
    "answer: usage, cached and written and reasoning tokens": {
        "chat": chat_answer({"content": "A"}, usage={"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109, "prompt_tokens_details": {"cached_tokens": 80},
                                                     "completion_tokens_details": {"reasoning_tokens": 4}}),
        "messages": messages_answer(TEXT, usage={"input_tokens": 20, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 0, "output_tokens": 9,
                                                 "output_tokens_details": {"thinking_tokens": 4}}),
        "responses": responses_answer(told(OUT), usage={"input_tokens": 100, "input_tokens_details": {"cached_tokens": 80}, "output_tokens": 9,
                                                        "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 109}),
        "gemini": gemini_answer({"text": "A"}, usage={"promptTokenCount": 100, "cachedContentTokenCount": 80, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}),
        "seen": {"chat": '"reasoning_tokens":4', "messages": '"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":80,"output_tokens":9',
                 "responses": '"input_tokens":100,"input_tokens_details":{"cached_tokens":80'}},
    "answer: no usage": {
        "chat": chat_answer({"content": "A"}), "seen": {"messages": '"estimated":true', "responses": '"estimated":true'}},
    "answer: cut by the limit": {
        "chat": chat_answer({"content": "A"}, "length"), "messages": messages_answer(TEXT, stop="max_tokens"),
        "responses": responses_answer(told(OUT), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "gemini": gemini_answer({"text": "A"}, finish="MAX_TOKENS"),
        "seen": {"chat": '"finish_reason":"length"', "messages": '"stop_reason":"max_tokens"', "responses": '"incomplete_details":{"reason":"max_output_tokens"}'}},
    "answer: ended by a stop sequence": {
        "messages": messages_answer(TEXT, stop="stop_sequence"),
        "seen": {"chat": '"finish_reason":"stop","native_finish_reason":"stop_sequence"', "responses": '"native_finish_reason":"stop_sequence"'}},
    "answer: ended for a reason that the client's API has no word for": {
        "chat": chat_answer({"content": "A"}, "novel"), "messages": messages_answer(TEXT, stop="model_context_window_exceeded"),
        "gemini": gemini_answer({"text": "A"}, finish="LANGUAGE"),
        "seen": {("messages", "chat"): '"native_stop_reason":"novel"', ("responses", "chat"): '"native_finish_reason":"novel"',
                 ("chat", "messages"): '"native_finish_reason":"model_context_window_exceeded"', ("responses", "messages"): '"native_finish_reason":"model_context_window_exceeded"',
                 ("chat", "gemini"): '"native_finish_reason":"LANGUAGE"', ("messages", "gemini"): '"native_stop_reason":"LANGUAGE"', ("responses", "gemini"): '"native_finish_reason":"LANGUAGE"'}},
    "answer: logprobs": {
        "chat": chat_answer({"content": "A"}, logprobs={"content": [{"token": "A", "logprob": -1.25, "bytes": None, "top_logprobs": []}]}), "seen": {"messages": "-1.25", "responses": "-1.25"}},
    "answer: what server tools did": {
        "messages": messages_answer({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "qqq"}}, TEXT),
        "responses": responses_answer({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "qqq"}}, told(OUT)),
        "seen": {"chat": "qqq", "messages": "qqq", "responses": "qqq"}},
}
