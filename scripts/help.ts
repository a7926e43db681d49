// npm run help: every command by what one wants to do
import { createCommandLine, createRun, exitCodes, runCommand } from "../terminal/command-line.ts";
import { callOf, commands } from "../terminal/commands.ts";
import { printLine } from "../terminal/io.ts";

/** The list of all commands; those of one purpose stand together. */
function helpLines(): string[] {
	const groups: [string, Record<string, string>][] = Object.entries(commands);
	const calls = groups.flatMap(([, lines]) => Object.keys(lines).map((name) => name.length));
	const width = Math.max(...calls) + "npm run ".length + 2;
	return groups.flatMap(([purpose, lines]) => [
		"",
		`To ${purpose}:`,
		...Object.entries(lines).map(([name, line]) => `  ${callOf(name).padEnd(width)}${line}`),
	]);
}

const closing = `
What a command is told stands behind --, as in npm run build -- --out site; -- --help lists it.
Exit codes: 0 done, 1 something is wrong or refused, 2 the command could not look.`;

export const run = createRun(async (argv, _environment, io) => {
	createCommandLine("help", io).parse(argv, { from: "user" });
	for (const line of helpLines()) printLine(io, line);
	printLine(io, closing);
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
