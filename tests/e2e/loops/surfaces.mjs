// The three APIs through their official SDKs, each used as applications use it: what the SDK returned is put into the
// history as it is. A conversation remembers what it was told in words that all surfaces share.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { ContentFilterFinishReasonError, LengthFinishReasonError } from "openai/error";

export const story = JSON.parse(readFileSync(new URL("story.json", import.meta.url)));
const url = process.env.ACOG_URL;
const dataUrl = (name) => "data:image/png;base64," + story[name];

// Of the last answer, whoever asked: one conversation runs at a time.
let headers = new Headers();
async function remembering(input, init) {
  const response = await fetch(input, init);
  headers = response.headers;
  return response;
}

export const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "sk-client", maxRetries: 0, fetch: remembering });
export const anthropic = new Anthropic({ baseURL: url, apiKey: "sk-client", maxRetries: 0, fetch: remembering });

// `name` and `tag` tell the stub which story it is. `keeps`: whether reasoning goes back into the history.
class Conversation {
  constructor(model, stream, name, tag, keeps = true) {
    Object.assign(this, { model, stream, keeps });
    this.question = `${name} ${tag}: ${story.question}`;
    this.history = this.first();
  }

  // Names that the gateway said it dropped, of the last request.
  get dropped() {
    return (headers.get("x-acog-dropped-params") ?? "").split(", ").filter(Boolean);
  }

  say(text) {
    this.history.push({ role: "user", content: text });
  }
}

const failing = (result) => (result.error ? "Error: " : "") + result.text;

export class Chat extends Conversation {
  static surface = "chat";
  surface = "chat";

  first() {
    const picture = { type: "image_url", image_url: { url: dataUrl("picture") } };
    return [
      { role: "system", content: story.system },
      { role: "user", content: [{ type: "text", text: this.question }, picture] },
    ];
  }

  tools() {
    return Object.entries(story.tools).map(([name, tool]) => ({ type: "function", function: { name, ...tool } }));
  }

  async ask(fields = { tools: this.tools(), reasoning_effort: "medium", max_completion_tokens: 9000 }) {
    const request = { model: this.model, messages: this.history, ...fields };
    const completion = this.stream ? await this.readStream(request) : await openai.chat.completions.create(request);
    const { message, finish_reason: finish } = completion.choices[0];
    this.append(message);
    const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = completion.usage;
    return {
      text: message.content ?? "",
      reasoning: message.reasoning_content ?? message.reasoning ?? "",
      calls: (message.tool_calls ?? [])
        .map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]),
      finish,
      usage: [input, details?.cached_tokens ?? 0, output],
      refusal: message.refusal ?? "",
    };
  }

  // By the SDK's own accumulator. Its last word refuses an answer that was cut or filtered; and of members that it does
  // not know it keeps the last piece, so that whoever wants a provider's reasoning gathers it, as here.
  async readStream(request) {
    const stream = openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    let text = "";
    let reasoning = "";
    let snapshot;
    const details = [];
    stream.on("content", (piece) => (text += piece));
    stream.on("chunk", (chunk, now) => {
      const delta = chunk.choices[0]?.delta ?? {};
      snapshot = now;
      reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
      details.push(...(delta.reasoning_details ?? []));
    });
    const completion = await stream.finalChatCompletion().catch((error) => {
      if (error instanceof LengthFinishReasonError || error instanceof ContentFilterFinishReasonError) return snapshot;
      throw error;
    });
    const { message } = completion.choices[0];
    assert.equal(text, message.content ?? "");
    if (reasoning) message[message.reasoning_content ? "reasoning_content" : "reasoning"] = reasoning;
    if (message.reasoning && details.length > 1) { // another gateway's, in pieces; ours come at once
      message.reasoning_details = [Object.assign(...details, { text: reasoning })];
    }
    return completion;
  }

  append(message) {
    if (this.keeps) {
      this.history.push(message);
      return;
    }
    const bare = { role: "assistant", content: message.content };
    if (message.tool_calls?.length) {
      bare.tool_calls = message.tool_calls.map(({ id, function: { name, arguments: text } }) => (
        { id, type: "function", function: { name, arguments: text } }));
    }
    this.history.push(bare);
  }

  answer(calls, results) {
    results.forEach((result, index) => {
      this.history.push({ role: "tool", tool_call_id: calls[index][0], content: failing(result) });
    });
    if (results.some((result) => result.picture)) { // a tool's message holds only texts
      const picture = { type: "image_url", image_url: { url: dataUrl("radar") } };
      this.history.push({ role: "user", content: [{ type: "text", text: "The radar:" }, picture] });
    }
  }

  report() {
    const form = { name: "report", schema: story.schema, strict: true };
    return this.ask({ response_format: { type: "json_schema", json_schema: form } });
  }
}

export class Responses extends Conversation {
  static surface = "responses";
  surface = "responses";

  first() {
    const picture = { type: "input_image", image_url: dataUrl("picture"), detail: "auto" };
    return [{ role: "user", content: [{ type: "input_text", text: this.question }, picture] }];
  }

  tools() {
    return Object.entries(story.tools).map(([name, tool]) => ({ type: "function", name, strict: false, ...tool }));
  }

  loopFields() {
    return {
      tools: this.tools(),
      reasoning: { effort: "medium", summary: "auto" },
      max_output_tokens: 9000,
      instructions: story.system,
      include: ["reasoning.encrypted_content"],
    };
  }

  async ask(fields = this.loopFields()) {
    const request = { model: this.model, input: this.history, store: false, ...fields };
    const response = this.stream ? await this.readStream(request) : await openai.responses.create(request);
    this.history.push(...response.output);
    const parts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
    const usage = response.usage;
    return {
      text: response.output_text,
      reasoning: response.output.flatMap((item) => (item.type === "reasoning" ? item.summary : []))
        .map((part) => part.text).join(""),
      calls: response.output.filter((item) => item.type === "function_call")
        .map((item) => [item.call_id, item.name, JSON.parse(item.arguments)]),
      finish: response.incomplete_details?.reason ?? response.status,
      usage: [usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens],
      refusal: parts.map((part) => part.refusal ?? "").join(""),
    };
  }

  async readStream(request) {
    const stream = openai.responses.stream(request);
    const events = [];
    for await (const event of stream) events.push(event);
    events.forEach((event, index) => assert.equal(event.sequence_number, index));
    const last = events.at(-1);
    assert.match(last.type, /^response\.(completed|incomplete)$/);
    const final = await stream.finalResponse();
    const pieces = events.filter((event) => event.type === "response.output_text.delta");
    assert.equal(pieces.map((event) => event.delta).join(""), final.output_text);
    return final;
  }

  answer(calls, results) {
    results.forEach((result, index) => {
      let output = failing(result);
      if (result.picture) {
        output = [
          { type: "input_text", text: output },
          { type: "input_image", image_url: dataUrl("radar"), detail: "auto" },
        ];
      }
      this.history.push({ type: "function_call_output", call_id: calls[index][0], output });
    });
  }

  report() {
    return this.ask({ text: { format: { type: "json_schema", name: "report", schema: story.schema, strict: true } } });
  }
}

const block = (name) => ({ type: "image", source: { type: "base64", media_type: "image/png", data: story[name] } });
const textOf = (message) => message.content.filter((one) => one.type === "text").map((one) => one.text).join("");

export class Messages extends Conversation {
  static surface = "messages";
  surface = "messages";
  static picture = block;

  first() {
    return [{ role: "user", content: [{ type: "text", text: this.question }, block("picture")] }];
  }

  tools() {
    return Object.entries(story.tools).map(([name, tool]) => (
      { name, description: tool.description, input_schema: tool.parameters }));
  }

  loopFields() {
    return { tools: this.tools(), thinking: { type: "enabled", budget_tokens: 2048 }, system: story.system };
  }

  async ask(fields = this.loopFields()) {
    const request = { model: this.model, max_tokens: 9000, messages: this.history, ...fields };
    const message = this.stream ? await this.readStream(request) : await anthropic.messages.create(request);
    this.history.push({ role: "assistant", content: message.content });
    return Messages.told(message);
  }

  async readStream(request) {
    const stream = anthropic.messages.stream(request);
    let text = "";
    stream.on("text", (piece) => (text += piece));
    const message = await stream.finalMessage();
    assert.equal(text, textOf(message));
    return message;
  }

  static told(message) {
    const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached } = message.usage;
    return {
      text: textOf(message),
      reasoning: message.content.filter((one) => one.type === "thinking").map((one) => one.thinking).join(""),
      calls: message.content.filter((one) => one.type === "tool_use").map((one) => [one.id, one.name, one.input]),
      finish: message.stop_reason,
      usage: [input + (cached ?? 0), cached ?? 0, output],
      refusal: "",
    };
  }

  answer(calls, results) {
    const content = results.map((result, index) => ({
      type: "tool_result",
      tool_use_id: calls[index][0],
      content: result.picture ? [{ type: "text", text: result.text }, block("radar")] : result.text,
      ...(result.error ? { is_error: true } : {}),
    }));
    this.history.push({ role: "user", content });
  }

  report() {
    return this.ask({ output_config: { format: { type: "json_schema", schema: story.schema } } });
  }
}

export const surfaces = { chat: Chat, messages: Messages, responses: Responses };
