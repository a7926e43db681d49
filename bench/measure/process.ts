import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The repository's root, in which the programs are started. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Time limit of one command, or of one wait, in milliseconds. */
const timeoutMs = 600_000;

/** The environment of a measured process, without this process's configuration. */
export function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
	const { PATH, HOME } = process.env;
	// The rows measure one target: each further target adds the same work again. The catalogue has its own rows.
	const service = { TARGETS: "v0.9", SITE: "off" };
	return { PATH, HOME, ...service, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", ...more };
}

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
	const options = { cwd, env: environment(), timeout: timeoutMs, maxBuffer: Infinity };
	const running = promisify(execFile)(command, args, options);
	running.child.stdin?.end(input);
	return (await running).stdout;
}

/** Runs a command. @returns its time in seconds */
export async function timed(command: string, args: string[], cwd = root): Promise<number> {
	const start = performance.now();
	await run(command, args, { cwd });
	return (performance.now() - start) / 1000;
}

/** Repeats a check until it has a result. @throws {Error} if there is none in ten minutes */
export async function until<T>(what: string, check: () => Promise<T | false>, pauseMs = 200): Promise<T> {
	for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(pauseMs)) {
		const found = await check();
		if (found !== false) return found;
	}
	throw new Error(`${what}: not within ${timeoutMs} ms`);
}

/** A program that runs until it is stopped. */
export interface Running {
	/** The first group of `ready` in its output. */
	found: string;
	pid: number;
	stop: () => Promise<void>;
}

/** The functions that stop the running programs. Running programs would keep this process alive. */
const running = new Set<() => Promise<void>>();

/** Stops every running program. */
export async function stopAll(): Promise<void> {
	await Promise.all([...running].map((stop) => stop()));
}

/**
 * Starts a TypeScript program and waits until its output matches `ready`.
 * @param words its path and arguments, after Node's options, if any
 * @param cwd the checkout of the program
 */
export async function startProgram(
	words: string[],
	env: Record<string, string>,
	ready: RegExp,
	preloads: string[] = [],
	cwd = root,
): Promise<Running> {
	const imports = ["tsx", ...preloads].flatMap((preload) => ["--import", preload]);
	const child = spawn(process.execPath, [...imports, ...words], {
		cwd,
		env: environment(env),
		stdio: ["ignore", "pipe", "pipe"],
	});
	const ended = once(child, "close");
	// When this process ends, such as by Ctrl-C, its servers end too.
	const end = () => child.kill("SIGTERM");
	process.on("exit", end);
	const stop = async () => {
		running.delete(stop);
		process.off("exit", end);
		end();
		await ended;
	};
	running.add(stop);
	const found = await outputOf(child, ready);
	return { found, pid: child.pid as number, stop };
}

function outputOf(child: ChildProcess, ready: RegExp): Promise<string> {
	return new Promise((resolve, reject) => {
		let output = "";
		let isReady = false;
		const take = (data: Buffer) => {
			if (isReady) return;
			output += data;
			const found = ready.exec(output)?.[1];
			if (found === undefined) return;
			isReady = true;
			resolve(found);
		};
		child.stdout?.on("data", take);
		child.stderr?.on("data", take);
		child.on("close", (code) => reject(new Error(`a server ended with ${code}: ${output}`)));
	});
}
