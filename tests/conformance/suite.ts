import { skip, suite } from "../helpers/suite.ts";
import { docsTests } from "./docs.ts";
import { type Candidate, type Engine, layers } from "./engine.ts";
import { docTests } from "./reads.ts";
import { refusalTests } from "./refusals.ts";
import { targetTests } from "./targets.ts";
import { writeTests } from "./writes.ts";

/**
 * Runs the whole conformance suite against one engine, started once; skipped where it cannot be had.
 * @param hasWrites whether it is asked for writes and every target, and not for `doc` and `docs` only
 */
export function conformance(candidate: Candidate, hasWrites = true): void {
	if (candidate.missing !== null) return skip(`conformance on ${candidate.name}: ${candidate.missing}`);
	const test = suite(`conformance: ${candidate.name}`);
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
	if (hasWrites) {
		targetTests(test, candidate, started);
		writeTests(test, started);
		refusalTests(test, candidate, started);
	}
	test.run();
}
