import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CatFile } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { syncPath } from "../../git/sync.ts";
import { Trees } from "../../git/trees.ts";
import { BranchHeld } from "../../git/update-ref.ts";
import { WrittenBlobs } from "../../git/written-blobs.ts";
import { ordinaryLimits } from "../../store/git/limits.ts";
import type { NewCommit } from "../../store/git/new-commit.ts";
import { Writer } from "../../store/git/writer.ts";
import { temporaryFolder } from "../local.ts";
import { metaOf } from "./contract.ts";

interface World {
	repository: string;
	writer: Writer;
	git: (...args: string[]) => Promise<string>;
	end: () => Promise<void>;
}

const writers = suite<World>("a writer");

writers.before.each(async (world) => {
	const { path: repository, remove } = await temporaryFolder();
	const git = async (...args: string[]) => (await runGit(repository, args)).toString().trim();
	await git("init", "-q", "--bare", "--initial-branch=main", ".");
	const tree = await git("mktree", "--missing");
	const identity = ["-c", "user.name=first", "-c", "user.email=first@example.org"];
	const tip = await git(...identity, "commit-tree", "-m", "first", tree);
	await git("update-ref", "refs/heads/main", tip);
	const catFile = new CatFile(repository);
	const objects = { trees: new Trees(catFile), written: new WrittenBlobs() };
	const options = { repository, branch: "main", ...objects, sync: syncPath, limits: ordinaryLimits };
	const writer = new Writer(options, tip);
	const end = async () => {
		await writer.close();
		await catFile.close();
		await remove();
	};
	Object.assign(world, { repository, writer, git, end });
});
writers.after.each(({ end }) => end());

function commitOf(smallkey: string): NewCommit {
	const meta = metaOf(smallkey);
	return { edits: [{ path: `layers/on/${smallkey}.json`, text: smallkey }], meta, committed: meta.time };
}

async function landed(writer: Writer): Promise<string | null> {
	const tip = await writer.store();
	if (tip !== null) await writer.move(tip);
	return tip;
}

writers("has nothing to store before a commit, and after one was stored", async ({ writer, git }) => {
	assert.is(await writer.store(), null);
	const id = await writer.commit(commitOf("one"));
	assert.is(await landed(writer), id);
	assert.is(await git("rev-parse", "refs/heads/main"), id);
	assert.is(await writer.store(), null);
});

writers("makes the commits of the next group while one is stored", async ({ writer, git }) => {
	const first = writer.commit(commitOf("one"));
	const storing = landed(writer);
	const second = writer.commit(commitOf("two"));
	assert.is(await storing, await first);
	assert.is(await landed(writer), await second);
	assert.is(await git("rev-parse", "refs/heads/main^"), await first);
	assert.is(await git("fsck", "--strict"), "");
});

writers("never goes on from a commit that could not be stored", async ({ repository, writer, git }) => {
	const packs = join(repository, "objects/pack");
	await rename(packs, `${packs}.away`);
	const lost = await writer.commit(commitOf("lost"));
	const failing = landed(writer).catch((error: NodeJS.ErrnoException) => error.code);
	const alsoLost = await writer.commit(commitOf("also"));
	assert.is(await failing, "ENOENT");
	await rename(`${packs}.away`, packs);
	const id = await writer.commit(commitOf("two"));
	assert.is(await landed(writer), id);
	assert.is(await git("ls-tree", "-r", "--name-only", "refs/heads/main"), "layers/on/two.json");
	assert.is(await git("rev-list", "--count", "refs/heads/main"), "2");
	assert.is(await git("fsck", "--strict"), "");
	for (const gone of [lost, alsoLost]) assert.is.not(gone, id);
});

writers("leaves a branch alone that others have moved, and goes on from there", async ({ writer, git }) => {
	const identity = ["-c", "user.name=other", "-c", "user.email=other@example.org"];
	const others = await git(...identity, "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}");
	await git("update-ref", "refs/heads/main", others);
	await writer.commit(commitOf("one"));
	const error = await landed(writer).catch((error: unknown) => error);
	assert.instance(error, BranchHeld);
	assert.is(await git("rev-parse", "refs/heads/main"), others);
	await writer.close();
	writer.goOnFrom(others);
	const id = await writer.commit(commitOf("one"));
	assert.is(await landed(writer), id);
	assert.is(await git("rev-parse", "refs/heads/main^"), others);
});

writers("tells of a lock that somebody holds", async ({ repository, writer, git }) => {
	const before = await git("rev-parse", "refs/heads/main");
	const lock = join(repository, "refs/heads/main.lock");
	await mkdir(lock);
	await writer.commit(commitOf("one"));
	assert.instance(await landed(writer).catch((error: unknown) => error), BranchHeld);
	assert.is(await git("rev-parse", "refs/heads/main"), before);
	await rm(lock, { recursive: true });
});

writers.run();
