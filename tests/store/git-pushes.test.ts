import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { describePush } from "../../store/git/branch.ts";
import type { PathChange } from "../../system/git/tree.ts";
import { test } from "../helpers/suite.ts";
import { gitIn, temporaryFolder } from "../helpers/world.ts";

/** A repository with two empty commits of Ada's. */
async function twoCommits(folder: string): Promise<{ from: string; to: string }> {
	const git = gitIn(folder);
	await git("init", "-q", "-b", "main");
	await git("commit", "-q", "--allow-empty", "-m", "first");
	const from = await git("rev-parse", "HEAD");
	await git("commit", "-q", "--allow-empty", "-m", "second");
	return { from, to: await git("rev-parse", "HEAD") };
}

test("a push of thousands of layers is counted in turns, and readers have theirs between", async () => {
	await using made = await temporaryFolder();
	const folder = made.path;
	let turn = 0;
	let isCounting = true;
	const count = () => {
		turn += 1;
		if (isCounting) setImmediate(count);
	};
	try {
		const { from, to } = await twoCommits(folder);
		/** Turns of the event loop in which paths were read. */
		const turns = new Set<number>();
		const changes = Array.from({ length: 10_000 }, (_, at) => ({
			get path() {
				turns.add(turn);
				return layerPath(`layer-${at % 9_000}`);
			},
		}));
		setImmediate(count);
		const push = await describePush(folder, { from, to, changes: changes as unknown as PathChange[] });
		assert.equal(push, {
			from,
			to,
			commits: 1,
			newest: [to],
			people: ["Ada <ada@tests.example>"],
			layers: 9_000,
		});
		assert.ok(turns.size >= 10, `in ${turns.size} turns`);
	} finally {
		isCounting = false;
	}
});

test.run();
