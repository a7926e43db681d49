import { runUnless, sharedSuite } from "../helpers/world.ts";
import { docsTests } from "./docs.ts";
import { type Candidate, layers, Scene } from "./engine.ts";
import { docTests } from "./reads.ts";
import { targetTests } from "./targets.ts";
import { writeTests } from "./writes.ts";

/** Tests that every engine passes. @param hasWrites false: only `doc` and `docs` of one target */
export function testConformance(candidate: Candidate, hasWrites = true): void {
	const test = sharedSuite<Scene>(`conformance: ${candidate.name}`, async (use) => {
		const engine = await candidate.start(layers);
		use(() => engine.stop());
		return new Scene(candidate, engine);
	});
	for (const add of [docTests, docsTests, ...(hasWrites ? [targetTests, writeTests] : [])]) add(test);
	runUnless(candidate.missing && `conformance on ${candidate.name}: ${candidate.missing}`, test);
}
