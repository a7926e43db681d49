import { PassThrough } from "node:stream";
import * as assert from "uvu/assert";
import { progress } from "../../../system/terminal/progress.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";

/** A screen that keeps what is written to it. */
function screen(isTTY: boolean): { screen: NodeJS.WriteStream; shown: () => string } {
	const stream = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 });
	let shown = "";
	stream.on("data", (data) => {
		shown += data;
	});
	return { screen: stream as unknown as NodeJS.WriteStream, shown: () => shown };
}

test("on a terminal the bar is shown once the work has taken over a second", async () => {
	const terminal = screen(true);
	const bar = progress(10, "harvesting", terminal.screen);
	bar.tick(3);
	assert.is(terminal.shown(), "");
	await eventually(() => /harvesting .* 3\/10/.test(terminal.shown()));
	bar.tick();
	await eventually(() => /harvesting .* 4\/10/.test(terminal.shown()));
	bar.stop();
});

test("quick work, and output that is no terminal, stay without a bar", async () => {
	const terminal = screen(true);
	const pipe = screen(false);
	for (const one of [terminal, pipe]) {
		const bar = progress(10, "harvesting", one.screen);
		bar.tick(10);
		bar.stop();
		bar.stop();
	}
	const slow = progress(10, "harvesting", pipe.screen);
	const reference = screen(true);
	const shownElsewhere = progress(10, "building", reference.screen);
	await eventually(() => reference.shown().includes("building"));
	slow.stop();
	shownElsewhere.stop();
	assert.is(terminal.shown(), "");
	assert.is(pipe.shown(), "");
});

test.run();
