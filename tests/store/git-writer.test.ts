import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { defaultLimits, syncPath } from "../../store/git/base.ts";
import { BranchHeld, openWriter, type Writer } from "../../store/git/writer.ts";
import type { Edit, Meta } from "../../store/store.ts";
import { runGit } from "../../system/git/run.ts";
import { descendantsWith } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, gitIn, temporaryFolder } from "../helpers/world.ts";
import { metaOf } from "./contract.ts";
import { logTo } from "./git-store.ts";

const outside = { now: Date.now, sync: syncPath, log: logTo([]), measure: () => undefined };

const test = freshSuite("a writer", async (use) => {
	const repository = use(await temporaryFolder()).path;
	const git = gitIn(repository);
	await git("init", "-q", "--bare", "--initial-branch=main", ".");
	const tree = await git("mktree", "--missing");
	const tip = await git("commit-tree", "-m", "first", tree);
	await git("update-ref", "refs/heads/main", tip);
	const writer = openWriter({ ...outside, repository, limits: defaultLimits }, { renew: () => undefined });
	use(() => writer.renew());
	return { repository, writer, git, tip };
});

function commitOf(smallkey: string): { edits: Edit[]; meta: Meta } {
	return { edits: [{ path: `layers/on/${smallkey}.json`, text: smallkey }], meta: metaOf(smallkey) };
}

/** Makes a group of commits on a commit, and moves the branch from there. @returns their ids */
async function land(writer: Writer, from: string, ...smallkeys: string[]): Promise<string[]> {
	const ids = await writer.store(from, smallkeys.map(commitOf));
	await writer.move("main", from, ids.at(-1) as string);
	return ids;
}

test("a writer stores a group in one pack, and no ref names it before the branch does", async (world) => {
	const { repository, writer, git, tip } = world;
	const [first, second] = await writer.store(tip, [commitOf("one"), commitOf("two")]);
	assert.is(await git("for-each-ref", "--format=%(refname) %(objectname)"), `refs/heads/main ${tip}`);
	const packs = (await readdir(join(repository, "objects/pack"))).filter((name) => name.endsWith(".pack"));
	assert.is(packs.length, 1);
	await writer.move("main", tip, second as string);
	assert.is(await git("rev-parse", "refs/heads/main"), second);
	assert.is(await git("rev-parse", "refs/heads/main^"), first);
	assert.is(await git("for-each-ref", "--format=%(refname)"), "refs/heads/main");
	assert.is(await git("fsck", "--strict"), "");
});

test("a writer leaves no ref behind where a branch was never moved", async ({ writer, git, tip }) => {
	await writer.store(tip, [commitOf("lost")]);
	await writer.renew();
	assert.is(await git("for-each-ref", "--format=%(refname) %(objectname)"), `refs/heads/main ${tip}`);
	const [id] = await land(writer, tip, "one");
	assert.is(await git("rev-parse", "refs/heads/main^"), tip);
	assert.is(await git("rev-parse", "refs/heads/main"), id);
});

test("a writer never builds on a commit that could not be stored", async (world) => {
	const { repository, writer, git, tip } = world;
	const packs = join(repository, "objects/pack");
	await land(writer, tip, "first");
	const base = await git("rev-parse", "refs/heads/main");
	await rename(packs, `${packs}.away`);
	const lost = await land(writer, base, "lost").catch((error: Error) => error);
	assert.instance(lost, Error);
	writer.kill();
	await rename(`${packs}.away`, packs);
	const [id] = await land(writer, base, "two");
	assert.is(await git("rev-parse", "refs/heads/main"), id);
	assert.is(
		await git("ls-tree", "-r", "--name-only", "refs/heads/main"),
		"layers/on/first.json\nlayers/on/two.json",
	);
	assert.is(await git("fsck", "--strict"), "");
});

test("a writer says that another process holds the lock of a branch", async (scene) => {
	const { repository, writer, git, tip } = scene;
	const lock = join(repository, "refs/heads/main.lock");
	await mkdir(lock);
	assert.instance(await land(writer, tip, "one").catch((error: unknown) => error), BranchHeld);
	assert.is(await git("rev-parse", "refs/heads/main"), tip);
	await rm(lock, { recursive: true });
});

test("a writer is replaced, as after a repack, while a group is written", async (world) => {
	const { repository, writer, git, tip } = world;
	const storing = writer.store(tip, [commitOf("one")]);
	const before = descendantsWith(process.pid, repository, "fast-import");
	const renewed = writer.renew();
	const [first] = await storing;
	await writer.move("main", tip, first as string);
	await renewed;
	const [second] = await land(writer, first as string, "two");
	assert.is(await git("rev-parse", "refs/heads/main"), second);
	assert.is(await git("rev-parse", "refs/heads/main^"), first);
	await eventually(
		() => !descendantsWith(process.pid, repository, "fast-import").includes(before[0] as number),
	);
});

test("a writer keeps no process that has started during a repack, and starts one repack at a time", async (world) => {
	const { repository, writer, git, tip } = world;
	const [first = ""] = await land(writer, tip, "first");
	await writer.renew();
	const measured: string[] = [];
	const measure = (operation: string) => measured.push(operation);
	const limits = { ...defaultLimits, maxIdlePacks: 1 };
	let landing: Promise<string[]> | null = null;
	// Called at the end of a repack, before the writer's own processes are replaced.
	const renew = () => {
		landing = land(eager, first, "during");
		assert.is(descendantsWith(process.pid, repository, "fast-import").length, 1);
	};
	const eager = openWriter({ ...outside, repository, limits, measure }, { renew });
	try {
		for (const _ of ["starts one", "starts no other"]) await eager.repackIfMany(true);
		await eventually(() => landing !== null);
		const [during] = (await landing) ?? [];
		await eventually(() => descendantsWith(process.pid, repository, "fast-import").length === 0);
		assert.is(await git("rev-parse", "refs/heads/main"), during);
		assert.equal(measured, ["repack"]);
	} finally {
		eager.kill();
	}
});

test("a writer writes any path and any text as it is", async ({ repository, writer, git, tip }) => {
	const names = ['"quoted"', "back\\slash", "line\nbreak", "é ü", "from :1"];
	const texts = ["", "\n", "data 5\nM 100644 inline x\n", "\u{1f30d}\0", "'"];
	const edits = names.map((name, index) => ({ path: `layers/od/${name}`, text: texts[index] as string }));
	const [id = ""] = await writer.store(tip, [{ edits, meta: metaOf("odd") }]);
	assert.is(
		(await git("ls-tree", "-rz", "--name-only", id)).split("\0").filter(Boolean).length,
		names.length,
	);
	for (const { path, text } of edits) {
		assert.is((await runGit(repository, ["cat-file", "blob", `${id}:${path}`])).toString(), text);
	}
});

test.run();
