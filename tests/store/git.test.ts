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
import { commitIdOf, openEmpty, publishNothing, TestRepository } from "./git-store.ts";
import { replaceGit, signalledImport } from "./other-git.ts";

const made: string[] = [];

const test = sharedSuite("git store", async (use) => {
	const repository = new TestRepository(use(await temporaryFolder()).path);
	repository.sync = async (path) => {
		made.push(path);
		await syncPath(path);
	};
	await repository.open();
	return { repository: use(repository) };
});
test.after.each(
	({ repository }) => void Object.assign(repository, { sync: syncPath, publish: publishNothing }),
);

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const silenceMs = 3_000;

test("a new repository is on the disk with all folders on its path, and set up", async ({ repository }) => {
	for (const name of ["HEAD", "config", "objects", "refs"])
		assert.ok(made.includes(join(repository.path, name)));
	for (const path of [repository.path, repository.folder, dirname(repository.folder), "/"])
		assert.ok(made.includes(path));
	assert.match(made.slice(-2).join(), /objects\/pack,.*refs\/heads$/);
	const settings = await repository.git("config", "--local", "--list");
	for (const setting of [
		...["core.fsync=committed", "core.hookspath=hooks", "gc.auto=0", "maintenance.auto=false"],
		...["receive.fsckobjects=true", "receive.autogc=false", "receive.unpacklimit=1"],
		`receive.maxinputsize=${256 << 20}`,
	])
		assert.ok(words(settings).includes(setting), setting);
});

test("a commit names its sender, its time, its trailers and the service", async ({ repository }) => {
	const request = "a".repeat(64);
	const time = Date.UTC(2026, 2, 4, 12);
	const commit = await commitIdOf(
		repository.put("who", "a", { author: "energy", time, subject: "register who (wms)", request }),
	);
	const format = "--format=%an <%ae> %at%n%cn <%ce>%n%B";
	assert.is(
		await repository.git("log", "-1", format, commit),
		`energy <energy@sender.invalid> ${time / 1000}\n${serviceIdentity}\nregister who (wms)\n\nSender: energy\nTimeStamp: 2026-03-04T12:00:00.000Z\nRequest: ${request}`,
	);
	assert.is(await repository.tip(), commit);
});

test("a change is answered after the names of its pack and its branch are on the disk", async ({
	repository,
}) => {
	const synced: { name: string; head: string }[] = [];
	repository.sync = async (path) => {
		await syncPath(path);
		if (path.startsWith(repository.path))
			synced.push({ name: path.slice(repository.path.length + 1), head: await repository.tip() });
	};
	const commit = await commitIdOf(repository.put("one"));
	assert.equal(synced, [
		{ name: "objects/pack", head: commit },
		{ name: "refs/heads", head: commit },
	]);
	synced.length = 0;
	await commitIdOf(repository.put("one", "two", { review: true }));
	assert.equal(
		synced.map(({ name }) => name),
		["objects/pack", "refs/heads/register", "refs/heads"],
	);
});

test("groups reach branch, readers and senders in the order of their changes", async ({ repository }) => {
	const ranges: CommitRange[] = [];
	const [held, release] = gate();
	repository.publish = async (range) => {
		ranges.push(range);
		if (ranges.length === 1) await held;
		return true;
	};
	const first = await repository.tip();
	const answered: string[] = [];
	const changes: Promise<string>[] = [];
	const add = () => {
		const change = commitIdOf(repository.put("order", `change ${changes.length}`));
		void change.then((commit) => answered.push(commit));
		changes.push(change);
	};
	add();
	await eventually(() => ranges.length === 1);
	for (let index = 0; index < 6; index += 1) add();
	await repository.git("rev-parse", "refs/heads/main");
	assert.equal([ranges.length, answered.length], [1, 0], "the first group is not readable yet");
	release();
	const commits = await Promise.all(changes);
	const listed = await repository.git("rev-list", "--reverse", `${first}..refs/heads/main`);
	assert.equal([commits, answered], [words(listed), commits]);
	for (const [index, { from }] of ranges.entries()) assert.is(from, ranges[index - 1]?.to ?? first);
	assert.equal(
		ranges[0]?.changes.map(({ path }) => path),
		[layerPath("order")],
	);
});

test("a layer's last commit is found, a pushed one too", async ({ repository }) => {
	const first = await commitIdOf(repository.put("last", "first"));
	await commitIdOf(repository.put("other", "first"));
	assert.is(await repository.store.lastCommit("last"), first);
	await commitIdOf(repository.put("last", "second"));
	const pushed = await repository.commit("revert", `${first}^{tree}`);
	await commitIdOf(repository.put("other", "fourth"));
	assert.is(await repository.store.lastCommit("last"), pushed);
	assert.is(await repository.store.lastCommit("none"), null);
});

test("only plain files are layers, those with an old mode of git, too", async () => {
	for (const mode of ["100644", "100755", "100664", "120000", "160000"]) {
		const folder = async () => new Map([["plain.json", { mode, id: "1" }]]);
		const { read, ids } = readerOf({ folder, text: async () => "text" });
		const parts = [await read("plain"), await ids("plain")].map((layer) => layer?.registration);
		assert.equal(parts, mode.startsWith("100") ? ["text", "1"] : [undefined, undefined], mode);
	}
});

test("no message of a commit can name another branch", async ({ repository }) => {
	const message = "subject\n\nwhy\x01\nregister/other/x\n";
	const commit = await repository.commit(message);
	await repository.git("branch", "register/message", commit);
	const [branch, ...others] = await listBranches(repository.path, [], ["register/message"]);
	assert.equal([branch?.name, branch?.message, others], ["register/message", message, []]);
});

test("a branch that has gone back is not followed, and nothing is written on it", async ({ repository }) => {
	const served = await commitIdOf(repository.put("back"));
	await repository.git("update-ref", "refs/heads/main", `${served}^`);
	assert.instance(await outcomeOf(repository.put("back", "other")), StoreBusy);
	assert.is(repository.store.state(), "the repository is damaged");
	assert.is(await repository.tip(), await repository.git("rev-parse", `${served}^`));
	assert.is(repository.store.tip, served);
	assert.match(repository.log.join("\n"), /the branch main is at \w+, which does not have \w+,/);
	assert.match(repository.log.join("\n"), `update-ref refs/heads/main ${served}" goes back to it`);
	await repository.git("update-ref", "refs/heads/main", served);
	await commitIdOf(repository.put("back", "other"));
	assert.is(repository.store.state(), null);
});

test("locks that a killed process left refuse no change", async ({ repository }) => {
	await repository.restart({ lockMs: 60 });
	for (const name of ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]) {
		const lock = join(repository.path, name);
		await writeFile(lock, "");
		// A clock that jumped may have given it any time.
		await utimes(lock, new Date("2100-01-01"), new Date("2100-01-01"));
		assert.is(await commitIdOf(repository.put("locked", name)), await repository.tip());
	}
	await commitIdOf(repository.put("locked", "first", { review: true }));
	await writeFile(join(repository.path, "refs/heads/register/locked.lock"), "");
	const before = repository.store.tip;
	assert.ok(await commitIdOf(repository.put("locked", "second", { review: true })));
	assert.is(repository.store.tip, before);
});

test("a lock in changing hands is left alone", async ({ repository }) => {
	await repository.restart({ lockMs: 30 });
	const lock = join(repository.path, "HEAD.lock");
	const changeHands = () => {
		writeFileSync(`${lock}.next`, "");
		renameSync(`${lock}.next`, lock);
	};
	changeHands();
	const working = setInterval(changeHands, 5);
	repository.log.length = 0;
	const [refused, review] = [repository.put("hands"), repository.put("hands", "a", { review: true })];
	const busy = await outcomeOf(refused);
	await commitIdOf(review);
	assertBusy(busy, "branch-moved");
	assert.match(String(busy), /holding the branch main: .*HEAD\.lock/);
	clearInterval(working);
	assert.not.match(repository.log.join("\n"), "HEAD.lock: removed");
	await commitIdOf(repository.put("hands"));
});

function stopWriter({ folder }: TestRepository): Disposable {
	return replaceGit(folder, signalledImport(join(folder, `stopped-${Math.random()}`), "STOP"));
}

test("a disk that does not answer blocks no later change", async ({ repository }) => {
	await repository.restart({ silenceMs });
	const [held, release] = gate();
	repository.sync = async (path) => {
		if (path.endsWith("refs/heads")) await held;
		await syncPath(path);
	};
	assertBusy(await outcomeOf(repository.put("disk")), "busy");
	assert.is(repository.store.state(), "the disk does not answer");
	release();
	await commitIdOf(repository.put("two"));
	assert.is(repository.store.state(), null);
	await repository.restart();
});

test("a git fast-import that hangs is ended, and a refused change not stored", async ({ repository }) => {
	await repository.restart({ silenceMs });
	await commitIdOf(repository.put("process"));
	const before = await repository.tip();
	using _ = stopWriter(repository);
	const error = await outcomeOf(repository.put("hung"));
	assertBusy(error, "busy");
	assert.match(String(error), "git does not answer");
	assert.is(repository.store.state(), "git does not answer");
	assert.is(await repository.tip(), before);
	await eventually(() => descendantsWith(process.pid, repository.folder, "fast-import").length === 0);
	await commitIdOf(repository.put("process", "after"));
	assert.is(repository.store.state(), null);
	assert.is(await repository.read("hung"), null);
});

test("a git that is killed at the move of the branch leaves no pack that repacks omit", async ({
	repository,
}) => {
	await repository.restart({ lockMs: 30, pollMs: 20, maxPacks: 2 });
	const [hook, mark] = ["hooks/reference-transaction", join(repository.folder, "killed")];
	const executable = `#!/bin/sh\n[ -e '${mark}' ] || { : > '${mark}'; kill -9 $PPID; }\n`;
	writeFiles(repository.path, { [hook]: { executable } });
	for (let round = 0; round < 3; round += 1) {
		assertBusy(await outcomeOf(repository.put("kept", `round ${round}`)), "busy");
		assert.ok(existsSync(mark), "one was killed");
		await commitIdOf(repository.put("kept", `round ${round}`));
		await rm(mark);
	}
	writeFiles(repository.path, { [hook]: null });
	repository.store.start();
	const names = () => readdir(join(repository.path, "objects/pack"));
	await eventually(async () => !(await names()).some((name) => name.endsWith(".keep")));
	// Its repacks would lock refs that the next tests move.
	await repository.restart();
});

test("a push between judging and commit is kept, and the change judged again", async ({ repository }) => {
	const judgedOn: (string | undefined)[] = [];
	const pushed = await commitIdOf(repository.put("meanwhile", "pushed", { review: true }));
	const before = await repository.tip();
	const decide = async (now: Reader) => {
		judgedOn.push((await now.read("meanwhile"))?.registration);
		if (judgedOn.length === 1) await repository.commit("pushed meanwhile", `${pushed}^{tree}`);
		return [{ path: layerPath("between"), text: wms("between") }];
	};
	const commit = await commitIdOf(repository.store.change(decide, metaOf("between")));
	assert.equal(judgedOn, [undefined, wms("pushed")]);
	assert.is(await repository.git("rev-parse", `${commit}~2`), before);
	assert.ok(await repository.read("meanwhile"));
});

test("an end comes although git hangs, and those who wait are refused", async ({ repository }) => {
	await repository.restart({ silenceMs });
	await commitIdOf(repository.put("process", "end"));
	using _ = stopWriter(repository);
	const waiting = outcomeOf(repository.put("process", "waits"));
	await repository.store.close();
	assert.instance(await waiting, StoreBusy);
	assert.instance(await outcomeOf(repository.put("process", "late")), StoreBusy);
	await eventually(() => descendantsWith(process.pid, repository.folder).length === 0);
	await repository.restart();
});

test("a git that is too old is a start that says so", async ({ repository }) => {
	using _ = replaceGit(repository.folder, 'echo "git version 2.35.9"');
	assert.match(
		String(await outcomeOf(openEmpty(repository.folder))),
		"2.36 or newer, not git version 2.35.9",
	);
});

test("a start keeps everything, and removes what a killed writer left", async ({ repository }) => {
	await repository.store.close();
	const pack = "objects/pack";
	const left = { "config.lock": "", [`${pack}/tmp_pack_x`]: "", fast_import_crash_1: "" };
	const own = { ...left, [`${pack}/pack-own.keep`]: "fast-import 1" };
	writeFiles(repository.path, { ...own, [`${pack}/pack-kept.keep`]: "kept by the operator\n" });
	await repository.restart({ lockMs: 60 });
	for (const name of Object.keys(own)) assert.not(existsSync(join(repository.path, name)), name);
	assert.ok(existsSync(join(repository.path, pack, "pack-kept.keep")));
	assert.ok(await repository.read("one"));
});

for (const [what, error, failureMs, code, reason] of [
	["until a change succeeds", "EIO", 600_000, "read-only", "the repository cannot be written"],
	["not for ever", "ENOSPC", 0, "disk-full", null],
] as const)
	test(`a disk that fails acknowledges nothing, and is named ${what}`, async ({ repository }) => {
		await repository.restart({ failureMs });
		repository.publish = () => new Promise((resolve) => setImmediate(resolve, true));
		for (const incident of ["the first", "another"]) {
			repository.log.length = 0;
			repository.sync = () => Promise.reject(new Error(error));
			for (const _ of ["once", "again"]) assertBusy(await outcomeOf(repository.put("full")), code);
			assert.is(repository.store.state(), reason);
			assert.match(repository.log.join("\n"), /^.+(EIO|no room on the disk)$/, `${incident} is logged once`);
			const synced: string[] = [];
			repository.sync = async (path) => void synced.push(path.slice(repository.path.length + 1));
			await commitIdOf(repository.store.change(async () => [], metaOf("full")));
			assert.equal(synced, ["objects/pack", "refs/heads"]);
			await commitIdOf(repository.put("full"));
			assert.is(repository.store.state(), null);
		}
	});

test("what git says of a failure is the reason, and nothing is stored", async ({ repository }) => {
	await repository.restart();
	for (const [words, code, reason] of [
		["No space left on device", "disk-full", "there is no room on the disk"],
		["Permission denied", "read-only", "the repository has files that this user may not write"],
	] as const) {
		const before = await repository.tip();
		const fail = `mkdir '${repository.folder}/${code}' && { echo ${words} >&2; exit 1; }`;
		{
			using _ = replaceGit(repository.folder, `case $* in *fast-import*) ${fail}; esac; exec $git "$@"`);
			const both = [false, true].map((review) => outcomeOf(repository.put("said", "a", { review })));
			for (const error of await Promise.all(both)) assertBusy(error, code);
		}
		await commitIdOf(repository.store.change(async () => [], metaOf("one")));
		assert.is(repository.store.state(), reason);
		assert.is(await repository.tip(), before);
		await commitIdOf(repository.put("said"));
	}
});

test("many packs are repacked", async ({ repository }) => {
	const packs = async () =>
		(await readdir(join(repository.path, "objects/pack"))).filter((name) => /\.pack$/.test(name)).length;
	const maxPacks = (await packs()) + 8;
	await repository.restart({ pollMs: 20, maxPacks });
	const count = await repository.git("rev-list", "--count", "main");
	for (let round = 0; round < 10; round += 1) await commitIdOf(repository.put("packs", `round ${round}`));
	repository.store.start();
	await eventually(async () => (await packs()) < maxPacks);
	await commitIdOf(repository.put("packs", "after"));
	assert.is(Number(await repository.git("rev-list", "--count", "main")), Number(count) + 11);
	await repository.store.close();
	assert.is(await repository.git("fsck", "--strict", "--no-dangling"), "");
	await repository.open();
});

test("a request is used where a branch has its commit of the service, and only there", async ({
	repository,
}) => {
	const forget = async () => {
		await repository.store.close();
		await rm(join(repository.folder, "requests"), { recursive: true });
		await repository.open();
	};
	const requestOf = (digit: string) => digit.repeat(64);
	const put = (request: string, parts = {}) =>
		repository.put("replay", `of ${request[0]}`, { request, ...parts });
	const isReplay = async (request: string, parts = {}) => {
		const outcome = await put(request, parts);
		return isRefusal(outcome) && outcome.status === 401;
	};
	for (const [digit, place] of ["main", "register", "declined"].entries()) {
		const [request, review] = [requestOf(String(digit)), place !== "main"];
		const commit = await commitIdOf(put(request, { review }));
		if (place === "declined") {
			await repository.git("branch", "declined/register/replay/1", commit);
			await repository.git("branch", "-D", "register/replay");
		}
		await forget();
		await commitIdOf(repository.put("replay", "newer", { review }));
		assert.is(await isReplay(request, { review }), true, place);
	}
	for (const [who, digit] of [
		["fragment-publisher", "d"],
		["Ada", "e"],
	] as const) {
		const time = new Date().toISOString();
		await repository.commit(`by hand\n\nTimeStamp: ${time}\nRequest: ${requestOf(digit)}`, undefined, who);
		await forget();
		assert.is(await isReplay(requestOf(digit)), who === "fragment-publisher");
	}
});

test.run();
