// The @anthropic-ai/sdk package, unchanged, against the Messages API.
import test from "node:test";
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { url, key, fenced, shell, sum } from "./env.mjs";

const client = new Anthropic({ baseURL: url + "/api", apiKey: key, maxRetries: 0 });
const request = { model: "sandgate/script", max_tokens: 1024, messages: [{ role: "user", content: fenced(sum) }], tools: [shell] };
const bash = { type: "openrouter:bash", parameters: { engine: "openrouter" } };

test("messages.create gives call, result and text", async () => {
	const message = await client.messages.create(request);
	assert.deepEqual(message.content.map((b) => b.type), ["server_tool_use", "openrouter_shell_tool_result", "text"]);
	assert.equal(message.content[1].content.output[0].stdout, "5050\n");
	assert.equal(message.stop_reason, "end_turn");
});

test("messages.stream builds the same message", async () => {
	const stream = client.messages.stream(request);
	let text = "";
	stream.on("text", (delta) => (text += delta));
	const message = await stream.finalMessage();
	assert.deepEqual(message.content.map((b) => b.type), ["server_tool_use", "openrouter_shell_tool_result", "text"]);
	assert.deepEqual(message.content[0].input.commands, [sum]);
	assert.equal(message.content[1].content.output[0].stdout, "5050\n");
	assert.equal(message.content[2].text, text);
	assert.equal(message.stop_reason, "end_turn");
	assert.ok(message.usage.output_tokens > 0);
});

test("openrouter:bash runs here when its engine is openrouter", async () => {
	const message = await client.messages.stream({ ...request, tools: [bash] }).finalMessage();
	assert.equal(message.content[1].type, "openrouter_bash_tool_result");
	assert.equal(message.content[1].content.stdout, "5050\n");
	assert.equal(message.content[1].content.exitCode, 0);
});

test("the content replayed continues the conversation without running it again", async () => {
	const user = { role: "user", content: fenced("echo once >>count") };
	const first = await client.messages.create({ ...request, messages: [user], session_id: "replay-anthropic" });
	const second = await client.messages.create({
		...request,
		session_id: "replay-anthropic",
		messages: [user, { role: "assistant", content: first.content }, { role: "user", content: fenced("cat count") }],
	});
	assert.equal(second.content[1].content.output[0].stdout, "once\n");
});

test("errors become the class of their status", async () => {
	await assert.rejects(client.messages.create({ ...request, model: "no/such" }), Anthropic.NotFoundError);
	await assert.rejects(client.messages.create({ ...request, messages: "x" }), Anthropic.BadRequestError);
	const stranger = new Anthropic({ baseURL: url + "/api", apiKey: "sk-sg-aaaaaaaa-wrong", maxRetries: 0 });
	await assert.rejects(stranger.messages.create(request), Anthropic.AuthenticationError);
});

test("models.list has the built-in model in Anthropic's shape", async () => {
	const models = [];
	for await (const model of client.models.list()) models.push(model);
	assert.ok(models.some((m) => m.id === "sandgate/script" && m.type === "model"));
});
