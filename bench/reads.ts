import { writeFile } from "node:fs/promises";
import { startProgram } from "./measure/process.ts";
import { cpuSeconds } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";
import { requestsIn, requestsPerSecond } from "./measure/wrk.ts";

/** Compares the service's answers to one target with a bare server's that sends the same bytes. */
async function prepareRead(world: World, target: string): Promise<Pair> {
	const service = await world.serve(world.layers, "reads");
	const url = `${service.url}${target}`;
	const bare = await startProgram("bench/measure/bare-server.ts", [url], {}, /^(http:\S+)$/m);
	const bareUrl = `${bare.found}${target}`;
	// Both are warm before the first round.
	await requestsPerSecond(url);
	await requestsPerSecond(bareUrl);
	return {
		ours: () => requestsPerSecond(url),
		reference: () => requestsPerSecond(bareUrl),
		close: async () => {
			await bare.stop();
			await service.stop();
			await world.remove("reads");
		},
	};
}

/** Microseconds of CPU that each answer costs the service, and a bare server that sends the same bytes. */
async function prepareCpu(world: World, target: string): Promise<Pair> {
	const service = await world.serve(world.layers, "reads-cpu");
	const url = `${service.url}${target}`;
	const bare = await startProgram("bench/measure/bare-server.ts", [url], {}, /^(http:\S+)$/m);
	const bareUrl = `${bare.found}${target}`;
	await requestsPerSecond(url);
	await requestsPerSecond(bareUrl);
	const cost = async (pid: number, address: string) => {
		const before = cpuSeconds(pid);
		const requests = await requestsIn(address);
		return ((cpuSeconds(pid) - before) / requests) * 1_000_000;
	};
	return {
		ours: () => cost(service.pid, url),
		reference: () => cost(bare.pid, bareUrl),
		close: async () => {
			await bare.stop();
			await service.stop();
			await world.remove("reads-cpu");
		},
	};
}

/** Compares lists of keys that were never asked for before with a bare server's one answer of such a list. */
async function prepareFresh(world: World, count: number): Promise<Pair> {
	const service = await world.serve(world.layers, "reads-fresh");
	const script = world.path("fresh.lua");
	await writeFile(script, freshLists(world.smallkeys(world.layers), count));
	const one = `${service.url}/v0.9/docs/en/${someKeys(world, count).join(",")}`;
	const bare = await startProgram("bench/measure/bare-server.ts", [one], {}, /^(http:\S+)$/m);
	await requestsPerSecond(service.url, script);
	await requestsPerSecond(bare.found, script);
	return {
		ours: () => requestsPerSecond(service.url, script),
		reference: () => requestsPerSecond(bare.found, script),
		close: async () => {
			await bare.stop();
			await service.stop();
			await world.remove("reads-fresh");
		},
	};
}

/** A script of wrk that asks for `count` of the keys in random order each time. */
function freshLists(smallkeys: string[], count: number): string {
	return `local keys = {${smallkeys.map((smallkey) => `"${smallkey}"`).join(",")}}
math.randomseed(os.time())
request = function()
	local list = {}
	for i = 1, ${count} do list[i] = keys[math.random(#keys)] end
	return wrk.format("GET", "/v0.9/docs/en/" .. table.concat(list, ","))
end
`;
}

function freshRow(count: number, least: number): Row {
	return {
		name: `docs-fresh-${count}`,
		ours: `docs with ${count} keys never asked for before, 64 connections`,
		reference: "a bare node:http server, one such answer",
		unit: "requests/s",
		reach: { of: "ratio", least },
		prepare: (world) => prepareFresh(world, count),
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
		prepare: (world) => prepareRead(world, `/v0.9/docs/en/${someKeys(world, count).join(",")}`),
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
		prepare: (world) => prepareRead(world, `/v0.9/doc/en/${someKeys(world, 1)[0]}`),
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
		prepare: (world) => prepareCpu(world, `/v0.9/doc/en/${someKeys(world, 1)[0]}`),
	},
	freshRow(10, 0.5),
	freshRow(50, 0.3),
];
