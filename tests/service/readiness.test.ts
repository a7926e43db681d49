import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { textOf as busy } from "../../registry/texts.ts";
import { createDisk } from "../../service/data-dir.ts";
import { watchStore } from "../../service/github-composition.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import { Local, textOf, wms } from "../helpers/local.ts";
import { suite } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";

const test = freshSuite("readyz", async (use) => {
	const local = use(await Local.open({ storeLimits: { pollMs: 20, probeMs: 0 } }));
	await local.filesIdle();
	return { local };
});

function ready(local: Local): string {
	const { status } = local.get("/readyz");
	return `${status} ${textOf(local.get("/readyz"))}`;
}

test("readyz answers 200 while all is well", ({ local }) => {
	assert.is(ready(local), "200 ok\n");
});

for (const [name, text] of [
	["HEAD", "\0\0\0"],
	["config", "[core\n"],
	["config", ""],
] as const) {
	const what = text === "" ? "empty" : "damaged";
	test(`${what} ${name} of the repository is named; the command of the log repairs it`, async ({ local }) => {
		const path = join(local.repository, name);
		assert.is((await local.put("a")).status, 201);
		await writeFile(path, text);
		await eventually(() => ready(local) === `503 the file ${name} of the repository is damaged\n`);
		const advice = `${path}: is damaged. No layer is lost: `;
		assert.is(local.warnings.filter((warning) => warning.startsWith(advice)).length, 1);
		await local.stop();
		if (text !== "") {
			const refused = await local.start().catch((error: Error) => error.message);
			assert.match(String(refused), advice);
			const [, command = ""] = /"([^"]+)"/.exec(String(refused)) ?? [];
			execFileSync("sh", ["-c", command]);
		}
		await local.start();
		assert.is(ready(local), "200 ok\n");
		assert.is(local.get("/v0.9/doc/en/a").status, 200);
		assert.is((await local.put("b")).status, 201);
	});
}

test("a disk that is nearly full is named before it is full, and writes go on", async ({ local }) => {
	local.freeBytes = 3_500_000;
	await local.lookAtDisk();
	assert.is(ready(local), "503 only 3 MB are left on the disk of DATA_DIR, and 64 MB should be\n");
	assert.is((await local.put("a")).status, 201);
	assert.is(local.get("/healthz").status, 200);
	local.freeBytes = 1 << 30;
	await local.lookAtDisk();
	assert.is(ready(local), "200 ok\n");
});

test("a disk that cannot be read is named, without its path", async ({ local }) => {
	local.freeBytes = Object.assign(new Error(`EIO: ${local.folder}`), { code: "EIO" });
	await local.lookAtDisk();
	assert.is(ready(local), "503 DATA_DIR cannot be checked: EIO\n");
});

test("a disk that has become read-only is named before anybody writes", async () => {
	let isReadOnly = true;
	const check = async () => {
		if (isReadOnly) throw Object.assign(new Error("EROFS: /secret/place"), { code: "EROFS" });
	};
	const disk = createDisk("/data", async () => 1e12, check);
	await disk.check();
	assert.is(disk.state(), "DATA_DIR cannot be written: EROFS");
	isReadOnly = false;
	await disk.check();
	assert.is(disk.state(), null);
	const gone = createDisk("/nowhere/at/all", async () => 1e12);
	await gone.check();
	assert.is(gone.state(), "DATA_DIR cannot be written: ENOENT");
});

test("a senders file that cannot be read is named; reads and writes go on", async ({ local }) => {
	local.sendersProblem = "the senders file cannot be read: EACCES; the senders stay as they were";
	assert.is(ready(local), `503 ${local.sendersProblem}\n`);
	assert.is((await local.put("a")).status, 201);
	local.sendersProblem = null;
	assert.is(ready(local), "200 ok\n");
});

test("a branch that was removed is named; what is served stays", async ({ local }) => {
	await local.put("a", wms("stays"));
	const tip = local.store.tip;
	await local.git("update-ref", "-d", "refs/heads/main");
	await eventually(() => local.get("/readyz").status === 503);
	assert.match(
		ready(local),
		/^503 .*(?:the branch main is gone from the repository|the repository is damaged)/,
	);
	assert.is(local.get("/v0.9/doc/en/a").status, 200);
	await local.git("update-ref", "refs/heads/main", tip);
	await eventually(() => local.get("/readyz").status === 200);
});

const github = suite("readyz with GitHub");

github("GitHub's silence is named, and GitHub asked again before anybody writes", async () => {
	let isDown = false;
	let asked = 0;
	let nowMs = 0;
	const ask = async () => {
		asked += 1;
		if (isDown) throw new StoreBusy(busy("github-silent"), 5);
	};
	const store: Store = {
		published: false,
		read: async () => null,
		ids: async () => null,
		keys: async () => ask().then(() => []),
		change: async () => ask().then(() => ({ commit: "c", changed: true })),
	};
	const watched = watchStore(store, () => nowMs);
	const meta = {
		author: "a",
		time: 0,
		subject: "s",
		trailers: [],
		request: null,
		review: false,
		smallkey: "k",
	};
	const write = () => watched.store.change(async () => [], meta);
	await write();
	assert.is(watched.state(), null);
	isDown = true;
	const refused = await write().catch((error: Error) => error.message);
	assert.is(refused, "GitHub does not answer; send the same again later");
	assert.match(watched.state() ?? "", "GitHub does not answer");
	assert.is(asked, 2, "not asked again at once");
	isDown = false;
	nowMs = 30_000;
	assert.match(watched.state() ?? "", "GitHub does not answer");
	await eventually(() => watched.state() === null);
	assert.is(asked, 3);
});

test.run();
github.run();
