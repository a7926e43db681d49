import * as assert from "uvu/assert";
import { textOf as busy } from "../../registry/texts.ts";
import { defaultLimits, syncPath } from "../../store/git/base.ts";
import { type Branch, openBranch } from "../../store/git/branch.ts";
import { StoreBusy } from "../../store/store.ts";
import type { CatFile } from "../../system/git/cat-file.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { git, logTo, openEmpty } from "./git-store.ts";

/** A branch whose head a test says. */
function branchOf(tip: string, head: () => Promise<string>): Branch {
	const catFile = {
		read: async () => ({ id: await head(), type: "commit", body: Buffer.alloc(0) }),
	} as unknown as CatFile;
	const base = { repository: root, log: logTo([]), now: Date.now, sync: syncPath, limits: defaultLimits };
	const requests = { readCommitted: async () => undefined };
	return openBranch({ ...base, measure: () => undefined }, catFile, tip, requests, async () => ({
		warnings: Promise.resolve([]),
	}));
}

test("what is served is not behind while the branch is where it was", async () => {
	const branch = branchOf("a", async () => "a");
	assert.is(await branch.follow(), false);
	assert.is(branch.behind, null);
	assert.is(await branch.commitsBehind(), 0);
});

test("a branch that cannot be followed is said, until it can", async () => {
	let isGone = true;
	const branch = branchOf("a", async () => {
		if (isGone) throw new StoreBusy(busy("git-silent"), 60);
		return "a";
	});
	await branch.follow().then(
		() => assert.unreachable(),
		(error: unknown) => assert.instance(error, StoreBusy),
	);
	assert.is(branch.behind, "a push cannot be served: git does not answer");
	isGone = false;
	await branch.follow();
	assert.is(branch.behind, null);
});

test("commits that are not served yet are counted", async () => {
	await using folder = await temporaryFolder();
	await using store = await openEmpty(folder.path);
	const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
	for (let commits = 1; commits <= 3; commits += 1) {
		const made = await git(folder.path, ...identity, "commit-tree", "-p", "main", "-m", "x", "main^{tree}");
		await git(folder.path, "update-ref", "refs/heads/main", made);
		assert.is(await store.branch.commitsBehind(), commits);
	}
});

test.run();
