import { test } from "uvu";
import * as assert from "uvu/assert";
import { CatFile } from "../../git/cat-file.ts";
import { Trees } from "../../git/trees.ts";
import type { Branch } from "../../store/git/branch.ts";
import { Served } from "../../store/git/served.ts";
import { StoreBusy } from "../../store/store.ts";
import { root } from "../process.ts";

/** What is served of a branch whose head a test says. */
function servedOf(tip: string, head: () => Promise<string>): Served {
	const branch = { head, isAncestor: async () => true, countSince: async () => 3 } as unknown as Branch;
	const measure = () => undefined;
	const publish = async () => ({ warnings: Promise.resolve([]) });
	const catFile = new CatFile(root);
	return new Served({ repository: root, catFile, trees: new Trees(catFile), branch, publish, measure }, tip);
}

test("what is served is not behind while the branch is where it was", async () => {
	const served = servedOf("a", async () => "a");
	assert.is(await served.follow(), false);
	assert.is(served.behind, null);
	assert.is(await served.commitsBehind(), 0);
});

test("a branch that cannot be followed is said, until it can", async () => {
	let isGone = true;
	const served = servedOf("a", async () => {
		if (isGone) throw new StoreBusy("the branch main is gone from the repository", 60);
		return "a";
	});
	await served.follow().then(
		() => assert.unreachable(),
		(error) => assert.instance(error, StoreBusy),
	);
	assert.is(served.behind, "a push cannot be served: the branch main is gone from the repository");
	isGone = false;
	await served.follow();
	assert.is(served.behind, null);
});

test("commits that are not served yet are counted", async () => {
	assert.is(await servedOf("a", async () => "b").commitsBehind(), 3);
});

test.run();
