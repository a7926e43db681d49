import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join, relative } from "node:path";
import type { Environment } from "../../api/configuration.ts";
import type { CompiledTests } from "./compile.ts";
import { endProcessesOf } from "./left-behind.ts";

/** How long a file may go on after its last test, in milliseconds: what it left open must not hold up the others. */
const closingTimeoutMs = 20_000;

/** How one test file ended. */
export interface TestResult {
	/** Path of the file, from the folder of the run. */
	name: string;
	passed: number;
	failed: number;
	skipped: number;
	/** What is printed about it. */
	lines: string[];
}

interface Ended {
	code: number;
	output: string;
	seconds: string;
}

/**
 * Runs a command with a folder for temporary files of its own. When it has ended, processes that it left behind are
 * ended, and the folder is removed.
 */
async function runAlone(
	command: string,
	args: string[],
	environment: Environment,
	timeoutMs: number,
): Promise<Ended> {
	const parent = environment.TMPDIR || tmpdir();
	const folder = await mkdtemp(join(parent, "test-"));
	await shareCompiled(parent, folder);
	const start = performance.now();
	const { code, output } = await runToEnd(command, args, { ...environment, TMPDIR: folder }, timeoutMs, () =>
		endProcessesOf(folder),
	);
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
	return { code, output, seconds: ((performance.now() - start) / 1000).toFixed(1) };
}

/** tsx keeps what it has compiled in the folder for temporary files: compiling all of it anew takes seconds. */
async function shareCompiled(parent: string, folder: string): Promise<void> {
	const name = `tsx-${process.geteuid?.() ?? userInfo().username}`;
	const shared = join(parent, name);
	await mkdir(shared, { recursive: true });
	await symlink(shared, join(folder, name), "junction");
}

function runToEnd(
	command: string,
	args: string[],
	env: NodeJS.ProcessEnv,
	timeoutMs: number,
	clearUp: () => Promise<void>,
): Promise<{ code: number; output: string }> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
		let output = "";
		const endAfter = (ms: number, what: string) =>
			setTimeout(() => {
				output += `\nended: ${what} takes over ${ms} ms\n`;
				child.kill("SIGKILL");
			}, ms);
		let timer = endAfter(timeoutMs, "it");
		const take = (data: Buffer) => {
			output += data;
			if (figure(output, "Duration") === null) return;
			clearTimeout(timer);
			timer = endAfter(closingTimeoutMs, "its end after the last test");
		};
		child.stdout.on("data", take);
		child.stderr.on("data", take);
		child.on("error", (error) => {
			output += String(error);
			resolve({ code: 1, output });
		});
		// What the file has left behind may hold its output open.
		child.on("exit", () => {
			clearTimeout(timer);
			void clearUp();
		});
		child.on("close", (code) => resolve({ code: code ?? 1, output }));
	});
}

/** The number behind a label of uvu's closing lines, or null where uvu closed nothing. */
function figure(output: string, label: string): number | null {
	const match = new RegExp(`^\\s*${label}:\\s+(\\d+)`, "m").exec(output);
	return match ? Number(match[1]) : null;
}

/**
 * Runs one test file. uvu exits 0 for a file that never called `.run()`; such a file has failed.
 * @param compiled - what it was compiled to, with others; without it, tsx compiles it
 */
export async function runFile(
	file: string,
	environment: Environment,
	timeoutMs: number,
	compiled?: CompiledTests,
): Promise<TestResult> {
	const name = relative(process.cwd(), file);
	const own = compiled?.files.get(file);
	const args = own ? ["--enable-source-maps", own] : ["--import", "tsx", file];
	const settings = own ? { ...environment, COMPILED_START: compiled?.start } : environment;
	const { code, output, seconds } = await runAlone(process.execPath, args, settings, timeoutMs);
	const total = figure(output, "Total") ?? 0;
	const passed = figure(output, "Passed") ?? 0;
	const skipped = figure(output, "Skipped") ?? 0;
	const ran = total > 0 || skipped > 0;
	const failed = Math.max(total - passed, code !== 0 || !ran ? 1 : 0);
	const head =
		failed > 0
			? [output, `${name}: FAILED after ${seconds} s${ran ? "" : ": it ran no test"}`]
			: [`${name}: ${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}, ${seconds} s`];
	const reasons = Array.from(output.matchAll(/^skipped: .*$/gm), ([text]) => `  ${text}`);
	return { name, passed, failed, skipped, lines: [...head, ...reasons] };
}

/** Checks the types of all sources. */
export async function runTypeCheck(environment: Environment, timeoutMs: number): Promise<TestResult> {
	const { code, output, seconds } = await runAlone("npx", ["--no-install", "tsc"], environment, timeoutMs);
	const passed = code === 0;
	const lines = passed ? [`types: checked, ${seconds} s`] : [output, "types: FAILED"];
	return { name: "types", passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0, lines };
}
