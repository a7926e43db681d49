// npm run check-packages: licences, versions and hashes of all packages, and what the registry knows of them
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createCommandLine, createRun, exitCodes, runCommand } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";
import { findAdvisoryProblems, parseAudit } from "./packages/advisories.ts";
import { packageFolders, readLock } from "./packages/locks.ts";
import { findPackageProblems, findStaleExceptions, type Reviewed } from "./packages/rules.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Most that npm may print of one folder, in bytes. */
const maxReportBytes = 64 << 20;

/** Runs npm in a folder; what it printed, whatever its exit code: `audit` ends with 1 where it found something. */
async function runNpm(folder: string, ...words: string[]): Promise<string> {
	const options = { cwd: join(root, folder), maxBuffer: maxReportBytes };
	const failed = (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" });
	return (await promisify(execFile)("npm", words, options).catch(failed)).stdout;
}

/** @throws {Error} with npm's words where a signature is missing or wrong, or could not be looked at */
async function checkSignatures(folder: string): Promise<void> {
	const options = { cwd: join(root, folder), maxBuffer: maxReportBytes };
	await promisify(execFile)("npm", ["audit", "signatures"], options).catch(
		(error: { stderr: string; stdout: string }) => {
			throw new Error(`${folder}: npm audit signatures: ${`${error.stdout}${error.stderr}`.trim()}`);
		},
	);
}

export const run = createRun(async (argv, _environment, io) => {
	const { online } = createCommandLine("check-packages", io)
		.option(
			"--online",
			"ask the registry, too: signatures, and advisories that .github/packages.json does not name",
		)
		.parse(argv, { from: "user" })
		.opts();
	const reviewed = JSON.parse(await readFile(join(root, ".github/packages.json"), "utf8")) as Reviewed;
	const locks = await Promise.all(packageFolders.map((folder) => readLock(root, folder)));
	const problems = [
		...locks.flatMap((lock) => findPackageProblems(lock, reviewed)),
		...findStaleExceptions(locks, reviewed),
	];
	const today = io.now().toISOString().slice(0, 10);
	for (const { folder } of online ? locks : []) {
		const advisories = parseAudit(await runNpm(folder, "audit", "--json"));
		const open = findAdvisoryProblems(advisories, reviewed.advisories, today);
		problems.push(...open.map((text) => `${folder}: ${text}`));
		await checkSignatures(folder);
	}
	for (const problem of problems) printError(io, plain(problem));
	const count = locks.reduce((sum, { packages }) => sum + packages.length, 0);
	printLine(io, `${count} packages, ${problems.length} problems`);
	return problems.length > 0 ? exitCodes.wrong : exitCodes.done;
});

await runCommand(import.meta.url, run);
