import { join } from "node:path";
import { targetNames } from "../registry/targets/table.ts";
import { removeOutput } from "./builds.ts";
import { cpuOf } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** What one more target costs a full build, beside what the first one does: CPU, of the process and all its children. */
async function prepareTarget(world: World): Promise<Pair> {
	const layers = join(await world.checkout(world.layers), "layers");
	const out = world.path("targets");
	const buildAt = async (targets: readonly string[]) => {
		await removeOutput(out);
		const words = ["npm", "run", "-s", "build", "--", "--layers", layers, "--out", out];
		return cpuOf("env", [`TARGETS=${targets.join(",")}`, ...words]);
	};
	const start = () => cpuOf("npm", ["run", "-s", "build", "--", "--help"]);
	let first = 0;
	// What the system reads for the first time is no target's cost.
	await buildAt(targetNames);
	return {
		ours: async () => {
			first = await buildAt(targetNames.slice(0, 1));
			const all = await buildAt(targetNames);
			return (all - first) / (targetNames.length - 1);
		},
		reference: async () => first - (await start()),
		close: () => removeOutput(out),
	};
}

/** The row about the forms in which layers are read. */
export const targetRows: Row[] = [
	{
		name: "target-cost",
		ours: "each further target in a full build, CPU",
		reference: "v0.9 alone in a full build without its start, CPU",
		unit: "s",
		reach: { of: "ratio", most: 1 },
		prepare: prepareTarget,
	},
];
