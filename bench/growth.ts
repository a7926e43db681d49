import { join } from "node:path";
import { fullBuild, removeOutput } from "./builds.ts";
import { pssMegabytes } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** How many times as many layers the larger of two catalogues has. */
const times = 10;
/** Layers of the larger one, for each that is asked for: rows of their own size would not show growth. */
const factor = 3;

/** What one layer costs in a catalogue of three times as many layers as are asked for, and in one of a tenth of that. */
function costRow(
	name: string,
	ours: string,
	unit: Row["unit"],
	cost: (world: World, layers: number) => Promise<number>,
): Row {
	const perThousand = async (world: World, layers: number) => ((await cost(world, layers)) / layers) * 1_000;
	return {
		name,
		ours: `${ours}, for 1,000 layers of ${factor} times as many`,
		reference: "the same with a tenth of them",
		unit,
		reach: { of: "ratio", most: 1.2 },
		prepare: async (world): Promise<Pair> => ({
			ours: () => perThousand(world, world.layers * factor),
			reference: () => perThousand(world, (world.layers * factor) / times),
		}),
	};
}

async function buildCost(world: World, layers: number): Promise<number> {
	const out = world.path("cost-build");
	const seconds = await fullBuild(join(await world.checkout(layers), "layers"), out);
	await removeOutput(out);
	return seconds;
}

/** Starts a service that has seen these layers before; what `measure` says of it. */
async function withService(
	world: World,
	layers: number,
	measure: (start: number, pid: number) => number,
): Promise<number> {
	const dataDir = await world.dataFolder(layers, "cost-service");
	await (await world.startAgain(dataDir)).stop();
	const start = performance.now();
	const service = await world.startAgain(dataDir);
	const figure = measure(start, service.pid);
	await service.stop();
	await world.remove("cost-service");
	return figure;
}

/** Rows about what grows with the number of layers; one round of them is enough. */
export const growthRows: Row[] = [
	costRow("cost-build", "full build", "s", buildCost),
	costRow("cost-start", "server start, unchanged layers", "s", (world, layers) =>
		withService(world, layers, (start) => (performance.now() - start) / 1000),
	),
	costRow("cost-memory", "memory (PSS) after that", "MB", (world, layers) =>
		withService(world, layers, (_, pid) => pssMegabytes(pid)),
	),
];
