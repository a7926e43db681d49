import { test } from "uvu";
import * as assert from "uvu/assert";
import { runAll } from "../../../scripts/test/files.ts";

test("every file runs once, as many at once as is said, from both ends of the list", async () => {
	const begun: number[] = [];
	const besides: string[] = [];
	const running = new Set<number>();
	const tasks = Array.from({ length: 8 }, (_, index) => async () => {
		begun.push(index);
		for (const other of running) besides.push(`${other} beside ${index}`);
		running.add(index);
		// The first goes on until five others have had their turns.
		for (let turn = 0; turn < 100 && (index > 0 ? turn < 3 : begun.length < 7); turn += 1)
			await Promise.resolve();
		running.delete(index);
		const failed = index === 4 ? 1 : 0;
		return { name: `file ${index}`, passed: 1, failed, skipped: 0, lines: [`line ${index}`] };
	});
	const lines: string[] = [];
	assert.is(await runAll(tasks, (line) => lines.push(line), 2), false);
	assert.equal([...begun].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
	assert.equal(begun.slice(0, 4), [0, 7, 6, 5]);
	assert.equal(besides.slice(0, 3), ["0 beside 7", "0 beside 6", "0 beside 5"]);
	assert.equal(lines.slice(-4), ["", "Failed:", "  file 4", "8 passed, 1 failed"]);
});

test.run();
