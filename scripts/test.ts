// npm test [-- FILE…]: type check, then every tests/**/*.test.ts in a process of its own.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";
import pMap from "p-map";

interface Result {
	passed: number;
	failed: number;
	skipped: number;
}

/** Longest that one test file may take, in milliseconds. */
const patience = 300_000;

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a command and collects what it prints. */
function run(command: string, args: string[]): Promise<{ code: number; output: string }> {
	return new Promise((resolve) => {
		const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], timeout: patience });
		let output = "";
		child.stdout.on("data", (data) => {
			output += data;
		});
		child.stderr.on("data", (data) => {
			output += data;
		});
		child.on("error", (error) => resolve({ code: 1, output: String(error) }));
		child.on("close", (code) => resolve({ code: code ?? 1, output }));
	});
}

/** The number behind a label of uvu's closing lines, or null where uvu closed nothing. */
function figure(output: string, label: string): number | null {
	const match = new RegExp(`^\\s*${label}:\\s+(\\d+)`, "m").exec(output);
	return match ? Number(match[1]) : null;
}

/** Runs one file. uvu exits 0 for a file that never called `.run()`; such a file has failed. */
async function runFile(file: string): Promise<Result> {
	const { code, output } = await run(process.execPath, ["--import", "tsx", file]);
	const total = figure(output, "Total") ?? 0;
	const passed = figure(output, "Passed") ?? 0;
	const skipped = figure(output, "Skipped") ?? 0;
	const ran = total > 0 || skipped > 0;
	const failed = Math.max(total - passed, code !== 0 || !ran ? 1 : 0);
	const name = relative(root, file);
	if (failed > 0) console.log(`${output}\n${name}: FAILED${ran ? "" : ": it ran no test"}`);
	else console.log(`${name}: ${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
	for (const line of output.matchAll(/^skipped: .*$/gm)) console.log(`  ${line[0]}`);
	return { passed, failed, skipped };
}

async function typeCheck(): Promise<Result> {
	const { code, output } = await run("npx", ["--no-install", "tsc"]);
	console.log(code === 0 ? "types: checked" : `${output}\ntypes: FAILED`);
	return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

const asked = process.argv.slice(2);
const files =
	asked.length > 0 ? asked : (await glob("tests/**/*.test.ts", { cwd: root, absolute: true })).sort();
const tasks = [...(asked.length > 0 ? [] : [typeCheck]), ...files.map((file) => () => runFile(file))];
const concurrency = Math.max(2, availableParallelism());
const results = await pMap(tasks, (task) => task(), { concurrency });
const sum = (name: keyof Result) => results.reduce((total, result) => total + result[name], 0);
const skipped = sum("skipped");
if (sum("failed") > 0) process.exitCode = 1;
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
