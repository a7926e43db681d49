import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { descendantsOf, root, ServerProcess } from "../helpers/process.ts";
import { generateLayers, writeLayers } from "./layers.ts";

/** Id of the only sender of every measured service. */
export const sender = "bench";

/** A running service. */
export type Served = Awaited<ReturnType<World["start"]>>;

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The environment of all measured processes, without this process's configuration. */
export const environment = {
	PATH: process.env.PATH ?? "",
	HOME: process.env.HOME ?? "",
	...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
};

/** Runs a command. @returns its standard output @throws {Error} with its standard error, if it fails */
export async function run(command: string, args: string[], cwd = root, input = ""): Promise<string> {
	const options = { cwd, env: environment, timeout: 600_000, maxBuffer: Infinity };
	const running = promisify(execFile)(command, args, options);
	// A command that ends without reading it is no failure.
	running.child.stdin?.on("error", () => undefined).end(input);
	return (await running).stdout;
}

/** The quantile of some figures: `part` 0 is the minimum, 0.5 the median, 1 the maximum. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

/** The median, and the range if it differs, with three significant digits: `1.2 (1.1–1.4)`. */
export function rangeOf(figures: readonly number[]): string {
	const short = (figure: number) =>
		Math.abs(figure) >= 100
			? Math.round(figure).toLocaleString("en")
			: String(Number(figure.toPrecision(figure < 10 ? 2 : 3)));
	const [min, median, max] = [0, 0.5, 1].map((part) => short(quantile(figures, part)));
	return min === max ? String(median) : `${median} (${min}–${max})`;
}

/** Requests an address for 3 s, by 64 connections. Every answer must be 200. @returns the answers per second */
export async function wrk(url: string, ...more: string[]): Promise<number> {
	// The default time-out, two seconds, is too short for a machine with other work.
	const args = ["-t1", "-c64", "-d3s", "--timeout", "30s", ...more, url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		throw error.code === "ENOENT" ? new Error("wrk is not installed: apt-get install wrk") : error;
	});
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return perSecond;
}

/** Measures a task. @returns its seconds */
export async function secondsOf(task: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await task();
	return (performance.now() - start) / 1_000;
}

/** Runs a command. @returns its seconds */
export const timed = (command: string, args: string[], cwd = root) =>
	secondsOf(() => run(command, args, cwd));

/** The memory of a process and its descendants, in megabytes. Pages that several share are counted once (PSS). */
function megabytesOf(pid: number): number {
	const kilobytes = [pid, ...descendantsOf(pid)].map((member) => {
		try {
			const text = readFileSync(`/proc/${member}/smaps_rollup`, "latin1");
			return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
		} catch {
			// The process has ended.
			return 0;
		}
	});
	return (kilobytes.reduce((sum, figure) => sum + figure, 0) * 1024) / 1_000_000;
}

/** The maximum of memory of a process and its descendants during a task, in megabytes. */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	let max = 0;
	const look = () => {
		max = Math.max(max, megabytesOf(pid));
	};
	const timer = setInterval(look, 200);
	await task().finally(() => clearInterval(timer));
	look();
	return max;
}

/**
 * Opens the layers, repositories and services for the rows, in one temporary folder that is removed at the end. The rows
 * share what takes long to make.
 */
export async function openWorld(layers: number) {
	const folder = await mkdtemp(join(tmpdir(), "bench-"));
	const secret = randomBytes(24).toString("base64url");
	const ends: (() => unknown)[] = [];
	const made = new Map<string, Promise<unknown>>();
	const path = (name: string) => join(folder, name);

	/** Makes something at the first call, and gives it to all rows. */
	function shared<T>(name: string, make: () => Promise<T>): Promise<T> {
		const value = made.get(name) ?? make();
		made.set(name, value);
		return value as Promise<T>;
	}

	async function close(): Promise<void> {
		await Promise.all(ends.splice(0).map((end) => end()));
		await rm(folder, { recursive: true, force: true });
	}

	/** Runs git in a folder, with an author, and without a gc that would run during the measurement. */
	function git(cwd: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		return run("git", [...who, "-c", "gc.auto=0", ...args], cwd);
	}

	/** A checkout with all layers, committed on main after an empty commit. The rows must not change it. */
	const checkout = () =>
		shared("checkout", async () => {
			const made = path("checkout");
			writeLayers(made, layers);
			await git(made, "init", "-q", "-b", "main");
			await git(made, "commit", "-q", "--allow-empty", "-m", "first");
			await git(made, "add", "layers");
			await git(made, "commit", "-q", "-m", "layers");
			await git(made, "gc", "-q");
			return made;
		});

	/** A clone of that checkout, which one row may change. */
	async function clone(name: string, ...words: string[]): Promise<string> {
		await run("git", ["clone", "-q", "--no-hardlinks", ...words, await checkout(), path(name)]);
		return path(name);
	}

	/** Starts a service on a data folder, and waits until it has printed its address. */
	async function start(dataDir: string, more: Record<string, string> = {}) {
		const SENDERS = JSON.stringify({ [sender]: secret });
		const server = await ServerProcess.start({
			...environment,
			SITE: "on",
			DATA_DIR: dataDir,
			SENDERS,
			...more,
		});
		const stop = () => server.stop();
		ends.push(stop);
		return { url: server.url, pid: server.pid, stop, dataDir, sender, secret };
	}

	return {
		layers,
		/** The smallkeys of all layers. */
		smallkeys: () => [...generateLayers(layers)].map(({ smallkey }) => smallkey),
		/** Registers what has to end at the end. */
		endLater: (end: () => unknown) => ends.push(end),
		...{ shared, close, path, git, checkout, clone, start },
	};
}
