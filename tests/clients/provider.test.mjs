// A Chat Completions provider that none of us wrote (aimock), driven through the whole stack.
import test, { before, after } from "node:test";
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { url, key, providerPort, shell } from "./env.mjs";

const mock = new LLMock({ port: providerPort, host: "127.0.0.1" });
const openai = new OpenAI({ baseURL: url + "/api/v1", apiKey: key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url + "/api", apiKey: key, maxRetries: 0 });
const model = "mock/lumen-9b";
const call = (name, args) => ({ name, arguments: JSON.stringify(args) });
const weather = {
	type: "function", name: "get_weather", strict: false, description: "Weather of a city",
	parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

before(async () => {
	mock.on({ userMessage: "count", hasToolResult: false }, { toolCalls: [call("shell", { commands: ["printf 'a\\nb\\n' | wc -l"] })] });
	mock.on({ userMessage: "count", hasToolResult: true, toolResultContains: "2\\n" }, { content: "There are two lines." });
	mock.on({ userMessage: "weather" }, { toolCalls: [call("get_weather", { city: "Ulm" })] });
	mock.on({ userMessage: "both" }, { toolCalls: [call("shell", { commands: ["echo server"] }), call("get_weather", { city: "Ulm" })] });
	mock.on({ userMessage: "forever" }, { toolCalls: [call("shell", { commands: ["true"] })] });
	mock.onMessage("hello", { content: "Hello from the provider." });
	await mock.start();
});
after(() => mock.stop());

test("plain text streams through", async () => {
	const response = await openai.responses.stream({ model, input: "hello" }).finalResponse();
	assert.equal(response.output_text, "Hello from the provider.");
	assert.ok(response.usage.total_tokens > 0);
});

test("a shell call of the provider's model runs, its output goes back, and the answer uses it", async () => {
	const response = await openai.responses.stream({ model, input: "count", tools: [shell] }).finalResponse();
	assert.deepEqual(response.output.map((i) => i.type), ["openrouter:shell", "message"]);
	assert.equal(response.output[0].output[0].stdout, "2\n");
	assert.equal(response.output_text, "There are two lines.");
	const sent = mock.getLastRequest().body;
	assert.equal(sent.messages.at(-1).role, "tool");
	assert.equal(sent.messages.at(-1).tool_call_id, sent.messages.at(-2).tool_calls[0].id);
});

test("the same over messages", async () => {
	const message = await anthropic.messages
		.stream({ model, max_tokens: 500, messages: [{ role: "user", content: "count" }], tools: [shell] })
		.finalMessage();
	assert.deepEqual(message.content.map((b) => b.type), ["server_tool_use", "openrouter_shell_tool_result", "text"]);
	assert.equal(message.content.at(-1).text, "There are two lines.");
});

test("a client's function call is handed back on both APIs", async () => {
	const response = await openai.responses.stream({ model, input: "weather", tools: [weather, shell] }).finalResponse();
	assert.equal(response.status, "completed");
	assert.deepEqual(response.output.map((i) => i.type), ["function_call"]);
	assert.deepEqual(JSON.parse(response.output[0].arguments), { city: "Ulm" });
	const message = await anthropic.messages
		.stream({
			model, max_tokens: 500, messages: [{ role: "user", content: "weather" }],
			tools: [{ name: "get_weather", input_schema: weather.parameters }, shell],
		})
		.finalMessage();
	assert.equal(message.stop_reason, "tool_use");
	assert.deepEqual(message.content.at(-1).input, { city: "Ulm" });
});

test("a turn with a server's and a client's call runs the first and hands back the second", async () => {
	const response = await openai.responses.stream({ model, input: "both", tools: [weather, shell] }).finalResponse();
	const types = response.output.map((i) => i.type).sort();
	assert.deepEqual(types, ["function_call", "openrouter:shell"]);
	assert.equal(response.output.find((i) => i.type === "openrouter:shell").output[0].stdout, "server\n");
});

test("max_tool_calls ends a model that never stops calling", async () => {
	const response = await openai.responses.create({ model, input: "forever", tools: [shell], max_tool_calls: 3 });
	assert.equal(response.output.filter((i) => i.type === "openrouter:shell").length, 3);
});

test("a provider's error becomes a documented one", async () => {
	mock.nextRequestError(400, { message: "nonsense", type: "invalid_request_error" });
	await assert.rejects(openai.responses.create({ model, input: "hello" }), OpenAI.BadRequestError);
});
