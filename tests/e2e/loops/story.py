"""What is said in the loops: what the provider answers to a request, and that the history it was sent is the one it
gave. The question tells which story it is, and whose: "loop TAG: Shall I …"."""
import json
import os

from strict import Down, Reply, Wrong, same

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "story.json"), encoding="utf-8") as file:
    STORY = json.load(file)

# Marks reasoning with its maker, so that it is found where it does not belong.
MAKERS = ("chat", "messages", "responses", "gemini")


def reasoning_of(maker, number):
    text = STORY["turns"][number - 1]["reasoning"]
    return f"{maker} thinks: {text}" if text else ""


def opaque_of(maker, number):
    return STORY["opaque"][maker][number - 1]


def check_nothing_foreign(dialect, body):
    """Of what another provider thought nothing may arrive, neither as bytes nor as text; and no tag of the gateway."""
    for other in MAKERS:
        for mark in [f"{other} thinks:", *STORY["opaque"][other]]:
            if other != dialect and mark in body:
                raise Wrong("body", f"holds what {other} thought: {mark}")
    for mark in ("acog.", STORY["redacted"] if dialect != "messages" else "acog."):
        if mark in body:
            raise Wrong("body", f"holds {mark}")


def is_error_text(text):
    return text.lower().startswith("error")


def check_calls(asked, rounds):
    """Each turn's calls are those of the story, in order, and answered by the story's results."""
    calls = [one for one in asked.said if one[0] == "call"]
    results = {one[1]: one for one in asked.said if one[0] == "result"}
    expected = [(number, index, call) for number in range(rounds)
                for index, call in enumerate(STORY["turns"][number]["calls"])]
    if len(calls) != len(expected):
        raise Wrong("story", f"{len(calls)} calls, {len(expected)} were made")
    for (_, call_id, name, arguments), (number, index, call) in zip(calls, expected):
        same(f"story: call {call_id}", [name, json.dumps(arguments)], [call[0], json.dumps(json.loads(call[1]))])
        wanted = STORY["results"][number][index]
        _, _, text, error = results[call_id]
        if not text.endswith(wanted["text"]):
            raise Wrong(f"story: result of {call_id}", f"says {text!r}")
        if bool(wanted.get("error")) != bool(error or is_error_text(text)):
            raise Wrong(f"story: result of {call_id}", f"an error or not? {text!r}")


def check_history(asked, rounds, follows):
    same("story: system", "\n".join(asked.system), STORY["system"])
    same("story: tools", {name: tool for name, tool in asked.tools.items()},
         {name: tool["parameters"] for name, tool in STORY["tools"].items()})
    check_calls(asked, rounds)
    if place(asked)[0] == "loop":
        pictures = [one[1] for one in asked.said if one[0] == "picture"]
        same("story: pictures", pictures, [STORY["picture"], STORY["radar"]][:1 + min(rounds, 1)])
    texts = [one[1] for one in asked.said if one[0] == "assistant"]
    told = [turn["text"] for turn in STORY["turns"][:rounds + (1 if follows else 0)] if turn["text"]]
    same("story: assistant", texts, told)


def loop(asked, down):
    rounds, called = 0, False
    for one in asked.said:
        rounds += one[0] == "call" and not called
        called = one[0] == "call"
    follows = asked.said[-1] == ("user", STORY["follow_up"])
    if down(rounds + 1):
        raise Down()
    check_history(asked, rounds, follows)
    if rounds == 0 and not asked.thinking:
        raise Wrong("story", "the first turn is to think")
    number = 4 if follows else rounds + 1
    turn = STORY["turns"][number - 1]
    finish = "calls" if turn["calls"] else "stop"
    return Reply(turn["usage"], finish, turn["text"], reasoning_of(asked.dialect, number), turn["calls"], number)


def report(asked):
    """A schema must have arrived, as the dialect's own or as the one tool that must be called."""
    answer = json.dumps(STORY["report"], ensure_ascii=False)
    if asked.schema is not None:
        same("story: schema", asked.schema, STORY["schema"])
        return Reply(STORY["usage"], text=answer)
    if asked.forced is None:
        raise Wrong("story", "neither a schema nor a forced tool")
    same("story: the tool's schema", asked.tools[asked.forced], STORY["schema"])
    return Reply(STORY["usage"], "calls", calls=[(asked.forced, answer)])


def place(asked):
    """Which story, and whose."""
    first = next(one[1] for one in asked.said if one[0] == "user")
    return first.partition(":")[0].split(" ")


def reply(asked, down):
    """`down(turn)`: whether the connection is down at that turn of a loop."""
    name, _ = place(asked)
    usage = STORY["usage"]
    if name in ("loop", "run"):  # run: by an SDK's tool runner, without pictures
        return loop(asked, down)
    if name == "report":
        return report(asked)
    if name == "filter":
        return Reply(usage, "filter")
    if name == "decline":
        return Reply(usage, "stop", refusal=STORY["declined"])
    if name == "limit":
        return Reply(usage, "limit", text=STORY["cut"])
    if name == "break":
        return Reply(usage, text=STORY["cut"], breaks=True)
    raise Wrong("story", f"no story is called {name}")
