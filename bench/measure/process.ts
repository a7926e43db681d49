import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { root } from "../../tests/process.ts";

/** Time limit of one command, or of one wait, in milliseconds. */
const timeoutMs = 600_000;

/** The environment of all measured processes, without this process's configuration. */
export const environment: Record<string, string> = {
	PATH: process.env.PATH ?? "",
	HOME: process.env.HOME ?? "",
	// The rows measure one target: each further target adds the same work again. The catalogue has its own rows.
	...{ TARGETS: "v0.9", SITE: "off" },
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
