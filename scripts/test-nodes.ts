// npm run test:nodes: the tests on other versions of Node, fetched from the npm registry
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Environment } from "../api/configuration.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printLine } from "../terminal/io.ts";

/** Versions that must pass all tests. */
const supported = ["22", "24"];

/** A version that must be refused, in one line. */
const tooOld = "18";

interface Ended {
	code: number | null;
	stderr: string;
}

/** Runs a program to its end, and prints its output, too. */
function runProgram(command: string, args: string[], env: Environment, io: Io): Promise<Ended> {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
		let stderr = "";
		child.stdout.on("data", (data) => io.stdout.write(String(data)));
		child.stderr.on("data", (data) => {
			stderr += data;
			io.stderr.write(String(data));
		});
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, stderr }));
	});
}

/**
 * Installs a Node into a folder, from the package of this platform: the package `node` needs an install script, and
 * scripts of packages are not run here.
 * @returns path of the program
 */
async function fetchNode(version: string, folder: string, env: Environment, io: Io): Promise<string> {
	const name = `node-${process.platform}-${process.arch}`;
	const prefix = join(folder, version);
	const args = ["install", "--prefix", prefix, "--no-audit", "--no-fund", `${name}@${version}`];
	const { code } = await runProgram("npm", args, env, io);
	if (code !== 0) throw new Error(`npm install ${name}@${version}: ended with ${code}`);
	return join(prefix, "node_modules", name, "bin", "node");
}

/** Whether the tests pass on a Node. */
async function passes(node: string, files: string[], environment: Environment, io: Io): Promise<boolean> {
	// First in PATH, for the processes of tests and of npm.
	const env = { ...environment, PATH: `${dirname(node)}${delimiter}${environment.PATH}` };
	return (await runProgram(node, ["scripts/fragments.cjs", "test", ...files], env, io)).code === 0;
}

/** Whether a Node that is too old is refused in one line. */
async function isRefused(node: string, environment: Environment, io: Io): Promise<boolean> {
	const { code, stderr } = await runProgram(node, ["scripts/fragments.cjs", "--help"], environment, io);
	return (
		code === exitCodes.unable && /^Node [\d.]+ or newer is needed, and this is [\d.]+: \S+\n$/.test(stderr)
	);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test-nodes", io)
		.argument("[file...]", "test files; all, and the type check, where none is named")
		.option("--nodes <versions...>", "versions of Node", supported)
		.parse(argv, { from: "user" });
	const [files] = line.processedArgs;
	const folder = await mkdtemp(join(tmpdir(), "nodes-"));
	const failed: string[] = [];
	try {
		for (const version of line.opts().nodes) {
			printLine(io, `\nNode ${version}`);
			const node = await fetchNode(version, folder, environment, io);
			if (!(await passes(node, files, environment, io))) failed.push(version);
		}
		printLine(io, `\nNode ${tooOld}, which has to be refused`);
		const old = await fetchNode(tooOld, folder, environment, io);
		if (!(await isRefused(old, environment, io))) failed.push(tooOld);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
	printLine(io, failed.length > 0 ? `\nFailed on Node ${failed.join(", ")}` : "\nPassed on every Node");
	return failed.length > 0 ? exitCodes.wrong : exitCodes.done;
});
