import files, { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { watchDisk } from "../../../api/service/data-dir.ts";
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

test("a disk that is nearly full is named before it is full, and writes go on", async ({ local }) => {
	await local.lookAtDisk(3_500_000);
	assert.is(await ready(local), "503 only 3 MB are left on the disk of DATA_DIR, and 64 MB should be\n");
	assert.is((await local.put("a")).status, 201);
	assert.is((await local.get("/healthz")).status, 200);
	await local.lookAtDisk(1 << 30);
	assert.is(await ready(local), "200 ok\n");
});

test("a disk that has become read-only is named before anybody writes", async () => {
	const { access } = files;
	using _ = { [Symbol.dispose]: () => Object.assign(files, { access }) };
	files.access = async () => {
		throw Object.assign(new Error("EROFS: /secret/place"), { code: "EROFS" });
	};
	const disk = watchDisk("/");
	await disk.check();
	assert.is(disk.state(), "DATA_DIR cannot be written: EROFS");
	files.access = async () => undefined;
	await disk.check();
	assert.is(disk.state(), null);
	const gone = watchDisk("/nowhere/at/all");
	await gone.check();
	assert.is(gone.state(), "DATA_DIR cannot be checked: ENOENT");
});

test("a senders file that cannot be read is named; reads and writes go on", async ({ local }) => {
	local.sendersProblem = "the senders file cannot be read: EACCES; the senders stay as they were";
	assert.is(await ready(local), `503 ${local.sendersProblem}\n`);
	assert.is((await local.put("a")).status, 201);
	local.sendersProblem = null;
	assert.is(await ready(local), "200 ok\n");
});

test.run();
