import * as assert from "uvu/assert";
import { findTooMany } from "../../../system/git/tree.ts";
import { test } from "../../helpers/suite.ts";
import { gitIn, temporaryFolder } from "../../helpers/world.ts";

test("a commit whose paths have too many bytes is refused, measured in UTF-8", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	await gitIn(path)("init", "-q", "--bare", ".");
	const blob = await gitIn(path, "x")("hash-object", "-w", "--stdin");
	const treeOf = (entries: readonly string[]) => gitIn(path, entries.join(""))("mktree");
	let tree = await treeOf(Array.from({ length: 1_000 }, (_, index) => `100644 blob ${blob}\t${index}\n`));
	// Each letter has three bytes in UTF-8 and one unit in UTF-16.
	const name = "\u20ac".repeat(80);
	for (let depth = 0; depth < 16; depth += 1) tree = await treeOf([`040000 tree ${tree}\t${name}\n`]);
	const commitOf = async (copies: number) => {
		const entries = Array.from({ length: copies }, (_, index) => `040000 tree ${tree}\t${index}\n`);
		return gitIn(path)("commit-tree", "-m", "wide", await treeOf(entries));
	};
	// 1,000 paths of about 3,870 bytes in each copy: 4 MB, then 70 MB, which are 23 million units in UTF-16.
	assert.is(await findTooMany(path, await commitOf(1)), null);
	const wide = await commitOf(18);
	assert.is(await findTooMany(path, wide), `commit ${wide} has paths of more than ${64 << 20} bytes in all`);
});

test.run();
