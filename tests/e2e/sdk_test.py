"""The official Python SDKs, unmodified, through the gateway. Run by run.py, which sets ACOG_URL and the rest."""
import json
import os
import time
import unittest
import urllib.request

import anthropic
import openai

URL = os.environ["ACOG_URL"]
PROVIDER_STATUS = os.environ["ACOG_PROVIDER_ADMIN"] + "/status.json"
HELLO = [{"role": "user", "content": "hello"}]
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}


def in_flight(connection):
    with urllib.request.urlopen(PROVIDER_STATUS, timeout=5) as answer:
        status = json.load(answer)
    return next(row["in_flight"] for row in status["connections"] if row["id"] == connection)


def wait_for_in_flight(connection, count, seconds):
    """The provider's own word on how many requests of a connection it is answering."""
    deadline = time.monotonic() + seconds
    while in_flight(connection) != count:
        if time.monotonic() > deadline:
            raise AssertionError(f"{connection}: {in_flight(connection)} in flight, not {count}")
        time.sleep(0.02)


class OpenAIThroughTheGateway(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-client", max_retries=0)
        self.addCleanup(self.client.close)

    def test_a_plain_chat_call_is_answered(self):
        answer = self.client.chat.completions.create(model="gpt-plain", messages=HELLO)
        self.assertEqual(answer.choices[0].message.content, "Hello from the other side.")
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertGreater(answer.usage.completion_tokens, 0)

    def test_a_chat_stream_arrives_in_pieces(self):
        pieces, usage = [], []
        for chunk in self.client.chat.completions.create(model="gpt-plain", messages=HELLO, stream=True):
            usage.append(chunk.usage)
            pieces += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        self.assertGreater(len(pieces), 2)
        self.assertEqual("".join(pieces), "Hello from the other side.")
        self.assertEqual([one for one in usage if one], [], "usage was not asked for")

    def test_usage_comes_at_the_end_of_a_stream_that_asks_for_it(self):
        chunks = list(self.client.chat.completions.create(
            model="gpt-plain", messages=HELLO, stream=True, stream_options={"include_usage": True}))
        self.assertEqual(chunks[-1].choices, [])
        self.assertGreater(chunks[-1].usage.completion_tokens, 0)

    def test_a_tool_call_keeps_its_arguments_whole_and_streamed(self):
        tools = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
        answer = self.client.chat.completions.create(model="gpt-tool", messages=HELLO, tools=tools)
        call = answer.choices[0].message.tool_calls[0]
        self.assertEqual((call.function.name, json.loads(call.function.arguments)),
                         ("get_weather", {"city": "Oslo", "days": 2}))
        self.assertEqual(answer.choices[0].finish_reason, "tool_calls")
        arguments = ""
        for chunk in self.client.chat.completions.create(model="gpt-tool", messages=HELLO, tools=tools, stream=True):
            for choice in chunk.choices:
                for part in choice.delta.tool_calls or []:
                    arguments += part.function.arguments or ""
        self.assertEqual(json.loads(arguments), {"city": "Oslo", "days": 2})

    def test_the_responses_api_answers_whole_and_streamed(self):
        answer = self.client.responses.create(model="gpt-plain", input="hello")
        self.assertEqual(answer.output_text, "Hello from the other side.")
        text, last = "", None
        for event in self.client.responses.create(model="gpt-plain", input="hello", stream=True):
            text += event.delta if event.type == "response.output_text.delta" else ""
            last = event
        self.assertEqual(text, "Hello from the other side.")
        self.assertEqual(last.type, "response.completed")
        self.assertEqual(last.response.output_text, "Hello from the other side.")

    def test_a_responses_tool_call_keeps_its_arguments(self):
        tools = [{"type": "function", "name": "get_weather", "parameters": WEATHER}]
        answer = self.client.responses.create(model="gpt-tool", input="hello", tools=tools)
        call = next(item for item in answer.output if item.type == "function_call")
        self.assertEqual(json.loads(call.arguments), {"city": "Oslo", "days": 2})

    def test_embeddings_are_answered(self):
        answer = self.client.embeddings.create(model="gpt-plain", input=["one", "two"], encoding_format="float")
        self.assertEqual(len(answer.data), 2)
        self.assertGreater(len(answer.data[0].embedding), 0)

    def test_models_are_listed_and_found(self):
        ids = [model.id for model in self.client.models.list()]
        self.assertIn("gpt-plain", ids)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(self.client.models.retrieve("gpt-plain").id, "gpt-plain")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("gpt-nobody")

    def test_errors_raise_their_classes(self):
        cases = [("gpt-auth", openai.AuthenticationError), ("gpt-throttled", openai.RateLimitError),
                 ("gpt-down", openai.InternalServerError), ("gpt-nobody", openai.ConflictError)]
        for model, expected in cases:
            for stream in (False, True):
                with self.subTest(model=model, stream=stream), self.assertRaises(expected) as caught:
                    self.client.chat.completions.create(model=model, messages=HELLO, stream=stream)
                self.assertTrue(caught.exception.request_id)
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.chat.completions.create(model="gpt-plain", messages="not a list")
        self.assertIn("messages", str(caught.exception))

    def test_a_cut_stream_is_an_error_never_a_silent_end(self):
        text = ""
        with self.assertRaises(openai.APIError):
            for chunk in self.client.chat.completions.create(model="gpt-cut", messages=HELLO, stream=True):
                text += "".join(choice.delta.content or "" for choice in chunk.choices)
        self.assertTrue("one two three four five six".startswith(text.strip()) and text)
        # The SDK hands a failed response to its caller as the last event.
        last = list(self.client.responses.create(model="gpt-cut", input="hello", stream=True))[-1]
        self.assertEqual((last.type, last.response.status), ("response.failed", "failed"))
        self.assertTrue(last.response.error.message)

    def test_a_cancelled_stream_closes_the_upstream(self):
        stream = self.client.chat.completions.create(model="gpt-slow", messages=HELLO, stream=True)
        for _, _ in zip(range(3), stream):
            pass
        wait_for_in_flight("slow-openai", 1, 5)
        stream.close()
        wait_for_in_flight("slow-openai", 0, 2)


class AnthropicThroughTheGateway(unittest.TestCase):
    def setUp(self):
        self.client = anthropic.Anthropic(base_url=URL, api_key="sk-client", max_retries=0)
        self.addCleanup(self.client.close)

    def create(self, model, **fields):
        return self.client.messages.create(model=model, max_tokens=64, messages=HELLO, **fields)

    def test_a_plain_call_is_answered(self):
        answer = self.create("claude-plain")
        self.assertEqual(answer.content[0].text, "Hello from the other side.")
        self.assertEqual(answer.stop_reason, "end_turn")
        self.assertGreater(answer.usage.output_tokens, 0)

    def test_a_stream_arrives_in_pieces_and_adds_up(self):
        with self.client.messages.stream(model="claude-plain", max_tokens=64, messages=HELLO) as stream:
            pieces = list(stream.text_stream)
            final = stream.get_final_message()
        self.assertGreater(len(pieces), 2)
        self.assertEqual("".join(pieces), "Hello from the other side.")
        self.assertEqual(final.stop_reason, "end_turn")
        self.assertGreater(final.usage.input_tokens, 0)

    def test_a_tool_call_keeps_its_input_whole_and_streamed(self):
        tools = [{"name": "get_weather", "input_schema": WEATHER}]
        answer = self.create("claude-tool", tools=tools)
        call = next(block for block in answer.content if block.type == "tool_use")
        self.assertEqual((call.name, call.input), ("get_weather", {"city": "Oslo", "days": 2}))
        self.assertEqual(answer.stop_reason, "tool_use")
        with self.client.messages.stream(model="claude-tool", max_tokens=64, messages=HELLO, tools=tools) as stream:
            final = stream.get_final_message()
        self.assertEqual(final.content[-1].input, {"city": "Oslo", "days": 2})

    def test_tokens_are_counted(self):
        self.assertGreater(self.client.messages.count_tokens(model="claude-plain", messages=HELLO).input_tokens, 0)

    def test_models_are_listed_and_found(self):
        ids = [model.id for model in self.client.models.list()]
        self.assertIn("claude-plain", ids)
        self.assertEqual(self.client.models.retrieve("claude-plain").id, "claude-plain")
        with self.assertRaises(anthropic.NotFoundError):
            self.client.models.retrieve("claude-nobody")

    def test_errors_raise_their_classes(self):
        cases = [("claude-auth", anthropic.AuthenticationError), ("claude-throttled", anthropic.RateLimitError),
                 ("claude-down", anthropic.InternalServerError), ("claude-nobody", anthropic.ConflictError)]
        for model, expected in cases:
            for stream in (False, True):
                with self.subTest(model=model, stream=stream), self.assertRaises(expected) as caught:
                    self.create(model, stream=stream)
                self.assertTrue(caught.exception.request_id)
                self.assertEqual(caught.exception.body["type"], "error")
        with self.assertRaises(anthropic.BadRequestError) as caught:
            self.client.messages.create(model="claude-plain", max_tokens=64, messages="not a list")
        self.assertIn("messages", str(caught.exception))

    def test_a_cut_stream_is_an_error_never_a_silent_end(self):
        with self.assertRaises(anthropic.APIError):
            with self.client.messages.stream(model="claude-cut", max_tokens=64, messages=HELLO) as stream:
                stream.get_final_message()

    def test_a_cancelled_stream_closes_the_upstream(self):
        stream = self.create("claude-slow", stream=True)
        for _, _ in zip(range(4), stream):
            pass
        wait_for_in_flight("slow-anthropic", 1, 5)
        stream.close()
        wait_for_in_flight("slow-anthropic", 0, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
