import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { root } from "../helpers/process.ts";
import { run } from "./measure/process.ts";
import type { Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";
import { pushed } from "./pushed.ts";

/** Concurrent connections, and seconds of one measurement. */
const connections = 64;
const seconds = 3;

/**
 * Requests an address as fast as it answers. Every answer must be 200.
 * @param words a script for wrk, and its arguments
 * @returns the answers per second
 * @throws {Error} if an answer is not 200
 */
export async function wrk(url: string, script: readonly string[] = [], words: readonly string[] = []) {
	// The default time-out, two seconds, is too short for a machine with other work.
	const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", ...script, url, ...words];
	const printed = await run("wrk", args);
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return perSecond;
}

/** @throws {Error} if wrk is not installed */
async function needWrk(): Promise<void> {
	// It prints its version, and exits with 1.
	const error = await run("wrk", ["--version"]).catch((error: NodeJS.ErrnoException) => error);
	if (error instanceof Error && error.code === "ENOENT")
		throw new Error("wrk is not installed: apt-get install wrk");
}

/** Starts a bare server that sends the bytes of an answer. @returns its origin */
async function startBare(world: World, url: string): Promise<string> {
	const options = { cwd: root, execArgv: ["--import", "tsx"] };
	const bare = fork("tests/bench/measure/bare-server.ts", [url], options);
	world.endLater(() => bare.kill());
	const [origin] = await once(bare, "message");
	return origin as string;
}

/** `count` smallkeys, spread over the catalogue. */
function someKeys(world: World, count: number): string[] {
	const all = world.smallkeys();
	return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as string);
}

/** A row about `doc` with one key, or about `docs` with one or more; with `isNew`, no list is requested twice. */
function row(name: string, what: string, count: number, least: number, isNew = false): Row {
	const path = `/v0.9/${name.startsWith("docs") ? "docs" : "doc"}/en/`;
	return {
		name,
		ours: what,
		reference: "bare `node:http`",
		unit: "requests/s",
		reach: () => ({ of: "ratio", least }),
		isOnce: true,
		prepare: async (world) => {
			await needWrk();
			const { service } = await pushed(world);
			const keys = someKeys(world, count).join(",");
			const bare = await startBare(world, service.url + path + keys);
			const list = world.path("smallkeys");
			await writeFile(list, `${world.smallkeys().join("\n")}\n`);
			const script = isNew ? ["-s", "tests/bench/measure/lists.lua"] : [];
			const words = isNew ? ["--", list, String(count)] : [];
			const measure = (origin: string) => wrk(origin + path + (isNew ? "" : keys), script, words);
			// Warms both servers up before the first round.
			await measure(service.url);
			await measure(bare);
			return { ours: () => measure(service.url), reference: () => measure(bare) };
		},
	};
}

/** Rows about reads from the Node server. */
export const readRows: Row[] = [
	row("doc", "`doc`, one fragment", 1, 0.95),
	row("docs-1", "`docs` with 1 key", 1, 0.85),
	row("docs-10", "`docs` with 10 keys", 10, 0.8),
	row("docs-50", "`docs` with 50 keys", 50, 0.85),
	row("docs-10-new", "new lists of 10 keys", 10, 0.5, true),
	row("docs-50-new", "new lists of 50 keys", 50, 0.35, true),
];
