import { test } from "uvu";
import * as assert from "uvu/assert";
import { runGit } from "../../../system/git/run.ts";
import { findTooMany } from "../../../system/git/tree.ts";
import { temporaryFolder } from "../../local.ts";

/** A name of as many letters, each of three bytes in UTF-8 and one unit in UTF-16. */
const wideName = (letters: number) => "\u20ac".repeat(letters);

test("the paths of a commit are measured in bytes", async () => {
	const { path, remove } = await temporaryFolder();
	try {
		const git = async (input: string, ...args: string[]) =>
			(await runGit(path, args, { input })).toString("latin1").trim();
		await git("", "init", "-q", "--bare", ".");
		const blob = await git("x", "hash-object", "-w", "--stdin");
		const files = Array.from({ length: 1_000 }, (_, index) => `100644 blob ${blob}\t${index}\n`);
		let tree = await git(files.join(""), "mktree");
		for (let depth = 0; depth < 16; depth += 1)
			tree = await git(`040000 tree ${tree}\t${wideName(80)}\n`, "mktree");
		const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
		const commitOf = async (copies: number) => {
			const entries = Array.from({ length: copies }, (_, index) => `040000 tree ${tree}\t${index}\n`);
			const root = await git(entries.join(""), "mktree");
			return git("", ...identity, "commit-tree", "-m", "wide", root);
		};
		// 1,000 paths of about 3,870 bytes in each copy: 58 MB, then 70 MB, which are 23 million units in UTF-16.
		assert.is(await findTooMany(path, await commitOf(15)), null);
		const wide = await commitOf(18);
		assert.is(
			await findTooMany(path, wide),
			`commit ${wide} has paths of more than ${64 << 20} bytes in all`,
		);
	} finally {
		await remove();
	}
});

test.run();
