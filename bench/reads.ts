import { startProgram } from "./measure/process.ts";
import { cpuSeconds } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";
import { requestsIn, requestsPerSecond } from "./measure/wrk.ts";

/** A figure of requests to an address that a process answers. */
type Measure = (url: string, pid: number) => Promise<number>;

/** Microseconds of CPU that each answer costs a process. */
const cpuOfAnswer: Measure = async (url, pid) => {
	const before = cpuSeconds(pid);
	const requests = await requestsIn(url);
	return ((cpuSeconds(pid) - before) / requests) * 1_000_000;
};

/** Compares the service's answers to one target with a bare server's that sends the same bytes. */
async function prepareRead(world: World, target: string, measure: Measure): Promise<Pair> {
	const service = await world.serve(world.layers, "reads");
	const url = `${service.url}${target}`;
	const bare = await startProgram("bench/measure/bare-server.ts", [url], {}, /^(http:\S+)$/m);
	const bareUrl = `${bare.found}${target}`;
	// Both are warm before the first round.
	await requestsPerSecond(url);
	await requestsPerSecond(bareUrl);
	return {
		ours: () => measure(url, service.pid),
		reference: () => measure(bareUrl, bare.pid),
	};
}

/** `count` smallkeys from all over the catalogue. */
function someKeys(world: World, count: number): string[] {
	const smallkeys = world.smallkeys(world.layers);
	const step = Math.max(1, Math.floor(smallkeys.length / count));
	return Array.from({ length: count }, (_, index) => smallkeys[(index * step) % smallkeys.length] as string);
}

function docsRow(count: number, least: number): Row {
	return {
		name: `docs-${count}`,
		ours: `docs with ${count} ${count === 1 ? "key" : "keys"}, 64 connections`,
		reference: "a bare node:http server, the same bytes",
		unit: "requests/s",
		reach: { of: "ratio", least },
		prepare: (world) =>
			prepareRead(world, `/v0.9/docs/en/${someKeys(world, count).join(",")}`, requestsPerSecond),
	};
}

/** Rows about reads from the Node server. */
export const readRows: Row[] = [
	{
		name: "doc",
		ours: "doc, one fragment, 64 connections",
		reference: "a bare node:http server, the same bytes",
		unit: "requests/s",
		reach: { of: "ratio", least: 0.85 },
		prepare: (world) => prepareRead(world, `/v0.9/doc/en/${someKeys(world, 1)[0]}`, requestsPerSecond),
	},
	docsRow(1, 0.8),
	docsRow(10, 0.7),
	docsRow(50, 0.6),
	{
		name: "doc-cpu",
		ours: "doc, CPU of one request, 64 connections",
		reference: "a bare node:http server, the same bytes",
		unit: "µs",
		reach: { of: "ratio", most: 1.12 },
		prepare: (world) => prepareRead(world, `/v0.9/doc/en/${someKeys(world, 1)[0]}`, cpuOfAnswer),
	},
];
