import * as assert from "uvu/assert";
import { findTooMany } from "../../../store/git/commands/tree.ts";
import { folderSuite, gitIn } from "../../helpers/world.ts";

const test = folderSuite("the paths of a commit");

/** Makes a commit with copies of a folder of 1,000 paths of about 3,870 bytes: a third of that in UTF-16. */
async function commitOf(folder: string, copies: number): Promise<string> {
	const git = (input: string, ...args: string[]) => gitIn(folder, input)(...args);
	await git("", "init", "-q", "--bare", ".");
	const blob = await git("x", "hash-object", "-w", "--stdin");
	const entries = Array.from({ length: 1_000 }, (_, index) => `100644 blob ${blob}\t${index}\n`);
	let tree = await git(entries.join(""), "mktree");
	const folderOf = (name: string | number) => `040000 tree ${tree}\t${name}\n`;
	for (let depth = 0; depth < 16; depth += 1) tree = await git(folderOf("\u20ac".repeat(80)), "mktree");
	const all = Array.from({ length: copies }, (_, index) => folderOf(index));
	return git("", "commit-tree", "-m", "wide", await git(all.join(""), "mktree"));
}

test("are accepted while they have few bytes", async ({ folder }) => {
	assert.is(await findTooMany(folder, await commitOf(folder, 1)), null);
});

test("are refused when they have too many bytes in UTF-8", async ({ folder }) => {
	const wide = await commitOf(folder, 18);
	assert.is(
		await findTooMany(folder, wide),
		`commit ${wide} has paths of more than ${64 << 20} bytes in all`,
	);
});

test.run();
