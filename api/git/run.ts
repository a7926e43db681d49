import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";

/** Most that one short git command may print, in bytes. */
const mostOutput = 1 << 30;

/**
 * The environment of every git process here: nothing of the operator's own git reaches it. The hooks of a
 * repository and its own configuration still count.
 */
function environment(): NodeJS.ProcessEnv {
	return {
		PATH: process.env.PATH,
		LC_ALL: "C",
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_GLOBAL: "/dev/null",
		GIT_TERMINAL_PROMPT: "0",
		GIT_OPTIONAL_LOCKS: "0",
	};
}

/** A data folder may belong to another user than the service runs as: a volume, a restored copy. */
const always = ["-c", "safe.directory=*"];

/**
 * Runs git in a repository, without a shell, and gives its output.
 * @throws {Error} with git's own words where it exits with another code than 0
 */
export function runGit(repository: string, args: string[], input?: string | Uint8Array): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const options = { env: environment(), encoding: "buffer", maxBuffer: mostOutput } as const;
		const child = execFile(
			"git",
			[...always, "-C", repository, ...args],
			options,
			(error, stdout, stderr) => {
				if (!error) return resolve(stdout);
				reject(new Error(`git ${args[0]}: ${stderr.toString().trim() || error.message}`));
			},
		);
		// git may end before it has read all; its exit code says why.
		child.stdin?.on("error", () => undefined);
		child.stdin?.end(input);
	});
}

/** Starts git in a repository, without a shell, to talk to it over its pipes. @throws {Error} where it cannot be started */
export function startGit(repository: string, args: string[]): ChildProcessWithoutNullStreams {
	const child = spawn("git", [...always, "-C", repository, ...args], { env: environment(), stdio: "pipe" });
	// Without a free file descriptor there is no process and there are no pipes; the error comes later, as an event.
	child.on("error", () => undefined);
	if (child.pid === undefined) throw new Error("git could not be started");
	return child;
}
