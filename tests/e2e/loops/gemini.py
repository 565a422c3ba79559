"""Google's generateContent as its provider speaks it. Models of the third generation (the path holds "level") refuse a
call in the running turn that comes back without its thought signature; a mark says that it was made elsewhere."""
import re

import story
from strict import Asked, Wrong, event, expect, members, number, one_of, pieces, spelled, text

OPTIONAL = ("systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "labels")
CONFIG = ("temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "responseMimeType", "responseJsonSchema",
          "responseSchema", "thinkingConfig", "seed", "presencePenalty", "frequencyPenalty", "candidateCount")
MADE_ELSEWHERE = "skip_thought_signature_validator"
KINDS = ("text", "inlineData", "functionCall", "functionResponse")


# -- requests ------------------------------------------------------------------------------------------


def read_signature(asked, where, part):
    signature = part.get("thoughtSignature")
    if signature is None:
        return
    turn = next((one for one in (1, 2, 3) if story.opaque_of("gemini", one) == signature), None)
    if turn is None and (signature != MADE_ELSEWHERE or "functionCall" not in part):
        raise Wrong(f"{where}.thought_signature", f"Corrupted thought signature: {signature[:60]}")
    if turn is not None:
        asked.opaque.append(signature)


def read_call(asked, where, call):
    members(where, call, ("name", "args"), ("id",))
    name, arguments = call["name"], expect(f"{where}.args", call["args"], dict)
    call_id = call.get("id", f"{name}#{sum(one[0] == 'call' for one in asked.said)}")
    asked.said.append(("call", call_id, name, arguments))
    return call_id, name


def read_response(asked, where, answer, open_calls, third):
    members(where, answer, ("name", "response"), ("id", "parts"))
    if not open_calls:
        raise Wrong(where, "function response parts must match the function call parts of the turn before")
    match = next((one for one in open_calls if one[0] == answer.get("id", one[0]) and one[1] == answer["name"]), None)
    if match is None:
        raise Wrong(where, f"no call of {answer['name']} with id {answer.get('id')}")
    open_calls.remove(match)
    value = members(f"{where}.response", answer["response"], (), ("output", "error"))
    texts = value.get("error", value.get("output"))
    asked.said.append(("result", match[0], "".join(texts) if isinstance(texts, list) else texts, "error" in value))
    if "parts" in answer and not third:
        raise Wrong(f"{where}.parts", 'Unknown name "parts": Cannot find field.')
    for part in answer.get("parts", []):
        asked.said.append(("picture", members(where, part["inlineData"], ("mimeType", "data"))["data"]))


def read_part(asked, where, part, role, open_calls, third):
    """Returns the call that the part is, or None."""
    kinds = [kind for kind in KINDS if kind in expect(where, part, dict)]
    if len(kinds) != 1:
        raise Wrong(where, "must have one initialized field")
    members(where, part, kinds, ("thought", "thoughtSignature"))
    read_signature(asked, where, part)
    kind = kinds[0]
    if kind == "functionCall" and role == "model":
        return read_call(asked, where, part[kind])
    if kind == "functionResponse" and role == "user":
        read_response(asked, where, part[kind], open_calls, third)
    elif kind == "inlineData":
        asked.said.append(("picture", members(where, part[kind], ("mimeType", "data"))["data"]))
    elif kind == "text" and not part.get("thought") and not (part["text"] == "" and "thoughtSignature" in part):
        asked.said.append(("user" if role == "user" else "assistant", text(where, part["text"])))
    elif kind != "text":
        raise Wrong(where, f"{kind} is not of role {role}")
    return None


def read_content(asked, where, content, open_calls, third):
    """Returns the calls that the next content must answer."""
    members(where, content, ("role", "parts"))
    calls = []
    for index, part in enumerate(content["parts"]):
        call = read_part(asked, f"{where}.parts[{index}]", part, content["role"], open_calls, third)
        calls += [call] if call else []
    if not content["parts"]:
        raise Wrong(f"{where}.parts", "must not be empty")
    if open_calls:
        raise Wrong(where, "Please ensure that the number of function response parts is equal to the number of "
                    f"function call parts of the function call turn: {open_calls}")
    return calls


def check_signatures_of_turn(contents):
    """Since the user spoke last, the first call of each content is signed."""
    for index in range(len(contents) - 1, -1, -1):
        parts = contents[index]["parts"]
        if contents[index]["role"] == "user" and not any("functionResponse" in part for part in parts):
            return
        call = next((part for part in parts if "functionCall" in part), None)
        if call is not None and "thoughtSignature" not in call:
            raise Wrong(f"contents[{index}]", "Function call is missing a thought_signature in functionCall parts.")


def read_contents(asked, contents, third):
    open_calls = []
    for index, content in enumerate(expect("contents", contents, list)):
        where = f"contents[{index}]"
        if expect(where, content, dict).get("role") != ("user", "model")[index % 2]:
            raise Wrong(f"{where}.role", "Please ensure that multiturn requests alternate between user and model.")
        open_calls = read_content(asked, where, content, open_calls, third)
    if open_calls or contents[-1]["role"] != "user":
        raise Wrong("contents", "must end with a user role")
    if third:
        check_signatures_of_turn(contents)


def read_tools(asked, body):
    for tool in body.get("tools", []):
        for index, declared in enumerate(members("tools", tool, ("functionDeclarations",))["functionDeclarations"]):
            members(f"tools[{index}]", declared, ("name",), ("description", "parametersJsonSchema", "parameters"))
            asked.tools[declared["name"]] = declared.get("parametersJsonSchema")
    config = members("toolConfig", body.get("toolConfig", {"functionCallingConfig": {"mode": "AUTO"}}),
                     ("functionCallingConfig",))["functionCallingConfig"]
    members("toolConfig", config, ("mode",), ("allowedFunctionNames",))
    if one_of("toolConfig.mode", config["mode"], "AUTO", "ANY", "NONE") == "ANY" and "allowedFunctionNames" in config:
        asked.forced = one_of("toolConfig.allowedFunctionNames", config["allowedFunctionNames"][0], *asked.tools)


def read_config(asked, body, third):
    config = members("generationConfig", body.get("generationConfig", {}), (), CONFIG)
    if "maxOutputTokens" in config:
        asked.limit = number("generationConfig.maxOutputTokens", config["maxOutputTokens"], 1, 65536)
    if "responseJsonSchema" in config:
        one_of("generationConfig.responseMimeType", config.get("responseMimeType"), "application/json")
        if asked.tools and not third:
            raise Wrong("generationConfig",
                        "Function calling with a response mime type: 'application/json' is unsupported")
        asked.schema = config["responseJsonSchema"]
    names = ("thinkingLevel",) if third else ("thinkingBudget",)
    thinking = members("generationConfig.thinkingConfig", config.get("thinkingConfig", {}), (),
                       names + ("includeThoughts",))
    if "thinkingLevel" in thinking:
        one_of("thinkingLevel", thinking["thinkingLevel"].lower(), "minimal", "low", "medium", "high")
    if "thinkingBudget" in thinking:
        number("thinkingBudget", thinking["thinkingBudget"], -1, 24576)
    asked.thinking = bool(thinking) and thinking.get("thinkingBudget") != 0
    asked.shown = thinking.get("includeThoughts", False)


def read(body, path):
    third = "level" in path
    members("", body, ("contents",), OPTIONAL)
    asked = Asked("gemini", body)
    found = re.search(r"/v1beta/models/([^:/]+):(generateContent|streamGenerateContent\?alt=sse)$", path)
    asked.model, asked.stream, asked.third = found[1], found[2] != "generateContent", third
    system = body.get("systemInstruction", {"parts": []})
    asked.system = [text("systemInstruction", members("systemInstruction", part, ("text",))["text"])
                    for part in system["parts"]]
    read_tools(asked, body)
    read_config(asked, body, third)
    read_contents(asked, body["contents"], third)
    return asked


# -- answers -------------------------------------------------------------------------------------------


def usage_of(reply):
    usage = reply.usage
    return {"promptTokenCount": usage["input"], "candidatesTokenCount": usage["output"] - usage["reasoning"],
            "totalTokenCount": usage["input"] + usage["output"], "cachedContentTokenCount": usage["cached"],
            "thoughtsTokenCount": usage["reasoning"]}


def parts_of(asked, reply):
    """In the pieces that a stream has. The first call has the signature; without a call, an empty text behind all."""
    if reply.reasoning and asked.shown:
        yield from ({"text": piece, "thought": True} for piece in pieces(reply.reasoning, 20))
    yield from ({"text": piece} for piece in pieces(reply.text, 12))
    for index, (name, arguments) in enumerate(reply.calls):
        part = {"functionCall": {"name": name, "args": arguments}}
        if asked.third:
            part["functionCall"]["id"] = f"gem{reply.number}{'abc'[index]}"
        if index == 0 and reply.reasoning:
            part["thoughtSignature"] = story.opaque_of("gemini", reply.number)
        yield part
    if reply.reasoning and not reply.calls:
        yield {"text": "", "thoughtSignature": story.opaque_of("gemini", reply.number)}


def answer(asked, reply, parts, finish=None):
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    if finish == "SAFETY":
        candidate["safetyRatings"] = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH",
                                       "blocked": True}]
    if not parts:
        candidate["content"] = {"role": "model"}
    return {"candidates": [candidate], "usageMetadata": usage_of(reply), "modelVersion": asked.model,
            "responseId": "gemStub1"}


def finish_of(reply):
    """There is no word for an answer that declines; a filter's is the nearest."""
    if reply.refusal or reply.finish == "filter":
        return "SAFETY"
    return "MAX_TOKENS" if reply.finish == "limit" else "STOP"


def joined(parts):
    """A whole answer has neighbours of one kind in one part."""
    found = []
    for part in parts:
        plain = "text" in part and "thoughtSignature" not in part
        if plain and found and "text" in found[-1] and found[-1].get("thought") == part.get("thought"):
            found[-1]["text"] += part["text"]
        elif part.get("text") == "" and found and "text" in found[-1]:
            found[-1]["thoughtSignature"] = part["thoughtSignature"]
        else:
            found.append(dict(part))
    return found


def whole(asked, reply):
    return spelled(reply.calls, answer(asked, reply, joined(parts_of(asked, reply)), finish_of(reply)))


def stream(asked, reply):
    parts = list(parts_of(asked, reply))
    for index, part in enumerate(parts):
        last = index + 1 == len(parts) and not reply.breaks
        data = answer(asked, reply, [part], finish_of(reply) if last else None)
        yield event(spelled(reply.calls, data), end="\r\n")
    if reply.breaks:
        yield event(error(503, "The model is overloaded."), end="\r\n")
    elif not parts:
        yield event(answer(asked, reply, [], finish_of(reply)), end="\r\n")


def error(status, message, where=None):
    word = "INVALID_ARGUMENT" if status == 400 else "UNAVAILABLE"
    return {"error": {"code": status, "message": message, "status": word}}
