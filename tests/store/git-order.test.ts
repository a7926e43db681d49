import { setImmediate as nextTurn } from "node:timers/promises";
import * as assert from "uvu/assert";
import type { CommitRange } from "../../store/git/branch.ts";
import { test } from "../helpers/suite.ts";
import { eventually, gate } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { committed, git, openEmpty, put } from "./git-store.ts";

test("groups of commits reach the branch, the readers and their senders in the order in which they came", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	const steps: CommitRange[] = [];
	/** How many steps were made readable to their end. */
	let ended = 0;
	const [held, release] = gate();
	const publish = async (step: CommitRange) => {
		steps.push(step);
		// The first takes longest: what comes after it must not overtake it.
		if (steps.length === 1) await held;
		for (let turns = 20 - steps.length; turns > 0; turns -= 1) await nextTurn();
		ended += 1;
		return { warnings: Promise.resolve([]) };
	};
	await using store = await openEmpty(path, { publish });
	const first = store.tip;
	const answered: string[] = [];
	const endedAtAnswer: number[] = [];
	const changes: Promise<string>[] = [];
	const add = (count: number) => {
		for (let index = 0; index < count; index += 1) {
			const change = committed(put(store, "k", `change ${changes.length}`));
			changes.push(change);
			void change.then((commit) => {
				answered.push(commit);
				endedAtAnswer.push(ended);
			});
		}
	};
	try {
		add(3);
		await eventually(() => steps.length === 1);
		for (let burst = 0; burst < 10; burst += 1) {
			add(4);
			for (let turns = 0; turns < 20; turns += 1) await nextTurn();
			// git takes a moment, in which a group could get further than it may.
			await git(path, "rev-parse", "refs/heads/main");
		}
		assert.equal([steps.length, answered.length], [1, 0], "the first group is not readable yet");
		release();
		const commits = await Promise.all(changes);
		const listed = await git(path, "rev-list", "--reverse", `${first}..refs/heads/main`);
		assert.equal(commits, listed.split("\n"), "on the branch");
		assert.equal(answered, commits, "answered");
		assert.ok(steps.length > 1);
		for (const [index, { from }] of steps.entries()) assert.is(from, steps[index - 1]?.to ?? first);
		for (const [index, commit] of commits.entries()) {
			const step = steps.findIndex(({ to }) => commits.indexOf(to) >= index);
			assert.ok((endedAtAnswer[index] ?? 0) > step, `${commit} was answered before it could be read`);
		}
		assert.match((await store.read("k"))?.registration ?? "", `"change ${commits.length - 1}"`);
	} finally {
		release();
	}
});

test.run();
