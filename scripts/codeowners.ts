// npm run codeowners: writes .github/CODEOWNERS from layers/owners.json
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeownersPath, codeownersText, ownersPath, parseOwners } from "../registry/owners.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";

export const run = createRun(async (argv, _environment, io) => {
	const { check } = createCommandLine("codeowners", io)
		.option("--check", `write nothing; exit code 1 where ${codeownersPath} is not what ${ownersPath} says`)
		.parse(argv, { from: "user" })
		.opts();
	const { owners, problems } = parseOwners(await readFile(ownersPath));
	for (const problem of problems) printError(io, plain(`${ownersPath}: ${problem}`));
	if (!owners) return exitCodes.wrong;
	const text = codeownersText(owners);
	const before = await readFile(codeownersPath, "utf8").catch(() => null);
	if (before === text) {
		printLine(io, `${codeownersPath} is as ${ownersPath} says`);
		return exitCodes.done;
	}
	if (check) {
		printError(io, `${codeownersPath}: is not as ${ownersPath} says; run npm run codeowners`);
		return exitCodes.wrong;
	}
	await mkdir(dirname(codeownersPath), { recursive: true });
	await writeFile(codeownersPath, text);
	printLine(io, `${codeownersPath} written`);
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
