import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The repository's root: where the scripts are started. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Longest that one command, or one wait, may take, in milliseconds. */
const patience = 600_000;

/** The environment of a measured process, without the configuration of this one. */
export function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
	const { PATH, HOME } = process.env;
	// The rows are of one target: every further one adds the same work again. The catalogue has rows of its own.
	const service = { TARGETS: "v0.9", SITE: "off" };
	return { PATH, HOME, ...service, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", ...more };
}

/**
 * Runs a command to its end.
 * @param input what it reads
 * @returns what it printed
 * @throws {Error} with what it printed to standard error where it fails
 */
export async function run(
	command: string,
	args: string[],
	{ cwd = root, input }: { cwd?: string; input?: string } = {},
): Promise<string> {
	const options = { cwd, env: environment(), timeout: patience, maxBuffer: Infinity };
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

/** Looks until there is a result. @throws {Error} if there is none in ten minutes */
export async function until<T>(what: string, look: () => Promise<T | false>, pauseMs = 200): Promise<T> {
	for (const deadline = performance.now() + patience; performance.now() < deadline; await sleep(pauseMs)) {
		const found = await look();
		if (found !== false) return found;
	}
	throw new Error(`${what}: not within ${patience} ms`);
}

/** A program that runs until it is stopped. */
export interface Running {
	/** What `ready` found in its output. */
	found: string;
	pid: number;
	stop: () => Promise<void>;
}

/** The programs that run, which would keep this process alive. */
const running = new Set<() => Promise<void>>();

/** Stops every program that was started and not stopped. */
export async function stopAll(): Promise<void> {
	await Promise.all([...running].map((stop) => stop()));
}

/**
 * Starts a TypeScript program and waits until its output has what `ready` finds.
 * @param cwd the checkout that it is of
 */
export async function startProgram(
	path: string,
	args: string[],
	env: Record<string, string>,
	ready: RegExp,
	preloads: string[] = [],
	cwd = root,
): Promise<Running> {
	const imports = ["tsx", ...preloads].flatMap((preload) => ["--import", preload]);
	const child = spawn(process.execPath, [...imports, path, ...args], {
		cwd,
		env: environment(env),
		stdio: ["ignore", "pipe", "pipe"],
	});
	const ended = once(child, "close");
	// The end of this process, as by Ctrl-C, ends its servers, too.
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
