import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import type { Io } from "../../api/configuration.ts";
import type { Extension } from "../../api/service/extensions.ts";
import { run } from "../../scripts/main.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export const packageFolders = [".", "deploy/workers", "tests/viewer/terria"];

export function cleanEnvironment(env: Record<string, string>): NodeJS.ProcessEnv {
	const { PATH, HOME, TMPDIR } = process.env;
	return { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), ...env };
}

export interface Ended {
	code: number;
	stdout: string;
	stderr: string;
}

export async function runScript(
	name: string,
	args: string[],
	env: Record<string, string> = {},
	io: Partial<Io> = {},
	extensions?: readonly Extension[],
) {
	const written = { stdout: "", stderr: "" };
	const add = (stream: keyof typeof written) => (text: string) => {
		written[stream] += `${text}\n`;
	};
	const all = {
		print: add("stdout"),
		warn: add("stderr"),
		now: () => new Date(),
		ask: async () => null,
		interrupted: () => new AbortController().signal,
		...io,
	};
	const code = await run([name, ...args], cleanEnvironment(env), all, extensions);
	return { code, ...written };
}

export async function exits<T extends Ended>(running: T | Promise<T>, code: number): Promise<T> {
	const ended = await running;
	assert.is(ended.code, code, `ends with ${ended.code}, not ${code}\n${ended.stdout}${ended.stderr}`);
	return ended;
}

type Text = string | RegExp | readonly (string | RegExp)[];

const matching =
	(stream: "stdout" | "stderr") =>
	async <T extends Ended>(running: T | Promise<T>, code: number, ...texts: Text[]): Promise<T> => {
		const ended = await exits(running, code);
		for (const text of texts.flat()) assert.match(ended[stream], text);
		return ended;
	};

export const prints = matching("stdout");
export const warns = matching("stderr");

function startWords(name: string) {
	return [join(root, "scripts/fragments.cjs"), name];
}

/** With an `npx` that starts this checkout, whose modules are compiled. */
export function pathWithNpx(path = process.env.PATH ?? ""): string {
	const folder = join(tmpdir(), "own-npx");
	const lines = [
		"#!/bin/sh",
		`[ "$1" != fragment-publisher ] || { shift; exec '${process.execPath}' '${join(root, "scripts/fragments.cjs")}' "$@"; }`,
		`PATH='${path}' exec npx "$@"`,
	];
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "npx"), `${lines.join("\n")}\n`, { mode: 0o755 });
	return folder + delimiter + path;
}

export function runProgram(
	program: string,
	words: readonly string[],
	env: Record<string, string> = {},
	cwd = root,
	input: string | Uint8Array = "",
): Promise<Ended> {
	const options = { cwd, env: cleanEnvironment(env), maxBuffer: 1 << 26 };
	const running = promisify(execFile)(program, words, options);
	running.child.stdin?.on("error", () => undefined).end(input);
	return running.then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		({ code, stdout = "", stderr = "" }) => ({ code, stdout, stderr }),
	);
}

export async function isInstalled(program: string) {
	return (await runProgram("which", [program])).code === 0;
}

export function runScriptProcess(name: string, args: string[], env?: Record<string, string>) {
	return runProgram(process.execPath, [...startWords(name), ...args], env);
}

/** Ids of processes, by proc(5). */
export function descendantsOf(ancestor: number): number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		const stat = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/stat`) : "";
		// `<pid> (<name>) <state> <parent> …`; the name may hold anything.
		const parent = /^\w (\d+) /.exec(stat.slice(stat.lastIndexOf(")") + 2))?.[1];
		if (parent) parents.set(Number(name), Number(parent));
	}
	const isUnder = (pid: number | undefined): boolean =>
		pid !== undefined && (parents.get(pid) === ancestor || isUnder(parents.get(pid)));
	return [...parents.keys()].filter(isUnder);
}

export function descendantsWith(ancestor: number, ...words: string[]): number[] {
	const has = (pid: number) => words.every((word) => commandLine(pid).includes(word));
	return descendantsOf(ancestor).filter(has);
}

function commandLine(pid: number) {
	return readIfThere(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** The text of a file; empty where it cannot be read. */
export function readIfThere(path: string) {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}

export function signalIfThere(pid: number, signal: NodeJS.Signals) {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

export class ServerProcess implements AsyncDisposable {
	output = "";
	url = "";
	readonly #child: ChildProcess;
	readonly ended: Promise<number | null>;

	private constructor(env: Record<string, string>, cwd: string, words: string[]) {
		const all = { HOST: "127.0.0.1", PORT: "0", HARVEST: "off", SITE: "off", ...env };
		this.#child = spawn(process.execPath, words, {
			cwd,
			env: cleanEnvironment(all),
			stdio: ["ignore", "pipe", "pipe"],
		});
		this.ended = new Promise((resolve) => this.#child.on("close", resolve));
	}

	/**
	 * Starts one and waits for its address.
	 * @throws {Error} with its output where it ends first
	 */
	static async start(
		env: Record<string, string>,
		cwd = root,
		words = startWords("serve"),
	): Promise<ServerProcess> {
		const server = new ServerProcess(env, cwd, words);
		await new Promise<void>((resolve, reject) => {
			const take = (data: Buffer) => {
				server.output += data;
				const match = /(?:^Serving (?:\d+ layers? )?at|Ready on) (\S+)$/m.exec(server.output);
				if (!match) return;
				server.url = match[1] as string;
				resolve();
			};
			server.#child.stdout?.on("data", take);
			server.#child.stderr?.on("data", take);
			void server.ended.then((code) => reject(new Error(`ended with ${code}: ${server.output}`)));
		});
		return server;
	}

	get port() {
		return Number(new URL(this.url).port);
	}

	get pid() {
		return this.#child.pid as number;
	}

	get log(): Record<string, unknown>[] {
		const lines = this.output.split("\n").filter((line) => line.startsWith("{"));
		return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
	}

	/** Kills it as a power cut would, its git processes too or not. */
	async kill(withChildren: boolean) {
		const pids = withChildren ? descendantsOf(this.pid) : [];
		for (const pid of [this.pid, ...pids]) signalIfThere(pid, "SIGKILL");
		await this.ended;
	}

	gitProcesses(word: string): number[] {
		return descendantsWith(this.pid, word);
	}

	async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
		this.#child.kill(signal);
		return this.ended;
	}

	async [Symbol.asyncDispose]() {
		await this.stop();
	}
}
