import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { type Reader, StoreBusy } from "../../store/store.ts";
import { runGit } from "../../system/git/run.ts";
import { wms } from "../helpers/local.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { metaOf } from "./contract.ts";
import { committed, git, logTo, openEmpty, put } from "./git-store.ts";
import { loosen, objectFile } from "./loose-objects.ts";

const test = freshSuite("a damaged repository", async (use) => {
	const folder = use(await temporaryFolder()).path;
	await using store = await openEmpty(folder);
	await committed(put(store, "one"));
	await committed(put(store, "two"));
	return { folder, repository: join(folder, "repository.git") };
});

/** What a start fails with, as text. */
async function refusedStart(folder: string): Promise<string> {
	const store = await openEmpty(folder).catch((error: Error) => error);
	if (store instanceof Error) return store.message;
	await store.close();
	throw new Error("it was started");
}

const missing = "1".repeat(40);

for (const [what, text] of [
	["is garbage", "no commit\n"],
	["is empty", ""],
	["names a commit that is not there", `${missing}\n`],
]) {
	test(`a branch that ${what} is no empty repository: the start names the way out, which works`, async (world) => {
		const { folder, repository } = world;
		const file = join(repository, "refs/heads/main");
		const good = await readFile(file, "utf8");
		await writeFile(file, text as string);
		const said = await refusedStart(folder);
		assert.match(
			said,
			`${file}: must name a commit of the repository, and says ${JSON.stringify(text?.trim())}`,
		);
		assert.match(
			said,
			"Put the repository back from a backup or a clone, or write the id of its last commit",
		);
		assert.is(await readFile(file, "utf8"), text, "nothing was changed");
		const dangling = await runGit(repository, ["fsck"]).catch(() => Buffer.from(""));
		if (dangling.length > 0) assert.match(dangling.toString(), `dangling commit ${good.trim()}`);
		await writeFile(file, good);
		await using store = await openEmpty(folder);
		assert.ok(await store.read("two"));
		await committed(put(store, "three"));
	});
}

test("a packed branch whose commit is not there is no empty repository", async ({ folder, repository }) => {
	await rm(join(repository, "refs/heads/main"));
	await writeFile(join(repository, "packed-refs"), `# pack-refs with: peeled\n${missing} refs/heads/main\n`);
	assert.match(await refusedStart(folder), `says "${missing}"`);
	const id = await git(folder, "rev-parse", "refs/heads/main");
	assert.is(id, missing);
});

for (const [what, name] of [
	["folder", "main:layers/on"],
	["tree of all folders", "main:layers"],
	["root", "main^{tree}"],
	["file", "main:layers/on/one.json"],
]) {
	test(`a lost ${what} is an error, and not that nothing is there`, async ({ folder, repository }) => {
		await loosen(repository);
		await rm(await objectFile(repository, name as string));
		const reported: unknown[] = [];
		await using store = await openEmpty(folder, { log: logTo(reported) });
		const before = await git(folder, "rev-parse", "main");
		// As a PUT does: what is stored is read first.
		const edits = async (now: Reader) => {
			await now.read("one");
			return [{ path: layerPath("one"), text: wms("other") }];
		};
		for (const read of [store.read("one"), store.change(edits, metaOf("one"))]) {
			const outcome = await read.catch((error: unknown) => error);
			assert.instance(outcome, Error, String(outcome));
			if (outcome instanceof StoreBusy) assert.is(outcome.message, "the repository is damaged");
		}
		assert.is(await git(folder, "rev-parse", "main"), before, "nothing was stored");
		assert.match(String(reported[0]), /GitDamage: .* is missing/);
	});
}

test("what is not damaged works, also without a folder", async ({ folder, repository }) => {
	await loosen(repository);
	await rm(await objectFile(repository, "main:layers/on"));
	await using store = await openEmpty(folder);
	await committed(put(store, "three"));
	assert.ok(await store.read("three"));
	assert.equal(await store.keys("zz"), []);
	assert.is(await store.read("zz"), null);
	const others = await put(store, "on", "other").catch((error: unknown) => error);
	assert.is((others as Error).message, "the repository is damaged");
});

test.run();
