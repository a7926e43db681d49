import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { syncPath } from "../../store/git/base.ts";
import type { GitStore } from "../../store/git/git-store.ts";
import { isRefusal, StoreBusy } from "../../store/store.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import { committed, git, logTo, openEmpty, put } from "./git-store.ts";

/** What is ended and removed after each test, also after one that fails: a store keeps its process alive. */
const opened: GitStore[] = [];
const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];

async function newFolder() {
	const folder = await temporaryFolder();
	folders.push(folder);
	return folder;
}

async function open(...args: Parameters<typeof openEmpty>): Promise<GitStore> {
	const store = await openEmpty(...args);
	opened.push(store);
	return store;
}

test.after.each(async () => {
	for (const store of opened.splice(0)) await store.close();
	for (const folder of folders.splice(0)) await folder.remove();
});

/** The id of a signed request. */
const requestOf = (review: boolean): string => (review ? "b" : "a").repeat(64);

/** Takes the requests out of a log. */
async function forgetRequests(folder: string): Promise<void> {
	for (const name of await readdir(folder)) {
		const lines = (await readFile(join(folder, name), "latin1")).split("\n");
		await writeFile(join(folder, name), lines.filter((line) => !/^[0-9a-f]{64} /.test(line)).join("\n"));
	}
}

test("a change is answered after its pack and its branch are on the disk, names too", async () => {
	const folder = await newFolder();
	const synced: { path: string; head: string }[] = [];
	const sync = async (path: string) => {
		await syncPath(path);
		synced.push({ path, head: await git(folder.path, "rev-parse", "refs/heads/main").catch(() => "") });
	};
	const store = await open(folder.path, { sync });
	const repository = join(folder.path, "repository.git");
	const made = synced.map(({ path }) => path);
	for (const path of ["HEAD", "config", "objects", "refs"]) assert.ok(made.includes(join(repository, path)));
	for (const path of [repository, folder.path, dirname(folder.path), "/"]) assert.ok(made.includes(path));
	synced.length = 0;
	const commit = await committed(put(store, "one"));
	const [pack, refs] = synced.filter(({ path }) => path.startsWith(repository));
	const before = await git(folder.path, "rev-parse", `${commit}^`);
	assert.equal(pack, { path: join(repository, "objects/pack"), head: before }, "before a branch names it");
	assert.equal(refs, { path: join(repository, "refs/heads"), head: commit });
	synced.length = 0;
	const review = await committed(put(store, "one", "two", { review: true }));
	const names = synced.map(({ path }) => path.slice(repository.length + 1));
	const folders = names.filter((name) => /^(objects|refs)/.test(name));
	assert.equal(folders, ["objects/pack", "refs/heads/register", "refs/heads"]);
	assert.is(await git(folder.path, "rev-parse", "refs/heads/register/one"), review);
});

test("a request that changes nothing is on the disk before its answer", async () => {
	const folder = await newFolder();
	const store = await open(folder.path);
	await committed(put(store, "one"));
	for (const request of ["c".repeat(64), "d".repeat(64)]) {
		await committed(store.change(async () => [], metaOf("one", { request })));
		const log = join(folder.path, "requests");
		const texts = await Promise.all((await readdir(log)).map((name) => readFile(join(log, name), "utf8")));
		assert.match(texts.join(""), new RegExp(`^${request} .*\n`, "m"));
	}
});

test("a request whose answer was never noted is used all the same, where a branch has its commit", async () => {
	const folder = await newFolder();
	for (const review of [false, true]) {
		const store = await open(folder.path);
		const request = requestOf(review);
		await committed(put(store, "one", `first-${review}`, { review, request }));
		// As a power cut before the answer may leave it.
		await store.close();
		await forgetRequests(join(folder.path, "requests"));
		const reopened = await open(folder.path);
		await committed(
			put(reopened, "one", `second-${review}`, { review, request: (review ? "f" : "e").repeat(64) }),
		);
		const again = await put(reopened, "one", `first-${review}`, { review, request });
		assert.equal(isRefusal(again) && again.status, 401);
		await reopened.close();
		await rm(join(folder.path, "requests"), { recursive: true });
	}
});

test("a change whose folders cannot be put on the disk is not acknowledged", async () => {
	const folder = await newFolder();
	let isBroken = false;
	const reported: unknown[] = [];
	const sync = async (path: string) => {
		if (isBroken) throw new Error("EIO: i/o error, fsync");
		await syncPath(path);
	};
	const store = await open(folder.path, { sync, log: logTo(reported) });
	isBroken = true;
	const error = await put(store, "one").catch((error: unknown) => error);
	assertBusy(error, "le dépôt ne peut pas être modifié");
	assert.ok(reported.some((error) => /EIO/.test(String(error))));
	isBroken = false;
	await committed(put(store, "two"));
});

test("a disk that does not answer is a refusal for publishers, and nothing was stored", async () => {
	const folder = await newFolder();
	let goOn = (): void => undefined;
	let hangs: Promise<void> = Promise.resolve();
	const sync = async (path: string) => {
		if (path.endsWith("objects/pack")) await hangs;
		await syncPath(path);
	};
	const store = await open(folder.path, { sync, limits: { silenceMs: 3_000 } });
	const before = await git(folder.path, "rev-parse", "refs/heads/main");
	hangs = new Promise((resolve) => {
		goOn = resolve;
	});
	const error = await put(store, "one").catch((error: unknown) => error);
	assertBusy(error, "le disque ne répond pas");
	assert.is(store.state(), "the disk does not answer");
	assert.is(await git(folder.path, "rev-parse", "refs/heads/main"), before);
	hangs = Promise.resolve();
	goOn();
	await committed(put(store, "two"));
	assert.is(store.state(), null);
	assert.is(await store.read("one"), null);
});

test("a disk that does not answer once the branch has moved is a refusal, and blocks no later change", async () => {
	const folder = await newFolder();
	let isHanging = false;
	const sync = async (path: string) => {
		if (isHanging && path.endsWith("refs/heads")) await new Promise(() => undefined);
		await syncPath(path);
	};
	const store = await open(folder.path, { sync, limits: { silenceMs: 3_000 } });
	isHanging = true;
	const error = await put(store, "one").catch((error: unknown) => error);
	assertBusy(error, "le disque ne répond pas");
	isHanging = false;
	await committed(put(store, "two"));
	assert.is(store.state(), null);
});

test("a folder that cannot be synced by itself is no obstacle, one that is gone is", async () => {
	const folder = await newFolder();
	await syncPath(folder.path);
	await rm(folder.path, { recursive: true });
	const error = await syncPath(folder.path).then(
		() => null,
		(error: NodeJS.ErrnoException) => error.code,
	);
	assert.is(error, "ENOENT");
	assert.not.instance(error, StoreBusy);
});

test.run();
