import { startProgram } from "./measure/process.ts";
import { cpuSeconds } from "./measure/processes.ts";
import type { Pair, Reach, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";
import { wrk } from "./measure/wrk.ts";

/** Measures requests to an address. @param pid the process that answers */
type Measure = (url: string, pid: number) => Promise<number>;

const answersPerSecond: Measure = async (url) => (await wrk(url)).perSecond;

/** CPU time of a process for each answer, in microseconds. */
const cpuOfAnswer: Measure = async (url, pid) => {
	const before = cpuSeconds(pid);
	const { requests } = await wrk(url);
	return ((cpuSeconds(pid) - before) / requests) * 1_000_000;
};

/** Compares the service's answers to one request target with those of a bare server that sends the same bytes. */
async function prepareRead(world: World, target: string, measure: Measure): Promise<Pair> {
	const service = await world.serve(world.layers, "reads");
	const url = `${service.url}${target}`;
	const bare = await startProgram(["bench/measure/bare-server.ts", url], {}, /^(http:\S+)$/m);
	const bareUrl = `${bare.found}${target}`;
	// Warms both servers up before the first round.
	await wrk(url);
	await wrk(bareUrl);
	return {
		ours: () => measure(url, service.pid),
		reference: () => measure(bareUrl, bare.pid),
	};
}

/** `count` smallkeys, spread over the catalogue. */
function someKeys(world: World, count: number): string[] {
	const smallkeys = world.smallkeys(world.layers);
	const step = Math.max(1, Math.floor(smallkeys.length / count));
	return Array.from({ length: count }, (_, index) => smallkeys[(index * step) % smallkeys.length] as string);
}

/** A row about `doc` with one key, or about `docs` with one or more. */
function row(name: string, what: string, count: number, reach: Reach, isCpu = false): Row {
	const path = name.startsWith("docs") ? "docs" : "doc";
	const target = (world: World) => `/v0.9/${path}/en/${someKeys(world, count).join(",")}`;
	return {
		name,
		ours: `${what}, 64 connections`,
		reference: "a bare node:http server, the same bytes",
		unit: isCpu ? "µs" : "requests/s",
		reach,
		prepare: (world) => prepareRead(world, target(world), isCpu ? cpuOfAnswer : answersPerSecond),
	};
}

/** Rows about reads from the Node server. */
export const readRows: Row[] = [
	row("doc", "doc, one fragment", 1, { of: "ratio", least: 0.85 }),
	row("docs-1", "docs with 1 key", 1, { of: "ratio", least: 0.8 }),
	row("docs-10", "docs with 10 keys", 10, { of: "ratio", least: 0.7 }),
	row("docs-50", "docs with 50 keys", 50, { of: "ratio", least: 0.6 }),
	row("doc-cpu", "doc, CPU of one request", 1, { of: "ratio", most: 1.12 }, true),
];
