import * as assert from "uvu/assert";
import { eachInSlices } from "../../publish/slices.ts";
import { test } from "../helpers/suite.ts";

// How long the event loop is held up by a push of all layers is the row `push-delay` of `npx fragment-publisher bench`.
test("other tasks run between the slices of a long work", async () => {
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
	// On a busy machine each task takes longer, and there are more turns.
	assert.ok(turns >= 6, `${turns} turns`);
});

test.run();
