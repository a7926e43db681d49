import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";

const maxComplaint = 64 * 1024;

const defaultCommandMs = 300_000;

export const defaultSilenceMs = 25_000;

export class GitFailure extends Error {
	override name = "GitFailure";

	constructor(
		message: string,
		readonly code: number | null = null,
	) {
		super(message);
	}
}

export class GitTimeout extends GitFailure {
	override name = "GitTimeout";

	constructor(command: string, limitMs: number) {
		super(`git ${command}: did not answer within ${limitMs / 1000} s and was ended`);
	}
}

/** Another process has ended git; the request can be repeated. */
export class GitKilled extends GitFailure {
	override name = "GitKilled";
}

export class GitDamage extends GitFailure {
	override name = "GitDamage";
}

/** git-receive-pack(1), "Quarantine environment". */
export interface Quarantine {
	GIT_QUARANTINE_PATH: string;
	GIT_OBJECT_DIRECTORY: string;
	GIT_ALTERNATE_OBJECT_DIRECTORIES: string;
}

const quarantines = new AsyncLocalStorage<Quarantine>();

export function withQuarantine<T>(quarantine: Quarantine, task: () => Promise<T>): Promise<T> {
	return quarantines.run(quarantine, task);
}

/**
 * No secrets, no `GIT_*` variables, which may name another repository, and none of the operator's git
 * settings.
 */
function environment(): NodeJS.ProcessEnv {
	return {
		...quarantines.getStore(),
		PATH: process.env.PATH,
		LC_ALL: "C",
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_GLOBAL: "/dev/null",
		// Otherwise a pushed ref could replace any object by another (git-replace(1)).
		GIT_NO_REPLACE_OBJECTS: "1",
		// A pack of a kilobyte may unpack to gigabytes: git then ends instead.
		GIT_ALLOC_LIMIT: "1g",
		GIT_TERMINAL_PROMPT: "0",
		GIT_OPTIONAL_LOCKS: "0",
	};
}

/** @param niceness 0 to 19 below the priority of this process */
export function lowerPriority(pid: number, niceness: number): void {
	try {
		setPriority(pid, Math.min(getPriority() + niceness, 19));
	} catch {
		// systemd or a container may forbid setpriority(2).
	}
}

interface RunOptions {
	/** Pieces may together be longer than the longest string. */
	input?: string | Uint8Array | readonly string[];
	limitMs?: number | undefined;
	environment?: Readonly<Record<string, string>>;
	config?: readonly string[];
	signal?: AbortSignal;
}

export async function runGit(
	repository: string,
	args: string[],
	{ limitMs = defaultCommandMs, ...options }: RunOptions = {},
): Promise<Buffer> {
	const printed: Buffer[] = [];
	for await (const data of gitOutput(repository, args, { ...options, limitMs })) printed.push(data);
	return Buffer.concat(printed);
}

export async function gitText(...command: Parameters<typeof runGit>): Promise<string> {
	return (await runGit(...command)).toString("utf8").trim();
}

/**
 * Ends the process with the loop over its output. Without `limitMs`, git may take any time, but not be silent
 * for long.
 * @throws {GitTimeout | GitFailure} with git's error output
 */
export async function* gitOutput(
	repository: string,
	args: string[],
	options: RunOptions = {},
): AsyncGenerator<Buffer> {
	const { input = [], limitMs, signal } = options;
	const maxMs = limitMs ?? defaultSilenceMs;
	const git = startGit(repository, args, options);
	const end = () => git.kill(new GitTimeout(args[0] ?? "", maxMs));
	const abort = () => git.kill();
	let timer = setTimeout(end, maxMs);
	signal?.addEventListener("abort", abort);
	try {
		git.stdin.cork();
		for (const piece of [input].flat()) git.stdin.write(piece);
		git.stdin.end();
		for await (const data of git.stdout) {
			// The caller may take any time for a piece.
			if (limitMs === undefined) clearTimeout(timer);
			yield data;
			if (limitMs === undefined) timer = setTimeout(end, maxMs);
		}
		const failure = await git.ended;
		if (failure) throw failure;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", abort);
		git.kill();
	}
}

export async function* readRecords(
	repository: string,
	args: string[],
	separator: "\0" | "\n" = "\0",
	options: RunOptions = {},
): AsyncGenerator<string> {
	let rest: Buffer = Buffer.alloc(0);
	for await (const chunk of gitOutput(repository, args, options)) {
		const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
		const end = data.lastIndexOf(separator) + 1;
		rest = data.subarray(end);
		if (end > 0) yield* data.toString("utf8", 0, end - 1).split(separator);
	}
}

export type GitProcess = ReturnType<typeof startGit>;

/**
 * @returns `ended`: null for exit code 0; `kill` ends it with its child processes, even stopped ones, and may
 * name the failure
 * @throws {GitFailure} if it cannot be started
 */
export function startGit(
	repository: string,
	args: readonly string[],
	{ environment: further, config = [] }: RunOptions = {},
) {
	// The repository may belong to another user, as in a volume or a restored copy.
	const settings = ["safe.directory=*", ...config].flatMap((setting) => ["-c", setting]);
	const child = spawn("git", [...settings, "-C", repository, ...args], {
		env: { ...environment(), ...further },
		stdio: "pipe",
		// Its own process group: its child processes can be ended with it, and Ctrl-C does not reach it.
		detached: true,
	});
	// If no file descriptor is free, there is no process, and the error comes later.
	child.on("error", () => undefined);
	const { pid, stdin, stdout } = child;
	if (pid === undefined) throw new GitFailure("git could not be started");
	let complaint = "";
	child.stderr.on("data", (data: Buffer) => {
		complaint = (complaint + data).slice(-maxComplaint);
	});
	// Git may end before it has read all input.
	stdin.on("error", () => undefined);
	let reason: GitFailure | null = null;
	const ended = new Promise<GitFailure | null>((resolve) => {
		child.once("close", (code, signal) => {
			if (reason) resolve(reason);
			else if (signal) resolve(new GitKilled(`git ${args[0]} was ended by ${signal}`));
			else if (code === 0) resolve(null);
			else resolve(new GitFailure(`git ${args[0]}: ${complaint.trim() || `ended with ${code}`}`, code));
		});
	});
	const kill = (failure: GitFailure | null = null) => {
		reason ??= failure;
		if (child.exitCode !== null || child.signalCode !== null) return;
		try {
			process.kill(-pid, "SIGKILL");
		} catch {
			// It has already ended.
		}
	};
	return { stdin, stdout, ended, kill };
}
