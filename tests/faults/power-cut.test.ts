import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { committed, git, openEmpty, put } from "../api/stores/git-store.ts";
import { LoopDisk } from "./disk.ts";

const rounds = 8;

/** Whether everything that was acknowledged is in the repository of a folder, which goes on from there. */
async function checkCut(folder: string, acknowledged: string[], branch: string): Promise<void> {
	for (const commit of acknowledged) assert.is(await git(folder, "cat-file", "-t", commit), "commit");
	assert.is(await git(folder, "rev-parse", `refs/heads/${branch}`), acknowledged.at(-1));
	assert.is(await git(folder, "fsck", "--strict", "--no-dangling"), "");
	const reopened = await openEmpty(folder);
	await committed(put(reopened, "after-the-cut"));
	await reopened.close();
}

test(`power cut right after an answer, ${rounds} times: what was acknowledged is there`, async () => {
	const disk = await LoopDisk.mount();
	if (!disk) return console.log("skipped: power cuts, this machine may not mount an image");
	// Folders that the service makes, too, have to be there afterwards.
	const store = await openEmpty(join(disk.path, "made/anew"));
	try {
		const acknowledged: string[] = [];
		for (let round = 0; round < rounds; round += 1) {
			const review = round % 4 === 3;
			const smallkey = `layer-${round}`;
			acknowledged.push(await committed(put(store, smallkey, "limits", { review })));
			const cut = await disk.cutPower(`cut-${round}`);
			await checkCut(join(cut, "made/anew"), acknowledged, review ? `register/${smallkey}` : "main");
			await disk.unmount(cut);
		}
	} finally {
		await store.close();
		await disk.end();
	}
});

test.run();
