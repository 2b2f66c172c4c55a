// The @openrouter/sdk package, unchanged: responses, models, container files.
import test from "node:test";
import assert from "node:assert/strict";
import { OpenRouter } from "@openrouter/sdk";
import { url, key, fenced, shell, sum } from "./env.mjs";

const client = new OpenRouter({ serverURL: url + "/api/v1", apiKey: key, retryConfig: { strategy: "none" } });
const request = { model: "sandgate/script", input: fenced(sum), tools: [shell] };

test("responses.send gives the typed shell item and the message", async () => {
	const response = await client.responses.send({ responsesRequest: { ...request, stream: false } });
	assert.equal(response.status, "completed");
	const item = response.output[0];
	assert.equal(item.type, "openrouter:shell");
	assert.equal(item.status, "completed");
	assert.equal(item.output[0].stdout, "5050\n");
	assert.deepEqual(item.action.commands, [sum]);
	assert.ok(item.containerId);
	assert.equal(response.output[1].type, "message");
	assert.equal(response.usage.serverToolUseDetails.toolCallsExecuted, 1);
});

test("its stream decodes every event", async () => {
	const types = [];
	let completed;
	for await (const event of await client.responses.send({ responsesRequest: { ...request, stream: true } })) {
		types.push(event.type);
		if (event.type === "response.completed") completed = event.response;
	}
	assert.equal(types[0], "response.created");
	assert.ok(completed, types.join(" "));
	assert.equal(completed.output[0].output[0].stdout, "5050\n");
});

test("container files are listed, read and downloaded", async () => {
	await client.responses.send({ responsesRequest: { ...request, stream: false, input: fenced("printf x >one.txt"), sessionId: "files-or" } });
	const list = await client.containers.listContainerFiles({ containerId: "sess_files-or" });
	assert.deepEqual(list.data.map((f) => f.path), ["one.txt"]);
	const file = await client.containers.getContainerFile({ containerId: "sess_files-or", fileId: list.data[0].id });
	assert.equal(file.bytes, 1);
	const stream = await client.containers.downloadContainerFileContent({ containerId: "sess_files-or", fileId: file.id });
	assert.equal(await new Response(stream).text(), "x");
});

test("models.list decodes", async () => {
	const ids = [];
	for await (const page of await client.models.list()) ids.push(...page.result.data.map((m) => m.id));
	assert.ok(ids.includes("sandgate/script"));
});
