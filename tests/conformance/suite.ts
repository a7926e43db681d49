import { suite, type Test } from "uvu";
import { docsTests } from "./docs.ts";
import { type Candidate, type Engine, layers } from "./engine.ts";
import { olderWriteTests } from "./older-writes.ts";
import { docTests } from "./reads.ts";
import { refusalTests } from "./refusals.ts";
import { targetTests } from "./targets.ts";
import { writeTests } from "./writes.ts";

/**
 * Runs the whole conformance suite against one engine, started once; skipped where it cannot be had.
 * @param more adds tests of this engine
 * @param hasRefusals whether it is asked for every refusal of a write; without them, for reads and for writes in order
 */
export function conformance(
	candidate: Candidate,
	more: (test: Test, engine: () => Engine) => void = () => undefined,
	hasRefusals = true,
): void {
	const test = suite(`conformance: ${candidate.name}`);
	if (candidate.missing !== null) {
		console.log(`skipped: conformance on ${candidate.name}: ${candidate.missing}`);
		test.skip(candidate.name, () => undefined);
		return test.run();
	}
	let engine: Engine | null = null;
	test.before(async () => {
		engine = await candidate.start(layers);
	});
	test.after(async () => engine?.stop());
	const started = () => {
		if (!engine) throw new Error(`${candidate.name} did not start`);
		return engine;
	};
	docTests(test, candidate, started);
	docsTests(test, candidate, started);
	targetTests(test, candidate, started);
	writeTests(test, started);
	if (hasRefusals) {
		olderWriteTests(test, started);
		refusalTests(test, candidate, started);
	}
	more(test, started);
	test.run();
}
