import { maxMegabytes } from "./measure/processes.ts";
import { quantile, type Reach, type Row } from "./measure/row.ts";
import type { Served } from "./measure/world.ts";
import { publish, publishers, putsAlone, putsPerRound } from "./writes.ts";

/** PUTs of many publishers that precede the PUTs of one publisher alone, or follow a push. */
export const putsBefore = 4_000;

/** One figure of a service. */
type Measure = (service: Served, layers: number) => Promise<number>;

/** A row with two services on the same layers: this checkout's and the other's. One is idle while the other is measured. */
function row(name: string, ours: string, unit: Row["unit"], reach: Reach, measure: Measure): Row {
	const prepare: Row["prepare"] = async (world) => {
		if (world.beside === null) throw new Error(`${name}: needs --beside <checkout>`);
		const own = await world.serve(world.layers, "ours");
		const other = await world.serve(world.layers, "other", { checkout: world.beside });
		return { ours: () => measure(own, world.layers), reference: () => measure(other, world.layers) };
	};
	return { name, ours, reference: "the same of the other version", unit, reach, prepare };
}

export function sendMany(service: Served, layers: number, maxPuts = putsPerRound) {
	return publish(service, { count: Math.min(maxPuts, layers), publishers });
}

const many = `signed PUTs, ${publishers} publishers at once`;
const after = `99th percentile of one PUT alone, right after ${putsBefore.toLocaleString("en")} others`;

/** Rows that compare this version with another one, alternately, on the same layers. */
export const besideRows: Row[] = [
	row("puts-beside", many, "changes/s", { of: "ratio", least: 0.9 }, async (service, layers) => {
		const { seconds, milliseconds } = await sendMany(service, layers);
		return milliseconds.length / seconds;
	}),
	row(
		"puts-beside-p99",
		`99th percentile of ${many}`,
		"ms",
		{ of: "ours", most: 250 },
		async (service, layers) => quantile((await sendMany(service, layers)).milliseconds, 0.99),
	),
	row(
		"put-alone-beside",
		"one signed PUT alone, until its 201",
		"ms",
		{ of: "ratio", most: 1.2 },
		async (service) => quantile((await publish(service, { count: putsAlone })).milliseconds, 0.5),
	),
	row("put-after-beside", after, "ms", { of: "ours", most: 50 }, async (service, layers) => {
		await sendMany(service, layers, putsBefore);
		return quantile((await publish(service, { count: putsAlone })).milliseconds, 0.99);
	}),
	row(
		"puts-beside-memory",
		`most memory (PSS) of all processes during ${many}`,
		"MB",
		{ of: "ratio", most: 1 },
		(service, layers) => maxMegabytes(service.pid, () => sendMany(service, layers)),
	),
];
