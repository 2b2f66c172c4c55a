// The openai package, unchanged, against the Responses API and the container files.
import test from "node:test";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { url, key, fenced, shell, sum } from "./env.mjs";

const client = new OpenAI({ baseURL: url + "/api/v1", apiKey: key, maxRetries: 0 });
const request = { model: "sandgate/script", input: fenced(sum), tools: [shell] };

test("responses.create gives the shell item and the message", async () => {
	const response = await client.responses.create(request);
	assert.equal(response.status, "completed");
	assert.equal(response.output[0].type, "openrouter:shell");
	assert.equal(response.output[0].output[0].stdout, "5050\n");
	assert.match(response.output_text, /5050/);
	assert.match(response._request_id, /^req_/);
});

test("responses.stream accepts every event and gives the same final response", async () => {
	const stream = client.responses.stream(request);
	const types = new Set();
	stream.on("event", (event) => types.add(event.type));
	const response = await stream.finalResponse();
	assert.equal(response.status, "completed");
	assert.equal(response.output[0].output[0].stdout, "5050\n");
	assert.match(response.output_text, /5050/);
	assert.ok(types.has("response.output_text.delta"));
});

test("a raw stream ends with response.completed", async () => {
	let last;
	let count = 0;
	for await (const event of await client.responses.create({ ...request, stream: true })) {
		assert.equal(event.sequence_number, count++);
		last = event;
	}
	assert.equal(last.type, "response.completed");
});

test("the output replayed as input continues the conversation without running it again", async () => {
	const first = await client.responses.create({ ...request, input: fenced("echo once >>count"), session_id: "replay-openai" });
	const second = await client.responses.create({
		...request,
		session_id: "replay-openai",
		input: [{ role: "user", content: fenced("echo once >>count") }, ...first.output, { role: "user", content: fenced("cat count") }],
	});
	const item = second.output.find((i) => i.type === "openrouter:shell");
	assert.equal(item.output[0].stdout, "once\n");
});

test("container files are listed and read", async () => {
	await client.responses.create({ ...request, input: fenced("mkdir -p out; printf 'a,b' >out/report.csv"), session_id: "files-openai" });
	const files = [];
	for await (const file of client.containers.files.list("sess_files-openai")) files.push(file);
	assert.deepEqual(files.map((f) => [f.id, f.path, f.bytes]), [["cfile_b3V0L3JlcG9ydC5jc3Y", "out/report.csv", 3]]);
	const file = await client.containers.files.retrieve(files[0].id, { container_id: "sess_files-openai" });
	assert.equal(file.path, "out/report.csv");
	const content = await client.containers.files.content.retrieve(files[0].id, { container_id: "sess_files-openai" });
	assert.equal(await content.text(), "a,b");
});

test("models.list has the built-in model", async () => {
	const ids = [];
	for await (const model of client.models.list()) ids.push(model.id);
	assert.ok(ids.includes("sandgate/script"));
});

test("errors become the class of their status", async () => {
	await assert.rejects(client.responses.create({ model: "no/such", input: "x" }), OpenAI.NotFoundError);
	await assert.rejects(client.responses.create({ ...request, store: true }), OpenAI.BadRequestError);
	const stranger = new OpenAI({ baseURL: url + "/api/v1", apiKey: "sk-sg-aaaaaaaa-wrong", maxRetries: 0 });
	await assert.rejects(stranger.responses.create(request), OpenAI.AuthenticationError);
});
