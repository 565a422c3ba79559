"""Random requests of a dialect that use all that applications use: turns, parts, tools, results, choices, formats,
sampling, reasoning, cache markers, media, unknown fields. Legal ones: what a provider of the dialect would take."""

import json

WORDS = ["rain", "Oslo", "天気 🙂", "naïve", "a \"quoted\" one", "tab\there", "line\nbreak", "\\u0041", "</system>", "x" * 300,
         " leading", "null", "{\"a\":1}", "é", "0", "data: x", "\u2028"]
SCHEMAS = [{"type": "object"}, {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
           {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": False},
           {"type": "object", "properties": {"n": {"type": ["integer", "null"], "maximum": 9}, "o": {"$ref": "#/$defs/o"}},
            "required": ["n", "o"], "additionalProperties": False,
            "$defs": {"o": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}}}]
ARGUMENTS = ["{}", '{"city":"Oslo"}', '{"n": 1.50}', '{"a":{"b":[1,2,{"c":null}]}}', '{"t":"天 \\" \\\\ \\n"}']
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
BYTES = "iVBORw0KGgo="


class Maker:
    long_name = 6  # repeats: most APIs take names of 128 characters
    def __init__(self, random, dialect):
        self.random, self.dialect, self.marks, self.calls = random, dialect, 0, 0

    def maybe(self, chance=0.3):
        return self.random.random() < chance

    def text(self):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 4)))

    def marked(self, value):
        """At most the four markers that a provider takes."""
        if self.dialect != "responses" and self.marks < 4 and self.maybe(0.1):
            self.marks += 1
            value["cache_control"] = self.random.choice([MARK, HOUR])
        return value

    def pick(self, body, name, values, chance=0.2):
        if self.maybe(chance):
            body[name] = self.random.choice(values)

    def body(self):
        body = {"model": self.random.choice(["m-1", "vendor/model@2"])}
        self.head(body)
        names = [f"tool_{i}" + self.random.choice(["", "", "_of_a_server" * self.long_name]) for i in
                 range(self.random.choice([0, 0, 1, 2, 3]))]
        self.put_tools(body, names)
        turns = []
        for _ in range(self.random.randint(0, 3)):
            self.exchange(turns, names)
        turns += self.user()
        self.put_turns(body, turns)
        self.sampling(body)
        self.pick(body, "stream", [True, False])
        self.pick(body, "x_unknown_field", [1, {"a": [1]}], 0.05)
        items = list(body.items())
        self.random.shuffle(items)
        return dict(items)

    def exchange(self, turns, names):
        turns += self.user()
        for _ in range(self.random.randint(0, 2) if names else 0):
            ids = [self.call_id() for _ in range(self.random.randint(1, 3))]
            turns += self.assistant([(one, self.random.choice(names)) for one in ids])
            turns += self.results(self.random.sample(ids, len(ids)))
        turns += self.assistant([])

    def call_id(self):
        self.calls += 1
        return self.random.choice(["call_", "toolu_", "fc-"]) + str(self.calls)


class Chat(Maker):
    long_name = 0

    def head(self, body):
        self.pick(body, "max_tokens", [1, 64, 5000])
        self.pick(body, "max_completion_tokens", [1, 65, 5001])
        self.pick(body, "stop", ["END", ["a", "b"], ["a", " ", "\n"]])
        self.pick(body, "user", ["u-123", "hash:ab"])
        self.pick(body, "reasoning_effort", ["none", "minimal", "low", "medium", "high"], 0.1)
        self.pick(body, "stream_options", [{"include_usage": True}])

    def parts(self, many):
        if self.maybe(0.5):
            return self.text()
        return [self.marked(self.part(many)) for _ in range(self.random.randint(1, 3))]

    def part(self, many):
        kind = self.random.choice(["text", "text", "image", "address", "file"]) if many else "text"
        detail = {"detail": self.random.choice(["low", "high", "auto"])} if self.maybe() else {}
        if kind == "image":
            return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BYTES}", **detail}}
        if kind == "address":
            return {"type": "image_url", "image_url": {"url": "https://img.example/x.webp?sig=a%2Bb", **detail}}
        if kind == "file":
            return {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{BYTES}"}}
        return {"type": "text", "text": self.text()}

    def user(self):
        turns = [{"role": "user", "content": self.parts(True)} for _ in range(self.random.choice([1, 1, 1, 2]))]
        if self.maybe(0.1):
            turns.insert(self.random.randint(0, len(turns) - 1), {"role": "developer", "content": self.text()})
        return turns

    def assistant(self, calls):
        turn = {"role": "assistant"}
        if not calls and self.maybe(0.1):
            turn.update(content=None, refusal=self.text())
        elif not calls or self.maybe(0.5):
            turn["content"] = self.text() if self.maybe(0.8) else self.parts(False)
        else:
            turn["content"] = self.random.choice([None, ""])
        if self.maybe(0.1):
            turn["reasoning_content"] = self.text()
        if calls:
            turn["tool_calls"] = [{"id": one, "type": "function", "function": {
                "name": name, "arguments": self.random.choice(ARGUMENTS + [""])}} for one, name in calls]
        return [turn]

    def results(self, ids):
        return [self.marked({"role": "tool", "tool_call_id": one, "content": self.random.choice(
            [self.text(), "", [{"type": "text", "text": self.text()}, {"type": "text", "text": self.text()}]])})
            for one in ids]

    def put_turns(self, body, turns):
        system = [{"role": self.random.choice(["system", "developer"]), "content": self.parts(False)}
                  for _ in range(self.random.choice([0, 1, 1, 2]))]
        body["messages"] = system + turns

    def put_tools(self, body, names):
        tools = []
        for name in names:
            function = {"name": name}
            self.pick(function, "description", [self.text()], 0.7)
            self.pick(function, "parameters", SCHEMAS, 0.8)
            self.pick(function, "strict", [True, False])
            tools.append(self.marked({"type": "function", "function": function}))
        if names:
            body["tools"] = tools
            named = {"type": "function", "function": {"name": self.random.choice(names)}}
            some = {"type": "allowed_tools", "allowed_tools": {"mode": self.random.choice(["auto", "required"]), "tools": [named]}}
            self.pick(body, "tool_choice", ["auto", "none", "required", named, some], 0.4)
            self.pick(body, "parallel_tool_calls", [True, False])
        if not names or body.get("tool_choice") in ("required", named):
            self.put_format(body)

    def put_format(self, body):
        schema = {"name": "answer_1", "schema": self.random.choice(SCHEMAS)}
        self.pick(schema, "description", [self.text()])
        self.pick(schema, "strict", [True, False])
        self.pick(body, "response_format", [{"type": "text"}, {"type": "json_object"},
                                            {"type": "json_schema", "json_schema": schema}], 0.3)

    def sampling(self, body):
        self.pick(body, "temperature", [0, 0.25, 1, 1.5, 2])
        self.pick(body, "top_p", [0.5, 1])
        self.pick(body, "frequency_penalty", [0.5])
        self.pick(body, "seed", [7])
        self.pick(body, "logit_bias", [{"50256": -100}], 0.05)
        self.pick(body, "logprobs", [True], 0.05)
        self.pick(body, "n", [1])
        self.pick(body, "store", [False, True], 0.1)
        self.pick(body, "metadata", [{"k": "v"}], 0.1)
        self.pick(body, "service_tier", ["auto", "default", "flex"], 0.1)
        self.pick(body, "prompt_cache_key", ["key"], 0.1)
        self.pick(body, "safety_identifier", ["safe-1"], 0.1)
        self.pick(body, "verbosity", ["low"], 0.1)


class Messages(Maker):
    def head(self, body):
        body["max_tokens"] = self.random.choice([1, 64, 5000])
        self.pick(body, "stop_sequences", [["END"], ["a", "b"], []])
        self.pick(body, "metadata", [{"user_id": "u-123"}])
        self.pick(body, "thinking", [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 1024}], 0.1)

    def block(self, many):
        kind = self.random.choice(["text", "text", "image", "address", "pdf", "plain"]) if many else "text"
        title = {"title": "a.pdf"} if self.maybe() else {}
        if kind == "image":
            return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BYTES}}
        if kind == "address":
            return {"type": "image", "source": {"type": "url", "url": "https://img.example/x.webp?sig=a%2Bb"}}
        if kind == "pdf":
            return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": BYTES},
                    **title}
        if kind == "plain":
            return self.plain()
        return {"type": "text", "text": self.text()}

    def plain(self):
        title = {"title": "notes"} if self.maybe() else {}
        return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": self.text()}, **title}

    def blocks(self, many):
        if self.maybe(0.4):
            return self.text()
        return [self.marked(self.block(many)) for _ in range(self.random.randint(1, 3))]

    def user(self):
        return [{"role": "user", "content": self.blocks(True)} for _ in range(self.random.choice([1, 1, 1, 2]))]

    def assistant(self, calls):
        blocks = []
        if self.maybe(0.15):
            blocks.append({"type": "thinking", "thinking": self.text(), "signature": "EqQB"})
        if self.maybe(0.05):
            blocks.append({"type": "redacted_thinking", "data": "EmwK"})
        if not calls or self.maybe(0.5):
            blocks += [{"type": "text", "text": self.text()} for _ in range(self.random.choice([1, 1, 2]))]
        for one, name in calls:
            blocks.append({"type": "tool_use", "id": one, "name": name, "input": json.loads(self.random.choice(ARGUMENTS))})
        return [{"role": "assistant", "content": blocks}]

    def results(self, ids):
        blocks = []
        for one in ids:
            block = {"type": "tool_result", "tool_use_id": one}
            self.pick(block, "content", [self.text(), [{"type": "text", "text": self.text()}],
                                         [{"type": "text", "text": self.text()}, self.block(False)],
                                         [self.plain()],
                                         [{"type": "text", "text": self.text()}, {"type": "image", "source": {
                                             "type": "base64", "media_type": "image/png", "data": BYTES}}]], 0.9)
            self.pick(block, "is_error", [True, False])
            blocks.append(self.marked(block))
        if self.maybe(0.2):
            blocks.append({"type": "text", "text": self.text()})
        return [{"role": "user", "content": blocks}]

    def put_turns(self, body, turns):
        body["messages"] = turns
        if self.maybe(0.6):
            body["system"] = self.blocks(False)

    def put_tools(self, body, names):
        tools = []
        for name in names:
            tool = {"name": name, "input_schema": self.random.choice(SCHEMAS)}
            self.pick(tool, "description", [self.text()], 0.7)
            self.pick(tool, "type", ["custom"])
            self.pick(tool, "strict", [True, False])
            tools.append(self.marked(tool))
        if names:
            body["tools"] = tools
            off = {"disable_parallel_tool_use": True} if self.maybe() else {}
            self.pick(body, "tool_choice", [{"type": "auto", **off}, {"type": "any", **off}, {"type": "none"},
                                            {"type": "tool", "name": self.random.choice(names), **off}], 0.4)
        if not names or body.get("tool_choice", {}).get("type") in ("any", "tool"):
            self.pick(body, "output_config", [{"format": {"type": "json_schema",
                                                          "schema": self.random.choice(SCHEMAS)}}], 0.1)

    def sampling(self, body):
        self.pick(body, "temperature", [0, 0.25, 1])
        self.pick(body, "top_p", [0.5, 1])
        self.pick(body, "top_k", [5], 0.1)
        self.pick(body, "service_tier", ["auto", "standard_only"], 0.1)


class Responses(Maker):
    def head(self, body):
        self.pick(body, "max_output_tokens", [16, 64, 5000])
        self.pick(body, "user", ["u-123"])
        self.pick(body, "reasoning", [{"effort": "low", "summary": "auto"}, {"effort": "none"}, {"summary": "auto"}], 0.1)
        self.pick(body, "include", [["reasoning.encrypted_content"]], 0.1)

    def part(self):
        kind = self.random.choice(["text", "text", "image", "address", "file"])
        detail = {"detail": self.random.choice(["low", "high", "auto"])} if self.maybe() else {}
        if kind == "image":
            return {"type": "input_image", "image_url": f"data:image/png;base64,{BYTES}", **detail}
        if kind == "address":
            return {"type": "input_image", "image_url": "https://img.example/x.webp?sig=a%2Bb", **detail}
        if kind == "file":
            return {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{BYTES}"}
        return {"type": "input_text", "text": self.text()}

    def user(self):
        turns = []
        for _ in range(self.random.choice([1, 1, 1, 2])):
            content = self.text() if self.maybe(0.5) else [self.part() for _ in range(self.random.randint(1, 3))]
            turns.append({"role": "user", "content": content})
            if self.maybe():
                turns[-1]["type"] = "message"
        if self.maybe(0.1):
            turns.insert(self.random.randint(0, len(turns) - 1), {"role": "system", "content": self.text()})
        return turns

    def assistant(self, calls):
        items = []
        if self.maybe(0.15):
            items.append({"type": "reasoning", "id": f"rs_{self.calls}", "encrypted_content": "b3BhcXVl",
                          "summary": [{"type": "summary_text", "text": self.text()}] if self.maybe() else []})
        if not calls or self.maybe(0.5):
            part = {"type": "output_text", "text": self.text(), "annotations": []}
            if not calls and self.maybe(0.1):
                part = {"type": "refusal", "refusal": self.text()}
            content = self.text() if self.maybe() else [part]
            message = {"type": "message", "role": "assistant", "content": content}
            if isinstance(content, list):
                message.update(id=f"msg_{self.calls}", status="completed")
            items.append(message)
        return items + [{"type": "function_call", "call_id": one, "name": name, "arguments": self.random.choice(ARGUMENTS),
                         **({"namespace": "crm"} if name in self.spaced else {})} for one, name in calls]

    def results(self, ids):
        return [{"type": "function_call_output", "call_id": one, "output": self.random.choice(
            [self.text(), "", [{"type": "input_text", "text": self.text()}, {"type": "input_text", "text": self.text()}],
             [{"type": "input_text", "text": self.text()},
              {"type": "input_image", "image_url": f"data:image/png;base64,{BYTES}"}]])} for one in ids]

    def put_turns(self, body, turns):
        self.pick(body, "instructions", [self.text()], 0.6)
        alone = len(turns) == 1 and isinstance(turns[0].get("content"), str)
        body["input"] = turns[0]["content"] if alone and self.maybe(0.5) else turns

    def put_tools(self, body, names):
        tools = []
        for name in names:
            tool = {"type": "function", "name": name, "parameters": self.random.choice(SCHEMAS),
                    "strict": self.random.choice([True, False])}
            self.pick(tool, "description", [self.text()], 0.7)
            tools.append(tool)
        self.spaced = {name for name in names if len(name) < 40 and self.maybe()} if self.maybe() else set()
        if self.spaced:
            space = {"type": "namespace", "name": "crm", "tools": [tool for tool in tools if tool["name"] in self.spaced]}
            self.pick(space, "description", [self.text(), ""], 0.7)
            tools = [tool for tool in tools if tool["name"] not in self.spaced] + [space]
        if names:
            body["tools"] = tools
            named = {"type": "function", "name": self.random.choice(names)}
            some = {"type": "allowed_tools", "mode": self.random.choice(["auto", "required"]), "tools": [named]}
            self.pick(body, "tool_choice", ["auto", "none", "required", named, some], 0.4)
            self.pick(body, "parallel_tool_calls", [True, False])
        schema = {"type": "json_schema", "name": "answer_1", "schema": self.random.choice(SCHEMAS)}
        self.pick(schema, "strict", [True, False])
        held = not names or body.get("tool_choice") in ("required", named)
        forms = [{"type": "text"}] + ([{"type": "json_object"}, schema] if held else [])
        text = {}
        self.pick(text, "format", forms, 0.3)
        self.pick(text, "verbosity", ["low", "high"], 0.1)
        if text:
            body["text"] = text

    def sampling(self, body):
        self.pick(body, "temperature", [0, 0.25, 1, 1.5])
        self.pick(body, "top_p", [0.5, 1])
        self.pick(body, "store", [False, True], 0.1)
        self.pick(body, "metadata", [{"k": "v"}], 0.1)
        self.pick(body, "service_tier", ["auto", "default", "flex"], 0.1)
        self.pick(body, "prompt_cache_key", ["key"], 0.1)
        self.pick(body, "safety_identifier", ["safe-1"], 0.1)
        self.pick(body, "truncation", ["auto"], 0.1)
        self.pick(body, "max_tool_calls", [3], 0.1)


MAKERS = {"chat": Chat, "messages": Messages, "responses": Responses}


def request(random, dialect):
    return MAKERS[dialect](random, dialect).body()
