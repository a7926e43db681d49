import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { descendantsOf, root } from "../../helpers/process.ts";

/** Time limit of one command, or of one wait, in milliseconds. */
const timeoutMs = 600_000;

/** The environment of all measured processes, without this process's configuration. */
export const environment: Record<string, string> = {
	PATH: process.env.PATH ?? "",
	HOME: process.env.HOME ?? "",
	// The map services of the layers do not exist.
	HARVEST: "off",
	...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
};

/**
 * Runs a command to its end.
 * @param input its standard input
 * @returns its standard output
 * @throws {Error} with its standard error, if it fails
 */
export async function run(
	command: string,
	args: string[],
	{ cwd = root, input }: { cwd?: string; input?: string } = {},
): Promise<string> {
	const options = { cwd, env: environment, timeout: timeoutMs, maxBuffer: Infinity };
	const running = promisify(execFile)(command, args, options);
	running.child.stdin?.end(input);
	return (await running).stdout;
}

/** Measures a task. @returns its seconds */
export async function secondsOf(task: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await task();
	return (performance.now() - start) / 1000;
}

/** Runs a command. @returns its seconds */
export const timed = (command: string, args: string[], cwd = root) =>
	secondsOf(() => run(command, args, { cwd }));

/** Repeats a check until it has a result. @throws {Error} if there is none in ten minutes */
export async function until<T>(what: string, check: () => Promise<T | false>, pauseMs = 200): Promise<T> {
	for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(pauseMs)) {
		const found = await check();
		if (found !== false) return found;
	}
	throw new Error(`${what}: not within ${timeoutMs} ms`);
}

/** Clock ticks per second of the times in /proc (`getconf CLK_TCK`; 100 on every Linux of today). */
const ticksPerSecond = 100;

/** A process and its running descendants. */
export function familyOf(pid: number): number[] {
	return [pid, ...descendantsOf(pid)];
}

/** Sums a figure of a process's files in /proc over its family; a process that has ended has none. */
function sumOf(pid: number, file: string, figureOf: (text: string) => number): number {
	let sum = 0;
	for (const member of familyOf(pid)) {
		try {
			sum += figureOf(readFileSync(`/proc/${member}/${file}`, "latin1"));
		} catch {
			// The process has ended.
		}
	}
	return sum;
}

/** CPU seconds (user and system) of a process and its descendants, also of those that have ended. */
export function cpuSeconds(pid: number): number {
	return sumOf(pid, "stat", (text) => ticksIn(text, 4)) / ticksPerSecond;
}

/** CPU ticks in `/proc/<pid>/stat`: of the process (2 fields), then also of its ended children (4). */
function ticksIn(stat: string, fields: number): number {
	// The fields after the name, which may have spaces, begin with the state.
	const values = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return values.slice(11, 11 + fields).reduce((ticks, field) => ticks + Number(field), 0);
}

/**
 * CPU seconds of a service's own process during a task, and of its process for the catalogue, which may be replaced
 * meanwhile.
 */
export async function cpuDuring(pid: number, task: () => Promise<unknown>) {
	const last = new Map<number, number>();
	const look = () => {
		for (const member of familyOf(pid)) {
			try {
				if (member !== pid && !readFileSync(`/proc/${member}/cmdline`, "latin1").includes("catalogue-worker"))
					continue;
				last.set(member, ticksIn(readFileSync(`/proc/${member}/stat`, "latin1"), 2));
			} catch {
				// The process has ended.
			}
		}
	};
	look();
	const first = new Map(last);
	const timer = setInterval(look, lookIntervalMs);
	await task().finally(() => clearInterval(timer));
	look();
	const secondsOf = (member: number) => ((last.get(member) ?? 0) - (first.get(member) ?? 0)) / ticksPerSecond;
	const catalogue = [...last.keys()].filter((member) => member !== pid);
	return {
		service: secondsOf(pid),
		catalogue: catalogue.reduce((sum, member) => sum + secondsOf(member), 0),
	};
}

/** How often `/proc` is read during a task, in milliseconds. */
const lookIntervalMs = 200;

/**
 * The maximum of memory of a process and its descendants during a task, in megabytes. Pages that several share are counted
 * once (PSS).
 */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	const pss = (text: string) => (Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024) / 1_000_000;
	let max = 0;
	const look = () => {
		max = Math.max(max, sumOf(pid, "smaps_rollup", pss));
	};
	look();
	const timer = setInterval(look, lookIntervalMs);
	await task().finally(() => clearInterval(timer));
	return max;
}
