import { test } from "uvu";
import * as assert from "uvu/assert";
import { CatFile } from "../../git/cat-file.ts";
import type { Branch } from "../../store/git/branch.ts";
import { PublishedHead } from "../../store/git/published-head.ts";
import { StoreBusy } from "../../store/store.ts";
import { root } from "../process.ts";

/** What is published of a branch whose head a test says. */
function headOf(tip: string, head: () => Promise<string>): PublishedHead {
	const branch = { head, isAncestor: async () => true, countSince: async () => 3 } as unknown as Branch;
	const measure = () => undefined;
	const publish = async () => ({ warnings: Promise.resolve([]) });
	const catFile = new CatFile(root);
	return new PublishedHead({ repository: root, catFile, branch, publish, measure }, tip);
}

test("what is served is not behind while the branch is where it was", async () => {
	const published = headOf("a", async () => "a");
	assert.is(await published.follow(), false);
	assert.is(published.behind, null);
	assert.is(await published.commitsBehind(), 0);
});

test("a branch that cannot be followed is said, until it can", async () => {
	let isGone = true;
	const published = headOf("a", async () => {
		if (isGone) throw new StoreBusy("the branch main is gone from the repository", 60);
		return "a";
	});
	await published.follow().then(
		() => assert.unreachable(),
		(error) => assert.instance(error, StoreBusy),
	);
	assert.is(published.behind, "a push cannot be served: the branch main is gone from the repository");
	isGone = false;
	await published.follow();
	assert.is(published.behind, null);
});

test("commits that are not served yet are counted", async () => {
	assert.is(await headOf("a", async () => "b").commitsBehind(), 3);
});

test.run();
