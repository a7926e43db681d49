import { existsSync, watch } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { StoreBusy } from "../../store/store.ts";
import { GitTimeout, runGit } from "../../system/git/run.ts";
import { Local } from "../helpers/local.ts";
import { descendantsWith, signalIfThere } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { committed, git, logTo, openEmpty, put } from "./git-store.ts";

/** Limits that a test can wait for. */
const limits = {
	silenceMs: 2_000,
	probeMs: 50,
	pollMs: 20,
	waitMs: 10_000,
	closeMs: 3_000,
};

const test = freshSuite("git that hangs or dies", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const reported: unknown[] = [];
	const store = use(await openEmpty(folder, { limits, log: logTo(reported) }));
	await committed(put(store, "before"));
	return { folder, store, reported };
});

/** Sends a signal to the store's own processes of one command. */
function signal(folder: string, command: string, name: NodeJS.Signals): number[] {
	const pids = descendantsWith(process.pid, folder, command);
	assert.ok(pids.length > 0, `there is a git ${command}`);
	for (const pid of pids) signalIfThere(pid, name);
	return pids;
}

const isThere = (pid: number, folder: string) => descendantsWith(process.pid, folder).includes(pid);

/** What a change fails with, or its commit. */
function outcomeOf(change: Promise<unknown>): Promise<unknown> {
	return change.catch((error: unknown) => error);
}

test("a stopped writer is ended and replaced: what waits is refused for a retry, the next is written", async ({
	folder,
	store,
	reported,
}) => {
	const [pid] = signal(folder, "update-ref", "SIGSTOP");
	const error = await outcomeOf(put(store, "while"));
	assert.instance(error, StoreBusy);
	assert.match(String(error), "git does not answer");
	assert.ok((error as StoreBusy).retryAfter > 0);
	assert.is(store.state(), "git does not answer");
	assert.ok(reported.some((error) => /update-ref: did not answer/.test(String(error))));
	await eventually(() => !isThere(pid as number, folder));
	await committed(put(store, "after"));
	assert.is(store.state(), null);
	assert.ok(await store.read("before"));
	assert.ok(await store.read("after"));
	assert.is(await store.read("while"), null, "its answer was that nothing was stored");
});

test("a git that stores commits and is stopped is ended and replaced, too", async ({ folder, store }) => {
	const [pid] = signal(folder, "fast-import", "SIGSTOP");
	const error = await outcomeOf(put(store, "while"));
	assert.instance(error, StoreBusy);
	assert.match(String(error), "git does not answer");
	await eventually(() => !isThere(pid as number, folder));
	await committed(put(store, "after"));
	assert.is(store.state(), null);
	assert.is(await store.read("while"), null);
	signal(folder, "fast-import", "SIGKILL");
	await committed(put(store, "last"));
});

test("a stopped reader is ended and replaced", async ({ folder, store }) => {
	await store.read("before");
	const [pid] = signal(folder, "cat-file", "SIGSTOP");
	assert.instance(await outcomeOf(store.read("before")), GitTimeout);
	await eventually(() => !isThere(pid as number, folder));
	assert.ok(await store.read("before"));
	signal(folder, "cat-file", "SIGSTOP");
	assert.instance(await outcomeOf(put(store, "while")), StoreBusy);
	await committed(put(store, "after"));
	assert.is(store.state(), null);
});

test("what is at work while git is stopped is answered, and nothing acknowledged is lost", async ({
	folder,
	store,
}) => {
	const acknowledged: string[] = [];
	let isWorking = true;
	const publishers = Array.from({ length: 16 }, async (_, index) => {
		for (let turn = 0; isWorking; turn += 1) {
			const smallkey = `k${index}-${turn}`;
			const outcome = await outcomeOf(put(store, smallkey));
			if (outcome instanceof StoreBusy) continue;
			assert.not.instance(outcome, Error);
			acknowledged.push(smallkey);
		}
	});
	for (const command of ["update-ref", "cat-file", "update-ref"]) {
		const before = acknowledged.length;
		await eventually(() => acknowledged.length > before + 20);
		await eventually(() => descendantsWith(process.pid, folder, command).length > 0);
		signal(folder, command, "SIGSTOP");
	}
	const before = acknowledged.length;
	await eventually(() => acknowledged.length > before + 20);
	isWorking = false;
	await Promise.all(publishers);
	for (const smallkey of acknowledged) assert.ok(await store.read(smallkey), smallkey);
	assert.is(await git(folder, "fsck", "--strict", "--no-dangling"), "");
});

test("a writer that dies is replaced, and no caller notices", async ({ folder, store }) => {
	for (let round = 0; round < 5; round += 1) {
		const changes = Array.from({ length: 8 }, (_, index) => put(store, `k${round}-${index}`));
		signal(folder, "update-ref", "SIGKILL");
		for (const commit of await Promise.all(changes.map(committed))) assert.match(commit, /^[0-9a-f]{40}$/);
	}
	assert.is(await git(folder, "rev-list", "--count", "refs/heads/main"), "42");
});

test("a reader that dies is replaced, and no caller notices", async ({ folder, store }) => {
	await store.read("before");
	for (let round = 0; round < 5; round += 1) {
		const reads = Array.from({ length: 8 }, () => store.read("before"));
		signal(folder, "cat-file", "SIGKILL");
		for (const layer of await Promise.all(reads)) assert.ok(layer);
	}
});

test("a writer at rest that was stopped is found before anybody waits for it", async ({ folder, store }) => {
	store.start();
	const [pid] = signal(folder, "update-ref", "SIGSTOP");
	await eventually(() => !isThere(pid as number, folder));
	await eventually(() => store.state() === null);
	await committed(put(store, "after"));
});

for (const command of ["update-ref", "fast-import", "cat-file"]) {
	test(`an end comes although ${command} is stopped, and a caller waits`, async ({ folder, store }) => {
		await store.read("before");
		signal(folder, command, "SIGSTOP");
		const waiting = outcomeOf(put(store, "while"));
		await store.close();
		assert.instance(await waiting, StoreBusy);
		assert.instance(await outcomeOf(put(store, "late")), StoreBusy);
		await eventually(() => descendantsWith(process.pid, folder).length === 0);
	});
}

test("publishers hear 503 with Retry-After, and readyz says why", async () => {
	await using local = await Local.open({ storeLimits: { ...limits, probeMs: 60_000 } });
	assert.is((await local.put("before")).status, 201);
	signal(local.folder, "update-ref", "SIGSTOP");
	const answer = await local.put("while");
	assert.is(answer.status, 503);
	assert.ok(Number(answer.headers.get("Retry-After")) > 0);
	assert.match(await answer.text(), "the layers cannot be changed now: git does not answer");
	assert.match(local.context.readiness() ?? "", "git does not answer");
	assert.is(local.get("/v0.9/doc/en/before").status, 200, "reads go on");
	local.now += 1000;
	assert.is((await local.put("while")).status, 201);
	assert.is(local.context.readiness(), null);
});

/** Runs a task with another git in the path. */
async function withGit(script: string | null, task: () => Promise<void>): Promise<void> {
	await using folder = await temporaryFolder();
	const before = process.env.PATH;
	const bin = join(folder.path, "bin");
	await mkdir(bin);
	if (script !== null) {
		await writeFile(join(bin, "git"), `#!/bin/sh\n${script}\n`);
		await chmod(join(bin, "git"), 0o755);
	}
	process.env.PATH = script === null ? bin : `${bin}:${before}`;
	try {
		await task();
	} finally {
		process.env.PATH = before;
	}
}

test("a command that takes too long is ended, with what it has started", async ({ folder }) => {
	await withGit("sleep 600 &\nsleep 600", async () => {
		const repository = join(folder, "repository.git");
		const running = outcomeOf(runGit(repository, ["log"], { limitMs: 1_000 }));
		let started: number[] = [];
		await eventually(() => {
			started = descendantsWith(process.pid, "sleep 600");
			return started.length === 2;
		});
		const error = await running;
		assert.instance(error, GitTimeout);
		assert.match(String(error), "git log: did not answer within 1 s and was ended");
		await eventually(() => !started.some((pid) => existsSync(`/proc/${pid}/exe`)));
	});
});

test("a git that is missing for a while, as during an update, ends no service", async ({ folder, store }) => {
	store.start();
	await withGit(null, async () => {
		for (const command of ["update-ref", "fast-import"]) signal(folder, command, "SIGKILL");
		await eventually(() => descendantsWith(process.pid, folder, "fast-import").length === 0);
		assert.match(String(await outcomeOf(put(store, "while"))), "git could not be started");
		let checks = 0;
		// Each check of a store that has failed writes this file first.
		const watcher = watch(join(folder, "repository.git"), (_, name) => {
			if (name === "probe") checks += 1;
		});
		await eventually(() => checks >= 6);
		watcher.close();
		assert.is(store.state(), "git could not be started");
	});
	await eventually(() => store.state() === null);
	await committed(put(store, "after"));
});

test("no git, or one that is too old, is a start that says so", async ({ folder }) => {
	const rule = /^Error: git: must be 2\.36 or newer/;
	await withGit(null, async () => {
		assert.match(String(await outcomeOf(openEmpty(join(folder, "other")))), rule);
	});
	await withGit('echo "git version 2.35.9"', async () => {
		const text = String(await outcomeOf(openEmpty(join(folder, "other"))));
		assert.match(text, rule);
		assert.match(text, "not git version 2.35.9");
	});
});

test.run();
