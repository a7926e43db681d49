import { pssMegabytes } from "./measure/processes.ts";
import type { Sent } from "./measure/publisher.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";
import { publish } from "./writes.ts";

const publishers = 32;
const putsPerRound = 3_000;
const putsBefore = 4_000;
const putsAlone = 100;
const memoryEveryMs = 200;

/** Two services on the same layers: ours, and that of the other checkout. One is at rest while the other is measured. */
async function prepare(
	world: World,
	name: string,
	measure: (service: Served, layers: number) => Promise<number>,
): Promise<Pair> {
	if (world.beside === null) throw new Error(`${name}: needs --beside <checkout>`);
	const names = [`${name}-ours`, `${name}-other`] as const;
	const ours = await world.serve(world.layers, names[0], "off");
	const other = await world.serve(world.layers, names[1], "off", world.beside);
	return {
		ours: () => measure(ours, world.layers),
		reference: () => measure(other, world.layers),
		close: async () => {
			for (const service of [ours, other]) await service.stop();
			for (const folder of names) await world.remove(folder);
		},
	};
}

function sendMany(service: Served, layers: number): Promise<Sent> {
	return publish(service, { count: Math.min(putsPerRound, layers), publishers });
}

/** The time below which a part of all answers came. */
function percentile({ milliseconds }: Sent, part: number): number {
	const sorted = [...milliseconds].sort((a, b) => a - b);
	return sorted[Math.round((sorted.length - 1) * part)] as number;
}

/** The most memory of a service and all its processes, at any moment of a task, in megabytes. */
async function maxMemory(service: Served, task: () => Promise<unknown>): Promise<number> {
	let most = pssMegabytes(service.pid);
	const timer = setInterval(() => {
		most = Math.max(most, pssMegabytes(service.pid));
	}, memoryEveryMs);
	await task().finally(() => clearInterval(timer));
	return most;
}

const many = `signed PUTs, ${publishers} publishers at once`;

/** Rows that set this version beside another one, in turn, on the same layers. */
export const besideRows: Row[] = [
	{
		name: "puts-beside",
		ours: many,
		reference: "the same of the other version",
		unit: "changes/s",
		reach: { of: "ratio", least: 0.9 },
		prepare: (world) =>
			prepare(world, "puts-beside", async (service, layers) => {
				const { seconds, milliseconds } = await sendMany(service, layers);
				return milliseconds.length / seconds;
			}),
	},
	{
		name: "puts-beside-p99",
		ours: `99th percentile of ${many}`,
		reference: "the same of the other version",
		unit: "ms",
		reach: { of: "ours", most: 250 },
		prepare: (world) =>
			prepare(world, "puts-beside-p99", async (service, layers) => {
				return percentile(await sendMany(service, layers), 0.99);
			}),
	},
	{
		name: "put-alone-beside",
		ours: "one signed PUT alone, until its 201",
		reference: "the same of the other version",
		unit: "ms",
		reach: { of: "ratio", most: 1.2 },
		prepare: (world) =>
			prepare(world, "put-alone-beside", async (service) => {
				return percentile(await publish(service, { count: putsAlone }), 0.5);
			}),
	},
	{
		name: "put-after-beside",
		ours: `99th percentile of one PUT alone, right after ${putsBefore.toLocaleString("en")} others`,
		reference: "the same of the other version",
		unit: "ms",
		reach: { of: "ours", most: 50 },
		prepare: (world) =>
			prepare(world, "put-after-beside", async (service, layers) => {
				await publish(service, { count: Math.min(putsBefore, layers), publishers });
				return percentile(await publish(service, { count: putsAlone }), 0.99);
			}),
	},
	{
		name: "puts-beside-memory",
		ours: `most memory (PSS) of all processes during ${many}`,
		reference: "the same of the other version",
		unit: "MB",
		reach: { of: "ratio", most: 1 },
		prepare: (world) =>
			prepare(world, "puts-beside-memory", (service, layers) => {
				return maxMemory(service, () => sendMany(service, layers));
			}),
	},
];
