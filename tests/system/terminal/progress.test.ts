import { PassThrough } from "node:stream";
import * as assert from "uvu/assert";
import { progress } from "../../../system/terminal/progress.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";

/** A screen that keeps what is written to it, and a bar on it. */
function barOn(isTTY: boolean) {
	const screen = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 });
	let shown = "";
	screen.on("data", (data) => {
		shown += data;
	});
	const bar = progress(10, "harvesting", screen as unknown as NodeJS.WriteStream);
	return { ...bar, shown: () => shown };
}

test("a bar is shown once the work has taken over a second, on a terminal only", async () => {
	const [quick, pipe, slow] = [barOn(true), barOn(false), barOn(true)];
	quick.tick(10);
	quick.stop();
	slow.tick(3);
	assert.is(slow.shown(), "");
	await eventually(() => /harvesting .* 3\/10/.test(slow.shown()));
	slow.tick();
	await eventually(() => /harvesting .* 4\/10/.test(slow.shown()));
	for (const bar of [slow, pipe]) bar.stop();
	assert.equal([quick.shown(), pipe.shown()], ["", ""]);
});

test.run();
