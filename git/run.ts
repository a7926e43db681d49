import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

/** Most that one short git command may print, and of its complaints what is kept; in bytes. */
const maxOutputBytes = 1 << 30;
const maxComplaintBytes = 64 * 1024;

/** How long one short git command may take by default, in milliseconds. */
const ordinaryCommandMs = 300_000;

/** Longest silence of a process whose answer is awaited, by default, in milliseconds. */
export const ordinarySilenceMs = 25_000;

/** Git failed: it could not be started, ended with an error, or did not answer. */
export class GitFailure extends Error {
	override name = "GitFailure";
}

/** Git did not answer in its time and was ended. */
export class GitTimeout extends GitFailure {
	override name = "GitTimeout";

	constructor(command: string, limitMs: number) {
		super(`git ${command}: did not answer within ${limitMs / 1000} s and was ended`);
	}
}

/** Another process has ended git: the same request may be made again. */
export class GitKilled extends GitFailure {
	override name = "GitKilled";
}

/** The repository does not have what it says is there, or cannot read it. */
export class GitDamage extends GitFailure {
	override name = "GitDamage";
}

/**
 * Where git keeps what is pushed until a hook has accepted it: it is seen by these alone
 * (git-receive-pack(1), "Quarantine environment").
 */
const quarantineNames = ["GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"];

/** Further variables of a hook's git processes. */
let quarantine: NodeJS.ProcessEnv = {};

/** Lets the git processes of a hook see what is pushed: the one thing that they take over from their parent's. */
export function enterQuarantine(environment: NodeJS.ProcessEnv): void {
	const found = quarantineNames.filter((name) => environment[name] !== undefined);
	quarantine = Object.fromEntries(found.map((name) => [name, environment[name]]));
}

/**
 * The environment of every git process here: the operator's own git settings do not reach it, and no secret of the
 * service. The hooks of a repository and its own configuration still count.
 */
function environment(): NodeJS.ProcessEnv {
	return {
		...quarantine,
		PATH: process.env.PATH,
		LC_ALL: "C",
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_GLOBAL: "/dev/null",
		// A pusher could otherwise have every object read as another (git-replace(1)).
		GIT_NO_REPLACE_OBJECTS: "1",
		// A pack of a kilobyte may hold an object of gigabytes, as a delta: git then ends instead of making it.
		GIT_ALLOC_LIMIT: "1g",
		GIT_TERMINAL_PROMPT: "0",
		GIT_OPTIONAL_LOCKS: "0",
	};
}

/** A data folder may belong to another user than the service runs as: a volume, a restored copy. */
const always = ["-c", "safe.directory=*"];

/** How one command is run. */
export interface RunOptions {
	/** What it reads. */
	input?: string | Uint8Array;
	/** How long it may take, in milliseconds. */
	limitMs?: number;
	/** Variables beside those of every git process here. */
	environment?: Readonly<Record<string, string>>;
	/** How far processes of the niceness of this one come first, from 0 to 19 (nice(1)). */
	niceness?: number;
}

/**
 * Runs git in a repository, without a shell, and gives its output.
 * @throws {GitTimeout} where it takes too long
 * @throws {GitFailure} with git's own words where it exits with another code than 0
 */
export async function runGit(repository: string, args: string[], options: RunOptions = {}): Promise<Buffer> {
	const { limitMs = ordinaryCommandMs } = options;
	const printed: Buffer[] = [];
	let printedBytes = 0;
	for await (const data of gitOutput(repository, args, { ...options, limitMs, silenceMs: limitMs })) {
		printed.push(data);
		printedBytes += data.length;
		if (printedBytes > maxOutputBytes) throw new GitFailure(`git ${args[0]}: printed too much`);
	}
	return Buffer.concat(printed);
}

/**
 * What git prints, as it comes. The process ends with the loop over it.
 * @param options without `limitMs` it may take any time, as long as it is not silent for `silenceMs` milliseconds
 * @throws {GitTimeout} where it takes too long, or is silent for too long
 * @throws {GitFailure} with git's own words where it exits with another code than 0
 */
export async function* gitOutput(
	repository: string,
	args: string[],
	options: RunOptions & { silenceMs?: number } = {},
): AsyncGenerator<Buffer> {
	const { input, limitMs = Number.POSITIVE_INFINITY, silenceMs = ordinarySilenceMs } = options;
	const name = args[0] ?? "";
	const endMs = performance.now() + limitMs;
	const child = startGit(repository, args, options.environment, options.niceness);
	const closed = new Promise<unknown>((resolve) => {
		child.once("close", (code, signal) => resolve(signal ?? code));
	});
	let complaint = "";
	child.stderr.on("data", (data: Buffer) => {
		complaint = (complaint + data).slice(-maxComplaintBytes);
	});
	// git may end before it has read all; its exit code says why.
	child.stdin.on("error", () => undefined);
	child.stdin.end(input);
	const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
	/** Ends the process where a task takes too long. */
	const inTime = async <T>(task: Promise<T>): Promise<T> => {
		let isLate = false;
		const end = () => {
			isLate = true;
			killGroup(child);
		};
		const timer = setTimeout(end, Math.min(silenceMs, endMs - performance.now()));
		const result = await task.finally(() => clearTimeout(timer));
		if (isLate) throw new GitTimeout(name, Math.min(silenceMs, limitMs));
		return result;
	};
	try {
		for (;;) {
			const next = await inTime(chunks.next());
			if (next.done) break;
			yield next.value;
		}
		const code = await inTime(closed);
		if (code !== 0) throw new GitFailure(`git ${name}: ${complaint.trim() || `ended with ${code}`}`);
	} finally {
		if (child.exitCode === null) killGroup(child);
	}
}

/**
 * The records that git prints, in portions as they come.
 * @param separator what ends each of them
 * @throws {GitFailure} as `gitOutput`
 */
export async function* readRecords(
	repository: string,
	args: string[],
	separator: "\0" | "\n" = "\0",
	options: RunOptions = {},
): AsyncGenerator<string[]> {
	let rest: Buffer = Buffer.alloc(0);
	for await (const chunk of gitOutput(repository, args, options)) {
		const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
		const end = data.lastIndexOf(separator) + 1;
		rest = data.subarray(end);
		if (end > 0) yield data.toString("utf8", 0, end - 1).split(separator);
	}
}

/** Starts git in a repository, without a shell, to talk to it over its pipes. @throws {GitFailure} where it cannot be started */
export function startGit(
	repository: string,
	args: string[],
	further: Readonly<Record<string, string>> = {},
	niceness = 0,
): ChildProcessWithoutNullStreams {
	const gitArgs = [...always, "-C", repository, ...args];
	// nice(1) becomes git: all that git starts is as nice, from its first moment on.
	const [command, commandArgs] =
		niceness === 0 ? ["git", gitArgs] : ["nice", ["-n", String(niceness), "git", ...gitArgs]];
	const child = spawn(command, commandArgs, {
		env: { ...environment(), ...further },
		stdio: "pipe",
		// A process group of its own: what git starts can be ended with it, and Ctrl-C reaches the service alone.
		detached: true,
	});
	// Without a free file descriptor there is no process and there are no pipes; the error comes later, as an event.
	child.on("error", () => undefined);
	if (child.pid === undefined) throw new GitFailure("git could not be started");
	return child;
}

/** Ends a process and what it has started, stopped ones too. */
export function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch {
		// It has already ended.
	}
}
