import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { Local, textOf } from "../../helpers/local.ts";
import { freshSuite } from "../../helpers/world.ts";

const test = freshSuite("readyz", async (use) => {
	const local = use(await Local.open({ storeLimits: { pollMs: 20 } }));
	await local.filesIdle();
	return { local };
});

async function ready(local: Local): Promise<string> {
	const reply = await local.get("/readyz");
	return `${reply.status} ${textOf(reply)}`;
}

for (const [name, text] of [
	["HEAD", "\0\0\0"],
	["config", "[core\n"],
] as const) {
	test(`a damaged ${name} is named by the next write, and written again at a start`, async ({ local }) => {
		const path = join(local.repository, name);
		assert.is((await local.put("a")).status, 201);
		await writeFile(path, text);
		assert.is((await local.put("b")).status, 503);
		assert.is(await ready(local), "503 the repository is damaged\n");
		await local.restart();
		assert.ok(local.warnings.some((warning) => warning.startsWith(`${path}: was damaged`)));
		assert.is(await ready(local), "200 ok\n");
		assert.is((await local.get("/v0.9/doc/en/a")).status, 200);
		assert.is((await local.put("b")).status, 201);
	});
}

test("a senders file that cannot be read is named; reads and writes go on", async ({ local }) => {
	local.sendersProblem = "the senders file cannot be read: EACCES; the senders stay as they were";
	assert.is(await ready(local), `503 ${local.sendersProblem}\n`);
	assert.is((await local.put("a")).status, 201);
	local.sendersProblem = null;
	assert.is(await ready(local), "200 ok\n");
});

test.run();
