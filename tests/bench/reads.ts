import { fork } from "node:child_process";
import { once } from "node:events";
import { root } from "../helpers/process.ts";
import type { Row } from "./rows.ts";
import { pushed } from "./service.ts";
import { run, type World } from "./world.ts";

/**
 * Requests an address for 3 s, by 64 connections, as fast as it answers. Every answer must be 200.
 * @returns the answers per second
 */
export async function wrk(url: string): Promise<number> {
	// The default time-out, two seconds, is too short for a machine with other work.
	const args = ["-t1", "-c64", "-d3s", "--timeout", "30s", url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		throw error.code === "ENOENT" ? new Error("wrk is not installed: apt-get install wrk") : error;
	});
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return perSecond;
}

/** Starts a bare server that sends the bytes of an answer. @returns its origin */
async function startBare(world: World, url: string): Promise<string> {
	const bare = fork("tests/bench/bare-server.ts", [url], { cwd: root, execArgv: ["--import", "tsx"] });
	world.endLater(() => bare.kill());
	const [origin] = await once(bare, "message");
	return origin as string;
}

/** A row about reads of some keys at once. */
function row(name: string, what: string, folder: string, count: number, least: number): Row {
	return {
		...{ name, what, reference: "bare `node:http`", unit: "requests/s", isOnce: true },
		goal: () => ({ of: "ratio", least }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const path = `/v0.9/${folder}/en/${world.smallkeys().slice(0, count)}`;
			const bare = await startBare(world, service.url + path);
			// Warms both servers up before the first round.
			for (const origin of [service.url, bare]) await wrk(origin + path);
			return { ours: () => wrk(service.url + path), reference: () => wrk(bare + path) };
		},
	};
}

/** Rows about reads from the Node server. */
export const readRows: Row[] = [
	row("doc", "`doc`, one fragment", "doc", 1, 0.95),
	row("docs-10", "`docs` with 10 keys", "docs", 10, 0.8),
];
