"""The three APIs through their official SDKs, each used as applications use it: what the SDK returned is put into the
history as it is. A conversation remembers what it was told in words that all surfaces share."""
import functools
import json
import os

import anthropic
import openai

from story import STORY

PICTURE = "data:image/png;base64,"
URL = os.environ["ACOG_URL"]

# Of the last answer, whoever asked: one conversation runs at a time.
HEADERS = {}


def remember(response):
    HEADERS.clear()
    HEADERS.update(response.headers)


@functools.cache
def openai_client():
    http = openai.DefaultHttpxClient(event_hooks={"response": [remember]})
    return openai.OpenAI(base_url=URL + "/v1", api_key="sk-client", max_retries=0, http_client=http)


@functools.cache
def anthropic_client():
    http = anthropic.DefaultHttpxClient(event_hooks={"response": [remember]})
    return anthropic.Anthropic(base_url=URL, api_key="sk-client", max_retries=0, http_client=http)


class Told:
    """What one answer said. `calls`: [(id, name, arguments as an object)]; `usage`: (input, cached, output)."""

    def __init__(self, text, reasoning, calls, finish, usage, refusal=""):
        self.text, self.reasoning, self.calls, self.finish, self.usage = text, reasoning, calls, finish, usage
        self.refusal = refusal


class Conversation:
    """`story` and `tag` tell the stub which story it is. `keeps`: whether reasoning goes back into the history."""

    def __init__(self, model, stream, story, tag, keeps=True):
        self.model, self.stream, self.keeps = model, stream, keeps
        self.question = f"{story} {tag}: {STORY['question']}"
        self.history = self.first()

    @property
    def dropped(self):
        """Names that the gateway said it dropped, of the last request."""
        return [one for one in HEADERS.get("x-acog-dropped-params", "").split(", ") if one]


class Chat(Conversation):
    name = "chat"

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.client = openai_client()

    def first(self):
        picture = {"type": "image_url", "image_url": {"url": PICTURE + STORY["picture"]}}
        return [{"role": "system", "content": STORY["system"]},
                {"role": "user", "content": [{"type": "text", "text": self.question}, picture]}]

    def tools(self):
        return [{"type": "function", "function": {"name": name} | tool} for name, tool in STORY["tools"].items()]

    def ask(self, **fields):
        if not fields:
            fields = {"tools": self.tools(), "reasoning_effort": "medium", "max_completion_tokens": 9000}
        request = {"model": self.model, "messages": self.history, **fields}
        if self.stream:
            completion = self.read_stream(request | {"stream_options": {"include_usage": True}})
        else:
            completion = self.client.chat.completions.create(**request)
        choice = completion.choices[0]
        self.append(choice.message)
        usage = completion.usage
        cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0
        extra = choice.message.model_extra or {}
        calls = [(call.id, call.function.name, json.loads(call.function.arguments))
                 for call in choice.message.tool_calls or []]
        return Told(choice.message.content or "", extra.get("reasoning_content", extra.get("reasoning")) or "", calls,
                    choice.finish_reason, (usage.prompt_tokens, cached, usage.completion_tokens),
                    choice.message.refusal or "")

    def read_stream(self, request):
        """By the SDK's own accumulator, whose last word refuses an answer that was cut or filtered."""
        with self.client.chat.completions.stream(**request) as stream:
            pieces = [event.delta for event in stream if event.type == "content.delta"]
            completion = stream.current_completion_snapshot
        assert "".join(pieces) == (completion.choices[0].message.content or ""), pieces
        return completion

    def append(self, message):
        if self.keeps:
            self.history.append(message)
            return
        bare = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            bare["tool_calls"] = [{"id": call.id, "type": "function", "function":
                                   {"name": call.function.name, "arguments": call.function.arguments}}
                                  for call in message.tool_calls]
        self.history.append(bare)

    def answer(self, calls, results):
        pictures = []
        for (call_id, _, _), result in zip(calls, results):
            text = ("Error: " if result.get("error") else "") + result["text"]
            self.history.append({"role": "tool", "tool_call_id": call_id, "content": text})
            pictures += [result] if result.get("picture") else []
        for _ in pictures:  # a tool's message holds only texts
            picture = {"type": "image_url", "image_url": {"url": PICTURE + STORY["radar"]}}
            self.history.append({"role": "user", "content": [{"type": "text", "text": "The radar:"}, picture]})

    def say(self, text):
        self.history.append({"role": "user", "content": text})

    def report(self):
        """A structured answer."""
        form = {"name": "report", "schema": STORY["schema"], "strict": True}
        return self.ask(response_format={"type": "json_schema", "json_schema": form})


class Responses(Conversation):
    name = "responses"

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.client = openai_client()

    def first(self):
        picture = {"type": "input_image", "image_url": PICTURE + STORY["picture"], "detail": "auto"}
        return [{"role": "user", "content": [{"type": "input_text", "text": self.question}, picture]}]

    def tools(self):
        return [{"type": "function", "name": name, "strict": False} | tool for name, tool in STORY["tools"].items()]

    def ask(self, **fields):
        if not fields:
            fields = {"tools": self.tools(), "reasoning": {"effort": "medium", "summary": "auto"},
                      "max_output_tokens": 9000, "instructions": STORY["system"],
                      "include": ["reasoning.encrypted_content"]}
        request = {"model": self.model, "input": self.history, "store": False, **fields}
        if not self.stream:
            response = self.client.responses.create(**request)
        else:
            with self.client.responses.stream(**request) as stream:
                events = list(stream)
                response = final_response(events)
            pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
            assert "".join(pieces) == response.output_text, pieces
            assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == \
                list(range(events[-1].sequence_number + 1))
        self.history += response.output
        return self.told(response)

    def told(self, response):
        summaries, calls, refusals = [], [], []
        for item in response.output:
            if item.type == "reasoning":
                summaries += [part.text for part in item.summary]
            elif item.type == "function_call":
                calls.append((item.call_id, item.name, json.loads(item.arguments)))
            else:
                refusals += [part.refusal for part in item.content if part.type == "refusal"]
        finish = response.incomplete_details.reason if response.incomplete_details else response.status
        usage = response.usage
        return Told(response.output_text, "".join(summaries), calls, finish,
                    (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens),
                    "".join(refusals))

    def answer(self, calls, results):
        for (call_id, _, _), result in zip(calls, results):
            output = ("Error: " if result.get("error") else "") + result["text"]
            if result.get("picture"):
                output = [{"type": "input_text", "text": output},
                          {"type": "input_image", "image_url": PICTURE + STORY["radar"], "detail": "auto"}]
            self.history.append({"type": "function_call_output", "call_id": call_id, "output": output})

    def say(self, text):
        self.history.append({"role": "user", "content": text})

    def report(self):
        form = {"type": "json_schema", "name": "report", "schema": STORY["schema"], "strict": True}
        return self.ask(text={"format": form})


def final_response(events):
    """The response of the last event, whichever way it ended."""
    assert events[-1].type in ("response.completed", "response.incomplete"), events[-1].type
    return events[-1].response


class Messages(Conversation):
    name = "messages"

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.client = anthropic_client()

    def first(self):
        return [{"role": "user", "content": [{"type": "text", "text": self.question}, self.picture("picture")]}]

    @staticmethod
    def picture(name):
        source = {"type": "base64", "media_type": "image/png", "data": STORY[name]}
        return {"type": "image", "source": source}

    def tools(self):
        return [{"name": name, "description": tool["description"], "input_schema": tool["parameters"]}
                for name, tool in STORY["tools"].items()]

    def request(self):
        return {"tools": self.tools(), "thinking": {"type": "enabled", "budget_tokens": 2048},
                "system": STORY["system"]}

    def ask(self, **fields):
        request = {"model": self.model, "max_tokens": 9000, "messages": self.history, **(fields or self.request())}
        if not self.stream:
            message = self.client.messages.create(**request)
        else:
            with self.client.messages.stream(**request) as stream:
                pieces = list(stream.text_stream)
                message = stream.get_final_message()
            assert "".join(pieces) == text_of(message), pieces
        self.history.append({"role": "assistant", "content": message.content})
        return told_by_message(message)

    def answer(self, calls, results):
        blocks = []
        for (call_id, _, _), result in zip(calls, results):
            content = result["text"]
            if result.get("picture"):
                content = [{"type": "text", "text": content}, self.picture("radar")]
            block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
            blocks.append(block | ({"is_error": True} if result.get("error") else {}))
        self.history.append({"role": "user", "content": blocks})

    def say(self, text):
        self.history.append({"role": "user", "content": text})

    def report(self):
        return self.ask(output_config={"format": {"type": "json_schema", "schema": STORY["schema"]}})


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def told_by_message(message):
    thoughts = [block.thinking for block in message.content if block.type == "thinking"]
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    usage = message.usage
    cached = usage.cache_read_input_tokens or 0
    return Told(text_of(message), "".join(thoughts), calls, message.stop_reason,
                (usage.input_tokens + cached, cached, usage.output_tokens))


SURFACES = {surface.name: surface for surface in (Chat, Messages, Responses)}
