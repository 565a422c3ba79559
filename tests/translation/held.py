"""What a dialect holds of a request in normal form (normal.py) that was another's: each step is a loss with a name.

Of models that nothing is known of (acog_model_rules_default()): no thinking, a schema at messages by a forced tool.
"""
import copy
import re

import normal

LEGAL_IDS = {"chat": re.compile(".{1,40}", re.DOTALL), "messages": re.compile("[a-zA-Z0-9_-]{1,64}"),
             "responses": re.compile(".{1,64}", re.DOTALL)}

MESSAGES_DEFAULT_TOKENS = 4096
RESPONSES_LEAST_TOKENS = 16
SCHEMA_TOOL = "structured_answer"


class Losses:
    """Counts how often each named loss was needed."""

    def __init__(self):
        self.seen, self.latest, self.fields = {}, set(), set()

    def count(self, name):
        self.seen[name] = self.seen.get(name, 0) + 1
        self.latest.add(name)


# The client's fields of which at least one is named in the dropped-params list when a loss happens. What is not here is
# said in another way and nothing is missing.
NAMED = {
    "cache markers": {"messages.cache_control", "tools.cache_control", "system.cache_control"},
    "effort, of a model that does not think": {"reasoning_effort", "output_config.effort", "reasoning.effort"},
    "detail of an image": {"messages.detail", "input.detail"},
    "the title of a text document": {"messages.title"},
    "a later system turn is a marked text of the user": {"messages.role", "input.role"},
    "strict of a tool": {"tools.strict"},
    "strict of a tool whose schema OpenAI does not hold to": {"tools.strict"},
    "a schema that OpenAI does not hold to": {"output_config.format"},
    "blank stop sequences": {"stop", "stop_sequences"},
    "stop sequences": {"stop", "stop_sequences"},
    "a temperature over the range": {"temperature"},
    "a limit below the least": {"max_tokens"},
    "a user's name that is too long": {"user", "metadata.user_id"},
}


def unnamed(losses, dropped):
    """What was lost by the latest request and is not named to the client."""
    for loss in sorted(losses.latest & set(NAMED)):
        if not NAMED[loss] & dropped:
            yield f"{loss} is not named"
    for field in sorted(losses.fields - dropped):
        yield f"{field} is not named"


def change(losses, name, target, index, value):
    if target[index] != value:
        target[index] = value
        losses.count(name)


def all_parts(form):
    for _, parts in form["turns"]:
        for part in parts:
            yield part
            if part[0] == "result":
                yield from part[3]


def lose_cache(form, losses):
    for holder in form["system"] + form["tools"] + list(all_parts(form)):
        if isinstance(holder[-1], dict):
            change(losses, "cache markers", holder, -1, None)


def lose_thinking(form, losses):
    """It is its maker's; a text of it is never shown to another model (B28, B39)."""
    turns = []
    for role, parts in form["turns"]:
        kept = [part for part in parts if part[0] != "thinking"]
        if len(kept) < len(parts):
            losses.count("another maker's thinking")
        turns.append([role, kept])
    form["turns"] = normal.arranged(turns)


def replace_parts(form, losses, name, kind, made):
    """`made` of each part of a kind, in turns and in results: a list of parts in its place."""
    def of(parts):
        out = []
        for part in parts:
            if part[0] == "result":
                part[3] = of(part[3])
            new = made(part) if part[0] == kind else [part]
            if new != [part]:
                losses.count(name)
            out += new
        return out

    form["turns"] = [[role, of(parts)] for role, parts in form["turns"]]


def documents_as_texts(form, losses):
    def made(part):
        if part[1][0] != "text":
            return [part]
        if part[3]:
            losses.count("the title of a text document")
        return [["text", part[1][1], part[-1]]]

    replace_parts(form, losses, "a text document is a text", "file", made)


def mark_errors(form, losses, apart):
    """Where a result has no flag, a text in front says it; `apart`: as a part of its own when there are several."""
    for part in all_parts(form):
        if part[0] == "result" and part[2]:
            losses.count("the error flag is a text")
            inner, part[2] = part[3], False
            if inner and inner[0][0] == "text" and not (apart and len(inner) > 1):
                inner[0][1] = "Error: " + inner[0][1]
            else:
                inner.insert(0, ["text", "Error: ", None])


def move_media(form, losses):
    """A tool message of chat has texts only: images of results open the user's own words (B02)."""
    for turn in form["turns"]:
        moved = []
        for part in turn[1]:
            if part[0] == "result":
                moved += [one for one in part[3] if one[0] != "text"]
                part[3] = [one for one in part[3] if one[0] == "text"]
        if moved:
            losses.count("media of a result stand beside it")
            results = [part for part in turn[1] if part[0] == "result"]
            turn[1] = results + moved + turn[1][len(results):]


def name_files(form, losses):
    for part in all_parts(form):
        if part[0] == "file" and part[1][0] == "base64" and part[3] is None:
            name = "document.pdf" if part[2] == "application/pdf" else "document"
            change(losses, "a file without a name gets one", part, 3, name)
        if part[0] == "file" and part[1][0] == "url":
            change(losses, "the name of a file at an address", part, 3, None)


def drop_fields(form, losses, source, dialect):
    for name in sorted(set(form["fields"]) - normal.FIELDS[dialect]):
        losses.count(f"fields that the dialect has not ({dialect})")
        losses.fields.add("text.verbosity" if source == "responses" and name == "verbosity" else name)
        del form["fields"][name]


def tool_defaults(form, losses, schema, strict):
    for tool in form["tools"]:
        if tool[2] is None:
            change(losses, "a tool without a schema takes an object", tool, 2, schema)
        if tool[3] is None:
            change(losses, "strict is told", tool, 3, strict)


def name_properties(form, losses):
    """OpenAI refuses an object without properties."""
    for tool in form["tools"]:
        if tool[2] == {}:
            change(losses, "a schema that says nothing is one of no arguments", tool, 2, {"type": "object", "properties": {}})
        elif tool[2] and tool[2].get("type") == "object" and "properties" not in tool[2]:
            change(losses, "an object without properties gets empty ones", tool, 2, {"properties": {}, **tool[2]})


STRICT = {"type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const",
          "anyOf", "$ref", "$defs", "definitions", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
          "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "$schema"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def is_strict(schema, root=True, levels=0):
    """Of OpenAI's strict subset, its limits of size aside."""
    if not isinstance(schema, dict) or not schema.keys() <= STRICT:
        return False
    if "$ref" in schema:
        return not root and len(schema) == 1 and (schema["$ref"] == "#" or schema["$ref"].startswith(("#/$defs/", "#/definitions/")))
    types = schema.get("type") if isinstance(schema.get("type"), list) else [schema.get("type")]
    if root and (schema.get("type") != "object" or "anyOf" in schema) or "type" not in schema and "anyOf" not in schema:
        return False
    properties = schema.get("properties", {})
    if "object" in types and ("properties" not in schema or schema.get("additionalProperties") is not False
                              or set(properties) - set(schema.get("required", []))):
        return False
    if "array" in types and "items" not in schema or schema.get("format", "date") not in FORMATS:
        return False
    levels += "object" in types
    inner = [*properties.values(), *schema.get("$defs", {}).values(), *schema.get("definitions", {}).values(),
             *schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return levels <= 10 and all(is_strict(one, False, levels) for one in inner)


def strictness(form, losses, source):
    """OpenAI holds to fewer schemas than Anthropic does: a client of messages knows nothing of that."""
    if form["format"] and form["format"][0] == "schema" and form["format"][1] is None:
        losses.count("a schema without a name and strictness gets both")
        form["format"][1], form["format"][4] = SCHEMA_TOOL, True
        if not is_strict(form["format"][3]):
            change(losses, "a schema that OpenAI does not hold to", form["format"], 4, False)
    for tool in form["tools"]:
        if source == "messages" and tool[3] and not is_strict(tool[2]):
            change(losses, "strict of a tool whose schema OpenAI does not hold to", tool, 3, False)


def tier(form, losses, words):
    given = form["fields"].get("service_tier")
    if given in words:
        losses.count("the service tier in the dialect's word")
        form["fields"]["service_tier"] = words[given]
        if words[given] is None:
            del form["fields"]["service_tier"]


def to_chat(form, losses, source):
    rename_tools(form, losses)
    documents_as_texts(form, losses)
    mark_errors(form, losses, apart=False)
    move_media(form, losses)
    strictness(form, losses, source)
    name_properties(form, losses)
    tier(form, losses, {"standard_only": "default"})
    name_files(form, losses)
    lose_cache(form, losses)


def to_messages(form, losses, source):
    for part in all_parts(form):
        if part[0] == "image":
            change(losses, "detail of an image" if part[3] != "auto" else "a detail that is the default", part, 3, None)
    replace_parts(form, losses, "a refusal is a text", "refusal", lambda part: [["text", part[1], None]])
    if any(role == "system" for role, _ in form["turns"]):
        losses.count("a later system turn is a marked text of the user")
    form["turns"] = normal.arranged(
        [["user", [["text", f"<system>{part[1]}</system>", part[2]] for part in parts]] if role == "system" else
         [role, parts] for role, parts in form["turns"]])
    for tool in form["tools"]:
        change(losses, "strict of a tool" if tool[3] else "a strictness that is the default", tool, 3, None)
    tool_defaults(form, losses, {"type": "object"}, None)
    if form["max_tokens"] is None:
        change(losses, "a limit where there was none", form, "max_tokens", MESSAGES_DEFAULT_TOKENS)
    change(losses, "blank stop sequences", form, "stops", [stop for stop in form["stops"] if not normal.is_blank(stop)])
    drop_fields(form, losses, source, "messages")
    fields = form["fields"]
    if "temperature" in fields and "top_p" in fields:
        losses.count("top_p beside a temperature, or a temperature that is the model's own")
        del fields["temperature" if fields["temperature"] >= 1 and fields["top_p"] < 1 else "top_p"]
    if fields.get("temperature", 0) > 1:
        change(losses, "a temperature over the range", fields, "temperature", 1)
    tier(form, losses, {"default": None, "flex": None, "priority": None, "scale": None})
    if form["tools"]:
        change(losses, "a format of no text, beside a forced call", form, "format", None)
    if form["format"]:
        losses.count("a format is a forced tool")
        schema = form["format"][3] if form["format"][0] == "schema" else {"type": "object"}
        description = form["format"][2] if form["format"][0] == "schema" else None
        form["tools"] = [[SCHEMA_TOOL, description, schema, None, None]]
        form.update(choice=["named", SCHEMA_TOOL], parallel_off=True, format=None)
    if form["parallel_off"] and form["choice"] is None:
        change(losses, "the switch of parallel calls needs a choice", form, "choice", "auto")
    if form["choice"] == "none":
        change(losses, "the switch of parallel calls where none may be made", form, "parallel_off", False)


def to_responses(form, losses, source):
    if len(form["system"]) > 1:
        text = "\n\n".join(text for text, _ in form["system"])
        change(losses, "instructions are one text", form, "system", [[text, None]])
    documents_as_texts(form, losses)
    mark_errors(form, losses, apart=True)
    strictness(form, losses, source)
    for part in all_parts(form):
        if part[0] == "image" and part[3] is None:
            change(losses, "detail is told", part, 3, "auto")
    tool_defaults(form, losses, {"type": "object", "properties": {}}, False)
    change(losses, "stop sequences", form, "stops", [])
    if form["max_tokens"] is not None:
        change(losses, "a limit below the least", form, "max_tokens", max(form["max_tokens"], RESPONSES_LEAST_TOKENS))
    name_properties(form, losses)
    tier(form, losses, {"standard_only": "default"})
    name_files(form, losses)
    lose_cache(form, losses)


def told_name(name):
    """Of a tool, where a name is too long (identity.h): FNV-1a of the namespace, which is empty, and of the name."""
    def fnv(text):
        value = 0xcbf29ce484222325
        for byte in text.encode():
            value = (value ^ byte) * 0x100000001b3 % 2**64
        return value

    return f"{re.sub('[^a-zA-Z0-9_-]', '_', name)[:55]}_{(fnv('') * 31 + fnv(name)) % 2**32:08x}"


def rename_tools(form, losses):
    """Chat takes names of 64 characters."""
    for holder, at in ([(tool, 0) for tool in form["tools"]] + [(part, 2) for part in all_parts(form) if part[0] == "call"] +
                       ([(form["choice"], 1)] if isinstance(form["choice"], list) else [])):
        if len(holder[at]) > 64:
            change(losses, "a tool's name that is too long", holder, at, told_name(holder[at]))


LONGEST_USER = {"chat": 64, "messages": 512, "responses": 64}


def lose_long_user(form, losses, target):
    if form["user"] and len(form["user"].encode()) > LONGEST_USER[target]:
        change(losses, "a user's name that is too long", form, "user", None)


def rename_ids(wanted, seen, target):
    """Ids of calls are short, Anthropic's of few characters too; others are mapped, each to one. Renames what is wanted."""
    known, legal = {}, LEGAL_IDS[target]
    for one, other in zip(all_parts(wanted), all_parts(seen)):
        if one[0] == other[0] in ("call", "result") and not legal.fullmatch(one[1]):
            if legal.fullmatch(other[1]) and known.setdefault(one[1], other[1]) == other[1]:
                one[1] = other[1]
    return len(set(known.values())) == len(known)


def held(form, source, target, losses):
    form = copy.deepcopy(form)
    losses.latest, losses.fields = set(), set()
    lose_thinking(form, losses)
    name = "no effort" if form["effort"] == "none" else "effort, of a model that does not think"
    change(losses, name, form, "effort", None)
    if not form["tools"]:
        change(losses, "a choice without tools", form, "choice", None)
        change(losses, "the switch of parallel calls without tools", form, "parallel_off", False)
    lose_long_user(form, losses, target)
    {"chat": to_chat, "messages": to_messages, "responses": to_responses}[target](form, losses, source)
    drop_fields(form, losses, source, target)
    return form
