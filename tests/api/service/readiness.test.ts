import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { answerPlain } from "../../../api/app.ts";
import { createDisk } from "../../../api/service/data-dir.ts";
import { Local, textOf, wms } from "../../helpers/local.ts";
import { freshSuite } from "../../helpers/world.ts";

const test = freshSuite("readyz", async (use) => {
	const local = use(await Local.open({ storeLimits: { pollMs: 20 } }));
	await local.filesIdle();
	return { local };
});

function ready(local: Local): string {
	const reply = answerPlain({ kind: "readyz" }, local.context);
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
		assert.is(ready(local), "503 the repository is damaged\n");
		await local.restart();
		assert.ok(local.warnings.some((warning) => warning.startsWith(`${path}: was damaged`)));
		assert.is(ready(local), "200 ok\n");
		assert.is((await local.get("/v0.9/doc/en/a")).status, 200);
		assert.is((await local.put("b")).status, 201);
	});
}

test("a disk that is nearly full is named before it is full, and writes go on", async ({ local }) => {
	local.freeBytes = 3_500_000;
	await local.lookAtDisk();
	assert.is(ready(local), "503 only 3 MB are left on the disk of DATA_DIR, and 64 MB should be\n");
	assert.is((await local.put("a")).status, 201);
	assert.is((await local.get("/healthz")).status, 200);
	local.freeBytes = 1 << 30;
	await local.lookAtDisk();
	assert.is(ready(local), "200 ok\n");
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

const shared = freshSuite("a write", async (use) => {
	const local = use(await Local.open({ storeLimits: { pollMs: 3_600_000, silenceMs: 2_000 } }));
	assert.is((await local.put("first")).status, 201);
	return { local };
});

const hookOf = ({ repository }: Local) => join(repository, "hooks/reference-transaction");

async function hookWith(local: Local, command: string): Promise<void> {
	await mkdir(dirname(hookOf(local)), { recursive: true });
	const lines = ["#!/bin/sh", 'case "$(cat)" in *refs/heads/*) ;; *) exit 0 ;; esac', command, "exit 1", ""];
	await writeFile(hookOf(local), lines.join("\n"), { mode: 0o755 });
}

/**
 * Each cause, the reason that a publisher gets, and that of `/readyz`. The service does not recover from the last two.
 */
const causes: [cause: (local: Local) => unknown, reason: RegExp, state: RegExp][] = [
	[(local) => hookWith(local, "echo something else >&2"), /is busy/, /^503 git failed$/],
	[
		(local) => hookWith(local, "echo No space left on device >&2"),
		/^the disk of this service is full/,
		/^503 there is no room on the disk$/,
	],
	[(local) => hookWith(local, "sleep 600"), /is busy/, /^503 git does not answer$/],
	[
		async (local) => local.git("update-ref", "refs/heads/main", await local.git("rev-parse", "main~1")),
		/^this service cannot make this change now: tell its operator, whose log says why$/,
		/^503 the branch main is at \w+, which does not have \w+,/,
	],
	[(local) => local.store.close(), /is busy/, /does not have/],
];

shared(
	"a write that git or the disk does not take is answered with 503 and the reason, and nothing is stored",
	async ({ local }) => {
		for (const [index, [cause, reason, state]] of causes.entries()) {
			await cause(local);
			const before = await local.state();
			const answer = await local.put("new", wms("other"));
			const { errors } = (await answer.json()) as { errors: string[] };
			assert.is(answer.status, 503, String(errors));
			assert.ok(Number(answer.headers.get("Retry-After")) > 0);
			assert.match(String(errors[0]), reason);
			assert.match(ready(local).trim(), state);
			assert.is(await local.state(), before);
			await rm(hookOf(local), { force: true });
			const { status } = await local.put("between", wms(crypto.randomUUID()));
			assert.is(status, index < 3 ? 201 : 503);
		}
	},
);

test.run();
shared.run();
