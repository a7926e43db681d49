// npm run validate: the check of the build, without writing
import { lstat, readFile } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { checkCatalogue, type LayerFile, type Problem, problemLine } from "../registry/catalogue.ts";
import { collectFolder } from "./build/collect.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";

/** One file as named on the command line; its path starts at the last folder called `layers`. */
async function readNamed(name: string): Promise<LayerFile> {
	const parts = relative(process.cwd(), resolve(name)).split(sep);
	const start = parts.lastIndexOf("layers");
	const path = (start < 0 ? parts : parts.slice(start)).join("/");
	const found = await lstat(name);
	if (found.isSymbolicLink()) return { path, kind: "symlink", bytes: new Uint8Array(0) };
	if (!found.isFile()) return { path, kind: "other", bytes: new Uint8Array(0) };
	return { path, kind: "file", bytes: await readFile(name) };
}

async function check(names: string[]): Promise<{ files: number; problems: Problem[] }> {
	const files = names.length > 0 ? await Promise.all(names.map(readNamed)) : await collectFolder("layers");
	files.sort((a, b) => (a.path < b.path ? -1 : 1));
	// What somebody names is about to be written; what stands in the folder is stored.
	const rules = names.length > 0 ? "written" : "stored";
	return { files: files.length, problems: checkCatalogue(files, () => undefined, rules) };
}

export const run = createRun(async (argv, _environment, io) => {
	const line = createCommandLine("validate", io)
		.argument("[file...]", "registrations; all of layers/ where none is named")
		.parse(argv, { from: "user" });
	const { files, problems } = await check(line.processedArgs[0]);
	for (const problem of problems) printError(io, plain(problemLine(problem)));
	printLine(io, `${files} files, ${problems.length} problems`);
	return problems.length > 0 ? exitCodes.wrong : exitCodes.done;
});

await runCommand(import.meta.url, run);
