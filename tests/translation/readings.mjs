// Reads streams with the official SDKs of Node: a JSON object {"client", "sse"} a line in, the final message a line out,
// or {"unreadable": "why"}.
import readline from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

let body = "";
const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
const openai = new OpenAI({ apiKey: "none", baseURL: "http://stub.example/v1", fetch, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: "none", baseURL: "http://stub.example", fetch, maxRetries: 0 });
const hello = [{ role: "user", content: "hello" }];

const readers = {
  chat: () => openai.chat.completions.stream({ model: "m", messages: hello }).finalChatCompletion(),
  messages: () => anthropic.messages.stream({ model: "m", max_tokens: 1, messages: hello }).finalMessage(),
  responses: () => openai.responses.stream({ model: "m", input: "hello" }).finalResponse(),
};

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { client, sse } = JSON.parse(line);
  body = sse;
  let told;
  try {
    told = { message: await readers[client]() };
  } catch (error) {
    told = { unreadable: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify(told));
}
