import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { usedBefore } from "../../store/decide.ts";
import { freshSuite, runUnless } from "../helpers/world.ts";
import { commitIdOf, git, openEmpty, put } from "../store/git-store.ts";
import { LoopDisk } from "./disk.ts";
import { noteFault } from "./world.ts";

const rounds = 8;

async function checkCut(folder: string, acknowledged: string[], branch: string) {
	for (const commit of acknowledged) assert.is(await git(folder, "cat-file", "-t", commit), "commit");
	assert.is(await git(folder, "rev-parse", `refs/heads/${branch}`), acknowledged.at(-1));
	assert.is(await git(folder, "fsck", "--strict", "--no-dangling"), "");
	await using reopened = await openEmpty(folder);
	await commitIdOf(put(reopened, "after-the-cut"));
}

const test = freshSuite("power cuts", async (use) => ({ disk: use((await LoopDisk.mount()) as LoopDisk) }));

test(`power cut right after an answer, ${rounds} times: what was acknowledged is there`, async ({ disk }) => {
	// Folders that the service makes, too, have to be there afterwards.
	await using store = await openEmpty(join(disk.path, "made/anew"));
	const acknowledged: string[] = [];
	for (let round = 0; round < rounds; round += 1) {
		const review = round % 4 === 3;
		const smallkey = `layer-${round}`;
		acknowledged.push(await commitIdOf(put(store, smallkey, "limits", { review })));
		const cut = await disk.cutPower(`cut-${round}`);
		await checkCut(join(cut, "made/anew"), acknowledged, review ? `register/${smallkey}` : "main");
	}
	const fault = `a power cut right after the 201, ${rounds} times`;
	const publisher = "what was acknowledged is there; the next: 201";
	noteFault({ section: "power", fault, reader: "200", publisher });
});

test("power cut before an answer: a request that is on the branch is used", async ({ disk }) => {
	const folder = join(disk.path, "data");
	let cut: Promise<string> | null = null;
	let isCutting = false;
	// At once, so that nothing else is put on the disk meanwhile: the commit and its branch, and then no power.
	const sync = async (path: string) => {
		syncNow(path);
		if (isCutting && path.endsWith("refs/heads")) cut ??= disk.cutPower("before-the-answer");
	};
	await using store = await openEmpty(folder, { sync });
	const request = "a".repeat(64);
	await commitIdOf(put(store, "one"));
	isCutting = true;
	await commitIdOf(put(store, "one", "captured", { request }));
	const after = join((await cut) as unknown as string, "data");
	assert.match(await git(after, "log", "-1", "--format=%B", "refs/heads/main"), `Request: ${request}`);
	await using reopened = await openEmpty(after);
	await commitIdOf(put(reopened, "one", "newer"));
	assert.equal(await put(reopened, "one", "captured", { request }), usedBefore);
	const fault = "a power cut after the commit, before its answer";
	const publisher = "no answer; the same request after a change: 401";
	noteFault({ section: "power", fault, reader: "200", publisher });
});

function syncNow(path: string) {
	const file = openSync(path, "r");
	fsyncSync(file);
	closeSync(file);
}

const mayMount = await LoopDisk.mount();
await mayMount?.[Symbol.asyncDispose]();
runUnless(mayMount ? null : "power cuts: this machine may not mount an image", test);
