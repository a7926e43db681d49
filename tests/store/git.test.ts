import { existsSync, renameSync, writeFileSync } from "node:fs";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { isRefusal } from "../../store/decide.ts";
import type { CommitRange } from "../../store/git/branch.ts";
import { listBranches } from "../../store/git/review-branches.ts";
import { syncPath } from "../../store/git/writer.ts";
import { serviceIdentity } from "../../store/naming.ts";
import { readerOf } from "../../store/reader.ts";
import { type Reader, StoreBusy } from "../../store/store.ts";
import { wms } from "../helpers/local.ts";
import { descendantsWith } from "../helpers/process.ts";
import { eventually, gate } from "../helpers/wait.ts";
import { sharedSuite, temporaryFolder, words, writeFiles } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import { committed, openEmpty, publishNothing, TestRepository } from "./git-store.ts";
import { replaceGit, signalledImport } from "./other-git.ts";

const made: string[] = [];

const test = sharedSuite("git store", async (use) => {
	const world = new TestRepository(use(await temporaryFolder()).path);
	world.sync = async (path) => {
		made.push(path);
		await syncPath(path);
	};
	await world.open();
	return { world: use(world) };
});
test.after.each(({ world }) => void Object.assign(world, { sync: syncPath, publish: publishNothing }));

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const silenceMs = 3_000;

test("a new repository is on the disk with all folders on its path, and set up", async ({ world }) => {
	for (const name of ["HEAD", "config", "objects", "refs"]) assert.ok(made.includes(join(world.path, name)));
	for (const path of [world.path, world.folder, dirname(world.folder), "/"]) assert.ok(made.includes(path));
	assert.match(made.slice(-2).join(), /objects\/pack,.*refs\/heads$/);
	const settings = await world.git("config", "--local", "--list");
	for (const setting of [
		...["core.fsync=committed", "core.hookspath=hooks", "gc.auto=0", "maintenance.auto=false"],
		...["receive.fsckobjects=true", "receive.autogc=false", "receive.unpacklimit=1"],
		`receive.maxinputsize=${256 << 20}`,
	])
		assert.ok(words(settings).includes(setting), setting);
});

test("a commit names its sender, its time, its trailers and the service", async ({ world }) => {
	const request = "a".repeat(64);
	const time = Date.UTC(2026, 2, 4, 12);
	const commit = await committed(
		world.put("who", "a", { author: "energy", time, subject: "register who (wms)", request }),
	);
	const format = "--format=%an <%ae> %at%n%cn <%ce>%n%B";
	assert.is(
		await world.git("log", "-1", format, commit),
		`energy <energy@sender.invalid> ${time / 1000}\n${serviceIdentity}\nregister who (wms)\n\nSender: energy\nTimeStamp: 2026-03-04T12:00:00.000Z\nRequest: ${request}`,
	);
	assert.is(await world.tip(), commit);
});

test("a change is answered after the names of its pack and its branch are on the disk", async ({ world }) => {
	const synced: { name: string; head: string }[] = [];
	world.sync = async (path) => {
		await syncPath(path);
		if (path.startsWith(world.path))
			synced.push({ name: path.slice(world.path.length + 1), head: await world.tip() });
	};
	const commit = await committed(world.put("one"));
	assert.equal(synced, [
		{ name: "objects/pack", head: commit },
		{ name: "refs/heads", head: commit },
	]);
	synced.length = 0;
	await committed(world.put("one", "two", { review: true }));
	assert.equal(
		synced.map(({ name }) => name),
		["objects/pack", "refs/heads/register", "refs/heads"],
	);
});

test("groups reach branch, readers and senders in the order of their changes", async ({ world }) => {
	const ranges: CommitRange[] = [];
	const [held, release] = gate();
	world.publish = async (range) => {
		ranges.push(range);
		if (ranges.length === 1) await held;
		return true;
	};
	const first = await world.tip();
	const answered: string[] = [];
	const changes: Promise<string>[] = [];
	const add = () => {
		const change = committed(world.put("order", `change ${changes.length}`));
		void change.then((commit) => answered.push(commit));
		changes.push(change);
	};
	add();
	await eventually(() => ranges.length === 1);
	for (let index = 0; index < 6; index += 1) add();
	await world.git("rev-parse", "refs/heads/main");
	assert.equal([ranges.length, answered.length], [1, 0], "the first group is not readable yet");
	release();
	const commits = await Promise.all(changes);
	const listed = await world.git("rev-list", "--reverse", `${first}..refs/heads/main`);
	assert.equal([commits, answered], [words(listed), commits]);
	for (const [index, { from }] of ranges.entries()) assert.is(from, ranges[index - 1]?.to ?? first);
	assert.equal(
		ranges[0]?.changes.map(({ path }) => path),
		[layerPath("order")],
	);
});

test("a layer's last commit is found, a pushed one too", async ({ world }) => {
	const first = await committed(world.put("last", "first"));
	await committed(world.put("other", "first"));
	assert.is(await world.store.lastCommit("last"), first);
	await committed(world.put("last", "second"));
	const pushed = await world.commit("revert", `${first}^{tree}`);
	await committed(world.put("other", "fourth"));
	assert.is(await world.store.lastCommit("last"), pushed);
	assert.is(await world.store.lastCommit("none"), null);
});

test("only plain files are layers, those with an old mode of git, too", async () => {
	for (const mode of ["100644", "100755", "100664", "120000", "160000"]) {
		const folder = async () => new Map([["plain.json", { mode, id: "1" }]]);
		const { read, ids } = readerOf({ folder, text: async () => "text" });
		const parts = [await read("plain"), await ids("plain")].map((layer) => layer?.registration);
		assert.equal(parts, mode.startsWith("100") ? ["text", "1"] : [undefined, undefined], mode);
	}
});

test("no message of a commit can name another branch", async ({ world }) => {
	const message = "subject\n\nwhy\x01\nregister/other/x\n";
	const commit = await world.commit(message);
	await world.git("branch", "register/message", commit);
	const [branch, ...others] = await listBranches(world.path, [], ["register/message"]);
	assert.equal([branch?.name, branch?.message, others], ["register/message", message, []]);
});

test("a branch that has gone back is not followed, and nothing is written on it", async ({ world }) => {
	const served = await committed(world.put("back"));
	await world.git("update-ref", "refs/heads/main", `${served}^`);
	assert.instance(await outcomeOf(world.put("back", "other")), StoreBusy);
	assert.is(world.store.state(), "the repository is damaged");
	assert.is(await world.tip(), await world.git("rev-parse", `${served}^`));
	assert.is(world.store.tip, served);
	assert.match(world.log.join("\n"), /the branch main is at \w+, which does not have \w+,/);
	assert.match(world.log.join("\n"), `update-ref refs/heads/main ${served}" goes back to it`);
	await world.git("update-ref", "refs/heads/main", served);
	await committed(world.put("back", "other"));
	assert.is(world.store.state(), null);
});

test("locks that a killed process left refuse no change", async ({ world }) => {
	await world.restart({ lockMs: 60 });
	for (const name of ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]) {
		const lock = join(world.path, name);
		await writeFile(lock, "");
		// A clock that jumped may have given it any time.
		await utimes(lock, new Date("2100-01-01"), new Date("2100-01-01"));
		assert.is(await committed(world.put("locked", name)), await world.tip());
	}
	await committed(world.put("locked", "first", { review: true }));
	await writeFile(join(world.path, "refs/heads/register/locked.lock"), "");
	const before = world.store.tip;
	assert.ok(await committed(world.put("locked", "second", { review: true })));
	assert.is(world.store.tip, before);
});

test("a lock in changing hands is left alone", async ({ world }) => {
	await world.restart({ lockMs: 30 });
	const lock = join(world.path, "HEAD.lock");
	const changeHands = () => {
		writeFileSync(`${lock}.next`, "");
		renameSync(`${lock}.next`, lock);
	};
	changeHands();
	const working = setInterval(changeHands, 5);
	world.log.length = 0;
	const [refused, review] = [world.put("hands"), world.put("hands", "a", { review: true })];
	const busy = await outcomeOf(refused);
	await committed(review);
	assertBusy(busy, "branch-moved");
	assert.match(String(busy), /holding the branch main: .*HEAD\.lock/);
	clearInterval(working);
	assert.not.match(world.log.join("\n"), "HEAD.lock: removed");
	await committed(world.put("hands"));
});

function stopWriter({ folder }: TestRepository): Disposable {
	return replaceGit(folder, signalledImport(join(folder, `stopped-${Math.random()}`), "STOP"));
}

test("a disk that does not answer blocks no later change", async ({ world }) => {
	await world.restart({ silenceMs });
	const [held, release] = gate();
	world.sync = async (path) => {
		if (path.endsWith("refs/heads")) await held;
		await syncPath(path);
	};
	assertBusy(await outcomeOf(world.put("disk")), "busy");
	assert.is(world.store.state(), "the disk does not answer");
	release();
	await committed(world.put("two"));
	assert.is(world.store.state(), null);
	await world.restart();
});

test("a git fast-import that hangs is ended, and a refused change not stored", async ({ world }) => {
	await world.restart({ silenceMs });
	await committed(world.put("process"));
	const before = await world.tip();
	using _ = stopWriter(world);
	const error = await outcomeOf(world.put("hung"));
	assertBusy(error, "busy");
	assert.match(String(error), "git does not answer");
	assert.is(world.store.state(), "git does not answer");
	assert.is(await world.tip(), before);
	await eventually(() => descendantsWith(process.pid, world.folder, "fast-import").length === 0);
	await committed(world.put("process", "after"));
	assert.is(world.store.state(), null);
	assert.is(await world.read("hung"), null);
});

test("a git that is killed at the move of the branch leaves no pack that repacks omit", async ({ world }) => {
	await world.restart({ lockMs: 30, pollMs: 20, maxPacks: 2 });
	const [hook, mark] = ["hooks/reference-transaction", join(world.folder, "killed")];
	const executable = `#!/bin/sh\n[ -e '${mark}' ] || { : > '${mark}'; kill -9 $PPID; }\n`;
	writeFiles(world.path, { [hook]: { executable } });
	for (let round = 0; round < 3; round += 1) {
		assertBusy(await outcomeOf(world.put("kept", `round ${round}`)), "busy");
		assert.ok(existsSync(mark), "one was killed");
		await committed(world.put("kept", `round ${round}`));
		await rm(mark);
	}
	writeFiles(world.path, { [hook]: null });
	world.store.start();
	const names = () => readdir(join(world.path, "objects/pack"));
	await eventually(async () => !(await names()).some((name) => name.endsWith(".keep")));
	// Its repacks would lock refs that the next tests move.
	await world.restart();
});

test("a push between judging and commit is kept, and the change judged again", async ({ world }) => {
	const judgedOn: (string | undefined)[] = [];
	const pushed = await committed(world.put("meanwhile", "pushed", { review: true }));
	const before = await world.tip();
	const decide = async (now: Reader) => {
		judgedOn.push((await now.read("meanwhile"))?.registration);
		if (judgedOn.length === 1) await world.commit("pushed meanwhile", `${pushed}^{tree}`);
		return [{ path: layerPath("between"), text: wms("between") }];
	};
	const commit = await committed(world.store.change(decide, metaOf("between")));
	assert.equal(judgedOn, [undefined, wms("pushed")]);
	assert.is(await world.git("rev-parse", `${commit}~2`), before);
	assert.ok(await world.read("meanwhile"));
});

test("an end comes although git hangs, and those who wait are refused", async ({ world }) => {
	await world.restart({ silenceMs });
	await committed(world.put("process", "end"));
	using _ = stopWriter(world);
	const waiting = outcomeOf(world.put("process", "waits"));
	await world.store.close();
	assert.instance(await waiting, StoreBusy);
	assert.instance(await outcomeOf(world.put("process", "late")), StoreBusy);
	await eventually(() => descendantsWith(process.pid, world.folder).length === 0);
	await world.restart();
});

test("a git that is too old is a start that says so", async ({ world }) => {
	using _ = replaceGit(world.folder, 'echo "git version 2.35.9"');
	assert.match(String(await outcomeOf(openEmpty(world.folder))), "2.36 or newer, not git version 2.35.9");
});

test("a start keeps everything, and removes what a killed writer left", async ({ world }) => {
	await world.store.close();
	const pack = "objects/pack";
	const left = { "config.lock": "", [`${pack}/tmp_pack_x`]: "", fast_import_crash_1: "" };
	const own = { ...left, [`${pack}/pack-own.keep`]: "fast-import 1" };
	writeFiles(world.path, { ...own, [`${pack}/pack-kept.keep`]: "kept by the operator\n" });
	await world.restart({ lockMs: 60 });
	for (const name of Object.keys(own)) assert.not(existsSync(join(world.path, name)), name);
	assert.ok(existsSync(join(world.path, pack, "pack-kept.keep")));
	assert.ok(await world.read("one"));
});

for (const [what, error, failureMs, code, reason] of [
	["until a change succeeds", "EIO", 600_000, "read-only", "the repository cannot be written"],
	["not for ever", "ENOSPC", 0, "disk-full", null],
] as const)
	test(`a disk that fails acknowledges nothing, and is named ${what}`, async ({ world }) => {
		await world.restart({ failureMs });
		world.publish = () => new Promise((resolve) => setImmediate(resolve, true));
		for (const incident of ["the first", "another"]) {
			world.log.length = 0;
			world.sync = () => Promise.reject(new Error(error));
			for (const _ of ["once", "again"]) assertBusy(await outcomeOf(world.put("full")), code);
			assert.is(world.store.state(), reason);
			assert.match(world.log.join("\n"), /^.+(EIO|no room on the disk)$/, `${incident} is logged once`);
			const synced: string[] = [];
			world.sync = async (path) => void synced.push(path.slice(world.path.length + 1));
			await committed(world.store.change(async () => [], metaOf("full")));
			assert.equal(synced, ["objects/pack", "refs/heads"]);
			await committed(world.put("full"));
			assert.is(world.store.state(), null);
		}
	});

test("what git says of a failure is the reason, and nothing is stored", async ({ world }) => {
	await world.restart();
	for (const [words, code, reason] of [
		["No space left on device", "disk-full", "there is no room on the disk"],
		["Permission denied", "read-only", "the repository has files that this user may not write"],
	] as const) {
		const before = await world.tip();
		const fail = `mkdir '${world.folder}/${code}' && { echo ${words} >&2; exit 1; }`;
		{
			using _ = replaceGit(world.folder, `case $* in *fast-import*) ${fail}; esac; exec $git "$@"`);
			const both = [false, true].map((review) => outcomeOf(world.put("said", "a", { review })));
			for (const error of await Promise.all(both)) assertBusy(error, code);
		}
		await committed(world.store.change(async () => [], metaOf("one")));
		assert.is(world.store.state(), reason);
		assert.is(await world.tip(), before);
		await committed(world.put("said"));
	}
});

test("many packs are repacked", async ({ world }) => {
	const packs = async () =>
		(await readdir(join(world.path, "objects/pack"))).filter((name) => /\.pack$/.test(name)).length;
	const maxPacks = (await packs()) + 8;
	await world.restart({ pollMs: 20, maxPacks });
	const count = await world.git("rev-list", "--count", "main");
	for (let round = 0; round < 10; round += 1) await committed(world.put("packs", `round ${round}`));
	world.store.start();
	await eventually(async () => (await packs()) < maxPacks);
	await committed(world.put("packs", "after"));
	assert.is(Number(await world.git("rev-list", "--count", "main")), Number(count) + 11);
	await world.store.close();
	assert.is(await world.git("fsck", "--strict", "--no-dangling"), "");
	await world.open();
});

test("a request is used where a branch has its commit of the service, and only there", async ({ world }) => {
	const forget = async () => {
		await world.store.close();
		await rm(join(world.folder, "requests"), { recursive: true });
		await world.open();
	};
	const requestOf = (digit: string) => digit.repeat(64);
	const put = (request: string, parts = {}) => world.put("replay", `of ${request[0]}`, { request, ...parts });
	const isUsed = async (request: string, parts = {}) => {
		const outcome = await put(request, parts);
		return isRefusal(outcome) && outcome.status === 401;
	};
	for (const [digit, place] of ["main", "register", "declined"].entries()) {
		const [request, review] = [requestOf(String(digit)), place !== "main"];
		const commit = await committed(put(request, { review }));
		if (place === "declined") {
			await world.git("branch", "declined/register/replay/1", commit);
			await world.git("branch", "-D", "register/replay");
		}
		await forget();
		await committed(world.put("replay", "newer", { review }));
		assert.is(await isUsed(request, { review }), true, place);
	}
	for (const [who, digit] of [
		["fragment-publisher", "d"],
		["Ada", "e"],
	] as const) {
		const time = new Date().toISOString();
		await world.commit(`by hand\n\nTimeStamp: ${time}\nRequest: ${requestOf(digit)}`, undefined, who);
		await forget();
		assert.is(await isUsed(requestOf(digit)), who === "fragment-publisher");
	}
});

test.run();
