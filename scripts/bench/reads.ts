import { fork } from "node:child_process";
import { once } from "node:events";
import { root } from "../../tests/process.ts";
import { cpuSeconds, run } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Concurrent connections, and seconds of one measurement. */
const connections = 64;
const seconds = 3;

/**
 * Requests an address as fast as it answers. Every answer must be 200.
 * @returns the number of answers, and the answers per second
 * @throws {Error} if wrk is not installed, or an answer is not 200
 */
export async function wrk(url: string): Promise<{ requests: number; perSecond: number }> {
	// The default time-out, two seconds, is too short for a machine with other work.
	const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") throw new Error("wrk is not installed: apt-get install wrk");
		throw error;
	});
	const requests = Number(/^ *(\d+) requests in /m.exec(printed)?.[1]);
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(requests + perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return { requests, perSecond };
}

/** Measures requests to an address: answers per second, or the process's CPU time of an answer in microseconds. */
async function measureReads(url: string, pid: number, isCpu: boolean): Promise<number> {
	const before = cpuSeconds(pid);
	const { requests, perSecond } = await wrk(url);
	return isCpu ? ((cpuSeconds(pid) - before) / requests) * 1_000_000 : perSecond;
}

/** Compares the service's answers to one request target with those of a bare server that sends the same bytes. */
async function prepareRead(world: World, target: string, isCpu: boolean): Promise<Pair> {
	const service = await world.serve("reads");
	const url = `${service.url}${target}`;
	const options = { cwd: root, execArgv: ["--import", "tsx"] };
	const bare = fork("scripts/bench/measure/bare-server.ts", [url], options);
	world.endLater(() => bare.kill());
	const [origin] = await once(bare, "message");
	const bareUrl = `${origin}${target}`;
	// Warms both servers up before the first round.
	await wrk(url);
	await wrk(bareUrl);
	return {
		ours: () => measureReads(url, service.pid, isCpu),
		reference: () => measureReads(bareUrl, bare.pid as number, isCpu),
	};
}

/** `count` smallkeys, spread over the catalogue. */
function someKeys(world: World, count: number): string[] {
	const all = world.smallkeys();
	return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as string);
}

/** A row about `doc` with one key, or about `docs` with one or more. */
function row(name: string, what: string, count: number, reach: Row["reach"], isCpu = false): Row {
	const path = name.startsWith("docs") ? "docs" : "doc";
	const target = (world: World) => `/v0.9/${path}/en/${someKeys(world, count).join(",")}`;
	return {
		name,
		ours: `${what}, ${connections} connections`,
		reference: "a bare node:http server, the same bytes",
		unit: isCpu ? "µs" : "requests/s",
		reach,
		prepare: (world) => prepareRead(world, target(world), isCpu),
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
