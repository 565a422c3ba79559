// Tool loops of many turns through the official Node SDKs: every surface against every dialect, streamed and not. Run
// by run.py, which sets ACOG_URL and ACOG_STUB. loops_test.py is the same in Python, and says more of what is expected.
import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";

import { anthropic, Messages, openai, story, surfaces } from "./surfaces.mjs";

const upstreams = ["chat", "plain", "messages", "adaptive", "responses", "gemini", "level"];
const maker = (upstream) => ({ plain: "chat", adaptive: "messages", level: "gemini" })[upstream] ?? upstream;
const finishes = {
  chat: { calls: "tool_calls", stop: "stop", limit: "length", filter: "content_filter" },
  messages: { calls: "tool_use", stop: "end_turn", limit: "max_tokens", filter: "refusal" },
  responses: { calls: "completed", stop: "completed", limit: "max_output_tokens", filter: "content_filter" },
};

// What the stub was asked in a conversation, in order.
async function seen(tag) {
  return (await fetch(`${process.env.ACOG_STUB}/seen/${tag}`)).json();
}

// Some makers give out nothing but opaque bytes in the second turn, and some show nothing to who did not ask: in chat
// there is no word for that.
function shownReasoning(surface, upstream, turn) {
  const who = maker(upstream);
  const { reasoning } = story.turns[turn - 1];
  const hidden = (turn === 2 && (upstream === "chat" || upstream === "responses")) ||
    (surface === "chat" && (who === "gemini" || who === "responses"));
  return hidden || !reasoning ? "" : `${who} thinks: ${reasoning}`;
}

// What must come back to the upstream of the turns that it served. Plain reasoning only while the loop runs; what seals
// Gemini's last text has no place in a message, whose clients take its last block for the answer.
function opaqueUntil(surface, upstream, served) {
  const who = maker(upstream);
  const unsealed = (turn) => surface === "messages" && who === "gemini" && !story.turns[turn - 1].calls.length;
  const turns = served.filter((turn) => !unsealed(turn));
  if (upstream === "plain") {
    return turns.includes(3) ? [] : turns.map((turn) => `chat thinks: ${story.turns[turn - 1].reasoning}`);
  }
  return turns.flatMap((turn) => [
    story.opaque[who][turn - 1], ...(who === "messages" && turn === 2 ? [story.redacted] : []),
  ]);
}

let count = 0;
function talk(surface, model, stream, name, keeps) {
  const tag = `node-${++count}`;
  const conversation = new surfaces[surface](model, stream, name, tag, keeps);
  conversation.tag = tag;
  return conversation;
}

function onEach(name, check) {
  for (const surface of Object.keys(surfaces)) {
    for (const upstream of upstreams) {
      for (const stream of [false, true]) {
        test(`${name}: ${surface} to ${upstream}${stream ? ", streamed" : ""}`, () => check(surface, upstream, stream));
      }
    }
  }
}

// `thinksAs`: whose reasoning is shown; null: nobody's.
function checkTurn(surface, number, told, thinksAs) {
  const turn = story.turns[number - 1];
  assert.equal(told.text, turn.text);
  assert.deepEqual(told.calls.map(([, name, input]) => [name, JSON.stringify(input)]),
    turn.calls.map(([name, text]) => [name, JSON.stringify(JSON.parse(text))]));
  assert.equal(told.finish, finishes[surface][turn.calls.length ? "calls" : "stop"]);
  assert.deepEqual(told.usage, [turn.usage.input, turn.usage.cached, turn.usage.output]);
  assert.equal(told.reasoning, thinksAs ? shownReasoning(surface, thinksAs, number) : "");
}

// All four turns; thinksAs(turn). Returns the names that were dropped at each.
async function loop(conversation, thinksAs) {
  const dropped = [];
  for (const [index, turn] of story.turns.entries()) {
    if (index === 3) conversation.say(story.follow_up);
    const told = await conversation.ask();
    dropped.push(conversation.dropped);
    checkTurn(conversation.surface, index + 1, told, thinksAs(index + 1));
    if (turn.calls.length) conversation.answer(told.calls, story.results[index]);
  }
  return dropped;
}

onEach("a loop of four turns keeps every call and signature", async (surface, upstream, stream) => {
  const conversation = talk(surface, `loop-${upstream}`, stream, "loop");
  await loop(conversation, () => upstream);
  const requests = await seen(conversation.tag);
  assert.deepEqual(requests.map((one) => one.opaque),
    [[], [1], [1, 2], [1, 2, 3]].map((turns) => opaqueUntil(surface, upstream, turns)));
  assert.ok(requests.every((one) => one.thinking && one.stream === stream));
});

for (const upstream of upstreams.filter((name) => name !== "plain")) { // which refuses that of its own clients too
  for (const stream of [false, true]) {
    test(`a chat loop goes on without its reasoning: ${upstream}${stream ? ", streamed" : ""}`, async () => {
      const conversation = talk("chat", `loop-${upstream}`, stream, "loop", false);
      const silent = (turn) => upstream === "messages" && (turn === 2 || turn === 3);
      const dropped = await loop(conversation, (turn) => (silent(turn) ? null : upstream));
      const requests = await seen(conversation.tag);
      assert.deepEqual(requests.map((one) => one.opaque), [[], [], [], []]);
      assert.deepEqual(requests.map((one) => one.thinking), [1, 2, 3, 4].map((turn) => !silent(turn)));
      assert.deepEqual(dropped.map((names) => names.includes("reasoning_effort")), [1, 2, 3, 4].map(silent));
    });
  }
}

// By a budget, a turn of the loop is not thought about when one before it was another's, or was itself silent.
function silentTurns(servers) {
  const silent = [];
  for (const turn of [2, 3]) {
    const before = servers.slice(0, turn - 1);
    const broken = before.some((name, index) => name !== "messages" || silent.includes(index + 1));
    if (servers[turn - 1] === "messages" && broken) silent.push(turn);
  }
  return silent;
}

const changing = ["chat", "messages", "responses", "level"];
const changes = changing.flatMap((first) => changing.filter((name) => name !== first).map((second) => [first, second]));
for (const surface of Object.keys(surfaces)) {
  for (const [index, [first, second]] of changes.entries()) {
    const stream = index % 2 === 0; // all of both is the Python test's
    test(`a loop moves to another dialect: ${surface}, ${first} to ${second}`, async () => {
      const conversation = talk(surface, `${first}-then-${second}`, stream, "loop");
      const servers = [first, second, second, second];
      const silent = silentTurns(servers);
      await loop(conversation, (turn) => (silent.includes(turn) ? null : servers[turn - 1]));
      const answered = (await seen(conversation.tag)).filter((one) => !one.down);
      assert.deepEqual(answered.map((one) => one.connection), servers);
      const own = [[], [], [2], [2, 3]].map((turns) => turns.filter((turn) => !silent.includes(turn)));
      assert.deepEqual(answered.map((one) => one.opaque), own.map((turns) => opaqueUntil(surface, second, turns)));
    });
  }
}

onEach("an answer that is filtered is never a plain stop", async (surface, upstream, stream) => {
  const told = await talk(surface, `loop-${upstream}`, stream, "filter").ask();
  assert.deepEqual([told.text, told.finish], ["", finishes[surface].filter]);
});

onEach("an answer that declines says so", async (surface, upstream, stream) => {
  const told = await talk(surface, `loop-${upstream}`, stream, "decline").ask();
  const who = maker(upstream);
  const told_as_filtered = who === "messages" || who === "gemini" || surface === "messages";
  assert.equal(told.finish, finishes[surface][told_as_filtered ? "filter" : "stop"]);
  if (who !== "gemini") assert.equal(told.text || told.refusal, story.declined);
});

onEach("an answer at its limit is told as cut", async (surface, upstream, stream) => {
  const told = await talk(surface, `loop-${upstream}`, stream, "limit").ask();
  assert.deepEqual([told.text, told.finish], [story.cut, finishes[surface].limit]);
});

onEach("a structured answer holds the schema", async (surface, upstream, stream) => {
  if (surface === "messages" && upstream === "messages") return; // as it came; this model has no such field
  const conversation = talk(surface, `loop-${upstream}`, stream, "report");
  const told = await conversation.report();
  assert.deepEqual(JSON.parse(told.text), story.report);
  assert.deepEqual([told.finish, told.calls], [finishes[surface].stop, []]);
  assert.equal((await seen(conversation.tag))[0].forced !== null, upstream === "messages");
});

for (const surface of Object.keys(surfaces)) {
  for (const upstream of upstreams) {
    test(`an error in the middle of a stream is raised: ${surface} to ${upstream}`, async () => {
      const expected = surface === "messages" ? Anthropic.APIError : surface === "chat" ? OpenAI.APIError : Error;
      await assert.rejects(talk(surface, `loop-${upstream}`, true, "break").ask(), expected);
    });
  }
}

const functions = { // of a runner that has no word for an error
  get_weather: ({ city }) => (city === "Oslo" ? "Error: no such station" : "2 mm"),
  get_radar: () => "rain from the west",
};

for (const upstream of upstreams) {
  for (const stream of [false, true]) {
    // It sends no member back that it does not know, and that provider refuses it then.
    const skip = upstream === "plain";
    test(`openai's own runner loops to the end: ${upstream}${stream ? ", streamed" : ""}`, { skip }, async () => {
      const conversation = talk("chat", `loop-${upstream}`, stream, "run");
      const tools = conversation.tools().map((tool) => ({
        ...tool, function: { ...tool.function, function: functions[tool.function.name], parse: JSON.parse },
      }));
      const runner = openai.chat.completions.runTools({
        model: conversation.model, messages: conversation.history, tools, stream, reasoning_effort: "medium",
        max_completion_tokens: 9000,
      });
      assert.equal(await runner.finalContent(), story.turns[2].text);
      assert.equal((await seen(conversation.tag)).length, 3);
    });

    test(`anthropic's own runner loops to the end: ${upstream}${stream ? ", streamed" : ""}`, async () => {
      const conversation = talk("messages", `loop-${upstream}`, stream, "loop");
      const tools = Object.entries(story.tools).map(([name, tool]) => betaTool({
        name, description: tool.description, inputSchema: tool.parameters,
        run: name === "get_radar"
          ? () => [{ type: "text", text: "rain from the west" }, Messages.picture("radar")]
          : functions[name],
      }));
      const runner = anthropic.beta.messages.toolRunner({
        ...conversation.loopFields(), model: conversation.model, max_tokens: 9000, messages: conversation.history,
        tools, stream,
      });
      let turns = 0;
      for await (const one of runner) {
        const message = stream ? await one.finalMessage() : one;
        checkTurn("messages", ++turns, Messages.told(message), upstream);
      }
      assert.equal(turns, 3);
      assert.deepEqual((await seen(conversation.tag)).at(-1).opaque, opaqueUntil("messages", upstream, [1, 2]));
    });
  }
}
