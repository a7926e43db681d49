import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runGit } from "../../git/run.ts";
import { eachInSlices } from "../../publish/slices.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { Local, wms } from "../local.ts";
import { eventually } from "../wait.ts";

const layers = 50_000;

/** Longest turn of the event loop while a large step is taken in, in milliseconds of its own thread. */
const maxTurnMs = 45;

/**
 * Milliseconds that the event loop's thread has run (proc(5), "schedstat"). Time in which the machine gave it no
 * processor is not in it, so that other work on the machine changes nothing.
 */
function threadMs(): number {
	const [ran = ""] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ");
	return Number(ran) / 1e6;
}

/** Pushes many layers past the hook. */
async function push(local: Local): Promise<void> {
	const edits = Array.from({ length: layers }, (_, index) => {
		const text = wms(`layer ${index}`);
		return `M 100644 inline ${layerPath(`k${index % 300}x${index}`)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	});
	const head = `commit refs/heads/main\ncommitter a <a@b> 1772625600 +0000\ndata 1\nx\nfrom ${local.store.tip}\n`;
	await runGit(local.repository, ["fast-import", "--quiet"], { input: `${head}${edits.join("")}\n` });
}

test("other tasks run between the slices of a long work", async () => {
	const started = performance.now();
	const spin = () => {
		for (const end = performance.now() + 1; performance.now() < end; );
	};
	let turns = 0;
	const count = () => {
		turns += 1;
		immediate = setImmediate(count);
	};
	let immediate = setImmediate(count);
	await eachInSlices(Array(60), spin);
	clearImmediate(immediate);
	assert.ok(turns >= 6, `${turns} turns in ${performance.now() - started} ms`);
});

test("the event loop stays free while a step of thousands of layers is taken in", async () => {
	const local = await Local.open([{ path: layerPath("one"), text: wms("one") }]);
	let isOver = false;
	let longestMs = 0;
	const watch = async () => {
		for (let before = threadMs(); !isOver; ) {
			await sleep(1);
			const now = threadMs();
			longestMs = Math.max(longestMs, now - before);
			before = now;
		}
	};
	try {
		await push(local);
		const tip = await local.git("rev-parse", "refs/heads/main");
		const watching = watch();
		await eventually(() => local.store.tip === tip);
		isOver = true;
		await watching;
		assert.is(local.publication.table.size, layers + 1);
	} finally {
		isOver = true;
		await local.end();
	}
	assert.ok(longestMs < maxTurnMs, `a turn took ${longestMs} ms`);
});

test.run();
