import { spawn } from "node:child_process";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../api/configuration.ts";
import type { Io } from "../../terminal/io.ts";
import { type CompiledTests, compileTests } from "./compile.ts";
import { temporaryParent } from "./memory-folder.ts";

const ownFolder = new URL("own-folder.mjs", import.meta.url).href;
const runner = fileURLToPath(new URL("runner.mjs", import.meta.url));

/** The result of a run of test files. */
export interface RunEnd {
	passed: boolean;
	/** Whether tests were skipped. */
	skipped: boolean;
}

/**
 * Runs test files and prints the result of each, then `N passed, N failed`.
 * @param timeoutMs - time limit of one file
 * @throws {Error} where one cannot be read
 */
export async function runFiles(
	files: readonly string[],
	environment: Environment,
	timeoutMs: number,
	io: Io,
): Promise<RunEnd> {
	const paths = files.map((file) => resolve(file));
	const compiled = paths.some((path) => path.endsWith(".ts")) ? await compileTests(paths) : null;
	try {
		return await runCompiled(paths, compiled, environment, timeoutMs, io);
	} finally {
		await compiled?.remove();
	}
}

function runCompiled(
	paths: readonly string[],
	compiled: CompiledTests | null,
	environment: Environment,
	timeoutMs: number,
	io: Io,
): Promise<RunEnd> {
	const files = paths.map((path) => [compiled?.files.get(path) ?? path, relative(process.cwd(), path)]);
	const task = JSON.stringify({ timeoutMs, files });
	const child = spawn(process.execPath, ["--enable-source-maps", "--import", ownFolder, runner, task], {
		env: { ...environment, TMPDIR: temporaryParent(environment), COMPILED_START: compiled?.start },
		// Its standard input ends with this process: then it ends the test files.
		stdio: ["pipe", "pipe", "pipe"],
	});
	let output = "";
	child.stdout.on("data", (data) => {
		output += data;
		io.stdout.write(String(data));
	});
	child.stderr.on("data", (data) => io.stderr.write(String(data)));
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => resolve({ passed: code === 0, skipped: /^\d+ skipped$/m.test(output) }));
	});
}
