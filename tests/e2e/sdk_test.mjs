// The official Node SDKs, unmodified, through the gateway. Run by run.py, which sets ACOG_URL and the rest.
import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const url = process.env.ACOG_URL;
const providerStatus = process.env.ACOG_PROVIDER_ADMIN + "/status.json";
const messages = [{ role: "user", content: "hello" }];
const weather = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
const hello = "Hello from the other side.";

const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "sk-client", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: "sk-client", maxRetries: 0 });

async function inFlight(connection) {
  const status = await (await fetch(providerStatus)).json();
  return status.connections.find((row) => row.id === connection).in_flight;
}

// The provider's own word on how many requests of a connection it is answering.
async function waitForInFlight(connection, count, seconds) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const now = await inFlight(connection);
    if (now === count) return;
    assert.ok(Date.now() < deadline, `${connection}: ${now} in flight, not ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function collect(stream) {
  const all = [];
  for await (const one of stream) all.push(one);
  return all;
}

test("openai: a plain call is answered", async () => {
  const answer = await openai.chat.completions.create({ model: "gpt-plain", messages });
  assert.equal(answer.choices[0].message.content, hello);
  assert.equal(answer.choices[0].finish_reason, "stop");
});

test("openai: a stream arrives in pieces, without usage unless it was asked for", async () => {
  const chunks = await collect(await openai.chat.completions.create({ model: "gpt-plain", messages, stream: true }));
  const pieces = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").filter(Boolean);
  assert.ok(pieces.length > 2);
  assert.equal(pieces.join(""), hello);
  assert.ok(chunks.every((chunk) => !chunk.usage));
  const asked = await collect(await openai.chat.completions.create({
    model: "gpt-plain", messages, stream: true, stream_options: { include_usage: true },
  }));
  assert.ok(asked.at(-1).usage.completion_tokens > 0);
});

test("openai: a tool call keeps its arguments, whole and streamed", async () => {
  const tools = [{ type: "function", function: { name: "get_weather", parameters: weather } }];
  const answer = await openai.chat.completions.create({ model: "gpt-tool", messages, tools });
  assert.deepEqual(JSON.parse(answer.choices[0].message.tool_calls[0].function.arguments), { city: "Oslo", days: 2 });
  const runner = openai.chat.completions.stream({ model: "gpt-tool", messages, tools });
  const final = await runner.finalChatCompletion();
  assert.deepEqual(JSON.parse(final.choices[0].message.tool_calls[0].function.arguments), { city: "Oslo", days: 2 });
});

test("openai: the responses API answers whole and streamed, with tools", async () => {
  const answer = await openai.responses.create({ model: "gpt-plain", input: "hello" });
  assert.equal(answer.output_text, hello);
  const events = await collect(await openai.responses.create({ model: "gpt-plain", input: "hello", stream: true }));
  assert.equal(events.filter((e) => e.type === "response.output_text.delta").map((e) => e.delta).join(""), hello);
  assert.equal(events.at(-1).type, "response.completed");
  events.forEach((event, index) => assert.equal(event.sequence_number, index));
  const tools = [{ type: "function", name: "get_weather", parameters: weather, strict: false }];
  const called = await openai.responses.create({ model: "gpt-tool", input: "hello", tools });
  const call = called.output.find((item) => item.type === "function_call");
  assert.deepEqual(JSON.parse(call.arguments), { city: "Oslo", days: 2 });
});

test("openai: models are listed", async () => {
  const models = await collect(openai.models.list());
  assert.ok(models.some((model) => model.id === "gpt-plain"));
});

test("openai: errors raise their classes", async () => {
  const cases = [
    ["gpt-auth", OpenAI.AuthenticationError],
    ["gpt-throttled", OpenAI.RateLimitError],
    ["gpt-down", OpenAI.InternalServerError],
    ["gpt-nobody", OpenAI.ConflictError],
  ];
  for (const [model, expected] of cases) {
    await assert.rejects(openai.chat.completions.create({ model, messages }), (error) => {
      assert.ok(error instanceof expected, `${model}: ${error.constructor.name}`);
      assert.ok(error.requestID);
      return true;
    });
  }
  await assert.rejects(openai.chat.completions.create({ model: "gpt-plain", messages: "no list" }),
    (error) => error instanceof OpenAI.BadRequestError && /messages/.test(error.message));
});

test("openai: a cut stream is an error, never a silent end", async () => {
  const stream = await openai.chat.completions.create({ model: "gpt-cut", messages, stream: true });
  await assert.rejects(collect(stream), OpenAI.APIError);
});

test("openai: a cancelled stream closes the upstream", async () => {
  const stream = await openai.chat.completions.create({ model: "gpt-slow", messages, stream: true });
  let seen = 0;
  for await (const _chunk of stream) {
    if (++seen === 3) {
      await waitForInFlight("slow-openai", 1, 5);
      break;
    }
  }
  stream.controller.abort();
  await waitForInFlight("slow-openai", 0, 2);
});

test("anthropic: a plain call is answered", async () => {
  const answer = await anthropic.messages.create({ model: "claude-plain", max_tokens: 64, messages });
  assert.equal(answer.content[0].text, hello);
  assert.equal(answer.stop_reason, "end_turn");
});

test("anthropic: a stream arrives in pieces and adds up", async () => {
  const pieces = [];
  const stream = anthropic.messages.stream({ model: "claude-plain", max_tokens: 64, messages });
  stream.on("text", (text) => pieces.push(text));
  const final = await stream.finalMessage();
  assert.ok(pieces.length > 2);
  assert.equal(final.content[0].text, hello);
  assert.ok(final.usage.output_tokens > 0);
});

test("anthropic: a tool call keeps its input, whole and streamed", async () => {
  const tools = [{ name: "get_weather", input_schema: weather }];
  const request = { model: "claude-tool", max_tokens: 64, messages, tools };
  const answer = await anthropic.messages.create(request);
  assert.deepEqual(answer.content.at(-1).input, { city: "Oslo", days: 2 });
  const final = await anthropic.messages.stream(request).finalMessage();
  assert.deepEqual(final.content.at(-1).input, { city: "Oslo", days: 2 });
  assert.equal(final.stop_reason, "tool_use");
});

test("anthropic: tokens are counted and models are listed", async () => {
  const count = await anthropic.messages.countTokens({ model: "claude-plain", messages });
  assert.ok(count.input_tokens > 0);
  const models = await collect(anthropic.models.list());
  assert.ok(models.some((model) => model.id === "claude-plain"));
});

test("anthropic: errors raise their classes", async () => {
  const cases = [
    ["claude-auth", Anthropic.AuthenticationError],
    ["claude-throttled", Anthropic.RateLimitError],
    ["claude-down", Anthropic.InternalServerError],
    ["claude-nobody", Anthropic.ConflictError],
  ];
  for (const [model, expected] of cases) {
    await assert.rejects(anthropic.messages.create({ model, max_tokens: 64, messages }), (error) => {
      assert.ok(error instanceof expected, `${model}: ${error.constructor.name}`);
      assert.equal(error.error.type, "error");
      return true;
    });
  }
  await assert.rejects(anthropic.messages.create({ model: "claude-plain", max_tokens: 64, messages: "no list" }),
    (error) => error instanceof Anthropic.BadRequestError && /messages/.test(error.message));
});

test("anthropic: a cut stream is an error, never a silent end", async () => {
  await assert.rejects(anthropic.messages.stream({ model: "claude-cut", max_tokens: 64, messages }).finalMessage(),
    Anthropic.APIError);
});

test("anthropic: a cancelled stream closes the upstream", async () => {
  const stream = await anthropic.messages.create({ model: "claude-slow", max_tokens: 64, messages, stream: true });
  let seen = 0;
  for await (const _event of stream) {
    if (++seen === 4) {
      await waitForInFlight("slow-anthropic", 1, 5);
      break;
    }
  }
  stream.controller.abort();
  await waitForInFlight("slow-anthropic", 0, 2);
});
