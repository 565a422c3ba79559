"""Tool loops of many turns through the official Python SDKs: every surface against every dialect, streamed and not. Run
by run.py, which sets ACOG_URL and ACOG_STUB."""
import json
import os
import unittest
import urllib.request

import anthropic
import openai
from anthropic.lib.tools import ToolError

from story import STORY, opaque_of, reasoning_of
from surfaces import SURFACES, Messages, told_by_message

STUB = os.environ["ACOG_STUB"]
UPSTREAMS = ("chat", "plain", "messages", "adaptive", "responses", "gemini", "level")
MAKER = {"plain": "chat", "adaptive": "messages", "level": "gemini"}
FINISH = {"chat": {"calls": "tool_calls", "stop": "stop", "limit": "length", "filter": "content_filter"},
          "messages": {"calls": "tool_use", "stop": "end_turn", "limit": "max_tokens", "filter": "refusal"},
          "responses": {"calls": "completed", "stop": "completed", "limit": "max_output_tokens",
                        "filter": "content_filter"}}


# What a client of a surface calls its wish to think.
THINKING = {"chat": "reasoning_effort", "messages": "thinking", "responses": "reasoning.effort"}


def maker_of(upstream):
    return MAKER.get(upstream, upstream)


def seen(tag):
    """What the stub was asked in a conversation, in order."""
    with urllib.request.urlopen(f"{STUB}/seen/{tag}", timeout=5) as answer:
        return json.load(answer)


def shown_reasoning(surface, upstream, turn):
    """Some makers give out nothing but opaque bytes in the second turn, and some show nothing to who did not ask: in
    chat there is no word for that."""
    maker = maker_of(upstream)
    hidden = turn == 2 and upstream in ("chat", "responses") or surface == "chat" and maker in ("gemini", "responses")
    return "" if hidden else reasoning_of(maker, turn)


def opaque_until(surface, upstream, turns):
    """What must come back to the upstream of the turns that it served. Plain reasoning only while the loop runs; what
    seals Gemini's last text has no place in a message, whose clients take its last block for the answer."""
    found = []
    if surface == "messages" and maker_of(upstream) == "gemini":
        turns = [turn for turn in turns if STORY["turns"][turn - 1]["calls"]]
    if upstream == "plain":
        return [reasoning_of("chat", turn) for turn in turns] if 3 not in turns else []
    for turn in turns:
        found.append(opaque_of(maker_of(upstream), turn))
        if maker_of(upstream) == "messages" and turn == 2:
            found.append(STORY["redacted"])
    return found


class Case(unittest.TestCase):
    def talk(self, surface, model, stream, story, **options):
        self.tag = f"{type(self).__name__}-{self._testMethodName}-{surface}-{model}-{stream}-{len(options)}".lower()
        return SURFACES[surface](model, stream, story, self.tag, **options)

    def on_each(self, check):
        for surface in SURFACES:
            for upstream in UPSTREAMS:
                for stream in (False, True):
                    with self.subTest(surface=surface, upstream=upstream, stream=stream):
                        check(surface, upstream, stream)

    def check_turn(self, conversation, number, told, thinks_as):
        """`thinks_as`: whose reasoning is shown; None: nobody's."""
        turn = STORY["turns"][number - 1]
        self.assertEqual(told.text, turn["text"])
        self.assertEqual([[name, json.dumps(arguments)] for _, name, arguments in told.calls],
                         [[name, json.dumps(json.loads(arguments))] for name, arguments in turn["calls"]])
        self.assertEqual(told.finish, FINISH[conversation.name]["calls" if turn["calls"] else "stop"])
        usage = turn["usage"]
        self.assertEqual(told.usage, (usage["input"], usage["cached"], usage["output"]))
        self.assertEqual(told.reasoning, shown_reasoning(conversation.name, thinks_as, number) if thinks_as else "")

    def loop(self, conversation, thinks_as):
        """All four turns; `thinks_as(turn)`. Returns the names that were dropped at each."""
        dropped = []
        for number, turn in enumerate(STORY["turns"], 1):
            if number == 4:
                conversation.say(STORY["follow_up"])
            told = conversation.ask()
            dropped.append(conversation.dropped)
            self.check_turn(conversation, number, told, thinks_as(number))
            if turn["calls"]:
                order = -1 if conversation.stream else 1  # whichever tool is done first
                conversation.answer(told.calls[::order], STORY["results"][number - 1][::order])
        return dropped


class ToolLoops(Case):
    def test_a_loop_of_four_turns_keeps_every_call_and_signature(self):
        def check(surface, upstream, stream):
            self.loop(self.talk(surface, f"loop-{upstream}", stream, "loop"), lambda _: upstream)
            requests = seen(self.tag)
            self.assertEqual([one["opaque"] for one in requests],
                             [opaque_until(surface, upstream, range(1, turn)) for turn in (1, 2, 3, 4)])
            self.assertEqual([(one["thinking"], one["stream"]) for one in requests], [(True, stream)] * 4)
        self.on_each(check)

    def test_a_chat_loop_goes_on_without_the_reasoning_that_its_application_forgot(self):
        for upstream in UPSTREAMS:
            for stream in (False, True):
                if upstream == "plain":
                    continue  # which refuses that of its own clients too
                with self.subTest(upstream=upstream, stream=stream):
                    conversation = self.talk("chat", f"loop-{upstream}", stream, "loop", keeps=False)
                    # By a budget it may not think in a loop whose turns do not begin with what it thought.
                    silent = (2, 3) if upstream == "messages" else ()
                    dropped = self.loop(conversation, lambda turn: None if turn in silent else upstream)
                    requests = seen(self.tag)
                    self.assertEqual([one["opaque"] for one in requests], [[]] * 4)
                    self.assertEqual([one["thinking"] for one in requests],
                                     [turn not in silent for turn in (1, 2, 3, 4)])
                    self.assertEqual([THINKING["chat"] in names for names in dropped],
                                     [turn in silent for turn in (1, 2, 3, 4)])


def changes():
    """Pairs of upstreams of different dialects."""
    names = ("chat", "messages", "responses", "level")
    return [(first, second) for first in names for second in names if first != second]


class Failover(Case):
    def run_each(self, word, served, check):
        """`served(first, second)`: who serves each turn."""
        for surface in SURFACES:
            for first, second in changes():
                for stream in (False, True):
                    with self.subTest(surface=surface, first=first, second=second, stream=stream):
                        conversation = self.talk(surface, f"{first}-{word}-{second}", stream, "loop")
                        servers = served(first, second)
                        silent = silent_turns(servers)
                        dropped = self.loop(conversation, lambda turn: None if turn in silent else servers[turn - 1])
                        self.assertEqual([THINKING[surface] in names for names in dropped],
                                         [turn in silent for turn in (1, 2, 3, 4)])
                        answered = [one for one in seen(self.tag) if not one["down"]]
                        self.assertEqual([one["connection"] for one in answered], servers)
                        check(surface, servers, silent, answered)

    def check_own(self, surface, servers, silent, answered):
        """Each got what was its own, and the stub refuses whatever is another's."""
        for turn, one in enumerate(answered, 1):
            own = [before for before in range(1, turn)
                   if servers[before - 1] == one["connection"] and before not in silent]
            self.assertEqual(one["opaque"], opaque_until(surface, one["connection"], own), f"turn {turn}")

    def test_a_loop_that_moves_to_another_dialect_stays_there(self):
        self.run_each("then", lambda first, second: [first, second, second, second], self.check_own)

    def test_a_loop_that_comes_back_finds_its_own_signatures(self):
        self.run_each("flaps", lambda first, second: [first, second, first, first], self.check_own)


def silent_turns(servers):
    """By a budget, a turn of the loop is not thought about when one before it was another's, or was itself silent."""
    silent = []
    for turn in (2, 3):
        before = range(1, turn)
        if servers[turn - 1] == "messages" and any(servers[one - 1] != "messages" or one in silent for one in before):
            silent.append(turn)
    return silent


class Endings(Case):
    def test_an_answer_that_is_filtered_is_never_a_plain_stop(self):
        def check(surface, upstream, stream):
            conversation = self.talk(surface, f"loop-{upstream}", stream, "filter")
            told = conversation.ask()
            self.assertEqual((told.text, told.finish), ("", FINISH[surface]["filter"]))
        self.on_each(check)

    def test_an_answer_that_declines_says_so(self):
        def check(surface, upstream, stream):
            told = self.talk(surface, f"loop-{upstream}", stream, "decline").ask()
            maker = maker_of(upstream)
            if maker in ("messages", "gemini") or surface == "messages":
                self.assertEqual(told.finish, FINISH[surface]["filter"])
            else:
                self.assertEqual((told.finish, told.refusal), (FINISH[surface]["stop"], STORY["declined"]))
            if maker != "gemini":
                self.assertIn(STORY["declined"], (told.text, told.refusal))
        self.on_each(check)

    def test_the_category_of_a_refusal_is_told(self):
        for upstream in ("messages", "adaptive"):
            chat = self.talk("chat", f"loop-{upstream}", False, "filter")
            completion = chat.client.chat.completions.create(model=chat.model, messages=chat.history)
            self.assertEqual(completion.choices[0].stop_details["category"], STORY["category"])
        for upstream, category in (("messages", STORY["category"]), ("gemini", None)):
            messages = self.talk("messages", f"loop-{upstream}", False, "filter")
            message = messages.client.messages.create(model=messages.model, max_tokens=99, messages=messages.history)
            self.assertEqual(message.stop_details.category, category)
            if category is None:  # Google's are none of Anthropic's
                self.assertIn("dangerous_content", message.stop_details.explanation)

    def test_an_answer_at_its_limit_is_told_as_cut(self):
        def check(surface, upstream, stream):
            told = self.talk(surface, f"loop-{upstream}", stream, "limit").ask()
            self.assertEqual((told.text, told.finish), (STORY["cut"], FINISH[surface]["limit"]))
        self.on_each(check)

    def test_a_structured_answer_holds_the_schema(self):
        """Native where the model has it; by a tool of the gateway's where not, and then seen by nobody."""
        def check(surface, upstream, stream):
            if (surface, upstream) == ("messages", "messages"):
                return  # its own dialect passes as it came; this model has no such field
            told = self.talk(surface, f"loop-{upstream}", stream, "report").report()
            self.assertEqual(json.loads(told.text), STORY["report"])
            self.assertEqual((told.finish, told.calls), (FINISH[surface]["stop"], []))
            self.assertEqual(seen(self.tag)[0]["forced"] is not None, upstream == "messages")
        self.on_each(check)

    def test_a_tool_stands_in_for_a_schema_that_the_model_does_not_know(self):
        def check(surface, upstream, stream):
            if surface == maker_of(upstream):
                return  # as it came
            told = self.talk(surface, f"tool-{upstream}", stream, "report").report()
            self.assertEqual(json.loads(told.text), STORY["report"])
            self.assertEqual((told.finish, told.calls), (FINISH[surface]["stop"], []))
            self.assertIsNotNone(seen(self.tag)[0]["forced"])
        self.on_each(check)

    def test_an_error_in_the_middle_of_a_stream_is_raised(self):
        for surface in SURFACES:
            for upstream in UPSTREAMS:
                with self.subTest(surface=surface, upstream=upstream):
                    conversation = self.talk(surface, f"loop-{upstream}", True, "break")
                    with self.assertRaises((openai.APIError, anthropic.APIError, AssertionError)) as caught:
                        conversation.ask()
                    if surface == "responses":  # that SDK hands the failure over as the last event
                        self.assertEqual(str(caught.exception), "response.failed")
                    else:
                        self.assertNotIsInstance(caught.exception, AssertionError)

    def test_a_fault_that_the_provider_finds_is_told(self):
        def check(surface, upstream, stream):
            conversation = self.talk(surface, f"loop-{upstream}", stream, "nonsense")
            with self.assertRaises((openai.BadRequestError, anthropic.BadRequestError)) as caught:
                conversation.ask()
            self.assertIn("no story is called nonsense", str(caught.exception))
        self.on_each(check)


class ToolRunner(Case):
    """anthropic's own loop."""

    def tools(self):
        def get_weather(city, days=0, note=""):
            if city == "Oslo":
                raise ToolError("no such station")
            return "2 mm"

        def get_radar(city, layers, zoom=0, mask=None):
            return [{"type": "text", "text": "rain from the west"}, Messages.picture("radar")]

        return [anthropic.beta_tool(function, name=name, description=STORY["tools"][name]["description"],
                                    input_schema=STORY["tools"][name]["parameters"])
                for name, function in (("get_weather", get_weather), ("get_radar", get_radar))]

    def test_the_sdks_own_runner_loops_to_the_end(self):
        for upstream in UPSTREAMS:
            for stream in (False, True):
                with self.subTest(upstream=upstream, stream=stream):
                    conversation = self.talk("messages", f"loop-{upstream}", stream, "loop")
                    runner = conversation.client.beta.messages.tool_runner(
                        model=conversation.model, max_tokens=9000, messages=conversation.history, stream=stream,
                        **conversation.request() | {"tools": self.tools()})
                    turns = [one.get_final_message() if stream else one for one in runner]
                    self.assertEqual(len(turns), 3)
                    for number, message in enumerate(turns, 1):
                        self.check_turn(conversation, number, told_by_message(message), upstream)
                    self.assertEqual(seen(self.tag)[2]["opaque"], opaque_until("messages", upstream, (1, 2)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
