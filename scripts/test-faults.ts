// npm run test:faults: breaks disks, repositories and processes under the service, and writes docs/reliability.md
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";
import { faultsPage, type SeenFault } from "./test/faults-table.ts";
import { runFiles } from "./test/run-files.ts";

/** Time limit of one file, in milliseconds. */
const defaultTimeoutMs = 1_200_000;

/** The generated page. */
const page = "docs/reliability.md";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test-faults", io)
		.argument(
			"[file...]",
			"files of faults; all of tests/faults, which also make the table, where none is named",
		)
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { timeout } = line.opts();
	const files = named.length > 0 ? named : (await glob("tests/faults/**/*.{test,fault}.ts")).sort();
	const folder = await mkdtemp(join(tmpdir(), "faults-"));
	try {
		const settings = { ...environment, FAULT_ROWS: folder };
		const { passed, skipped } = await runFiles(files, settings, timeout, io);
		if (named.length > 0) return passed ? exitCodes.done : exitCodes.wrong;
		const isWhole = passed && !skipped;
		if (isWhole) await writeFile(page, faultsPage(await readRows(folder)));
		printLine(io, isWhole ? `${page} is written` : `${page} stays: not every fault was seen`);
		return passed ? exitCodes.done : exitCodes.wrong;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});

async function readRows(folder: string): Promise<SeenFault[]> {
	const names = (await readdir(folder)).sort();
	const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
	return texts.map((text) => JSON.parse(text) as SeenFault);
}
