import { Command } from "@commander-js/extra-typings";
import type { Io } from "../api/configuration.ts";
import type { App, Run } from "../api/service/extensions.ts";
import { withSettingsFile } from "../api/service/settings.ts";
import { extensions } from "../extensions/index.ts";
import { createSite } from "../site/extension.ts";
import { versionLine } from "../store/files/version.ts";
import { exitCodes, withErrors, withOutput } from "./terminal/command-line.ts";
import { commandsOf, processIo, purposes } from "./terminal/commands.ts";

const closing = `
<command> --help lists its options.
Exit codes: 0 done, 1 something is wrong or refused, 2 the command could not look.`;

/** In the order of their start. */
export const allExtensions: App["extensions"] = [
	createSite({ worker: new URL("./catalogue.ts", import.meta.url) }),
	...extensions,
];

function createProgram(io: Io, app: App): Command {
	const program = withOutput(new Command("npx fragment-publisher"), io)
		.version(versionLine(), "--version", "print the version and its commit")
		.usage("<command> [options]")
		.helpCommand("help [command]", "print this, or the options of a command")
		.addHelpText("after", closing);
	const commands = commandsOf(app.extensions);
	for (const purpose of purposes) {
		program.commandsGroup(`To ${purpose}:`);
		for (const { name, summary } of commands.filter((command) => command.purpose === purpose))
			program.command(name).description(summary);
	}
	return program;
}

const runProgram = withErrors(async (argv, _environment, io, app) => {
	createProgram(io, app).parse(argv, { from: "user" });
	return exitCodes.done;
});

/** @param all the extensions @throws {Error} if the command cannot be loaded */
export async function run(
	argv: readonly string[],
	environment: Parameters<Run>[1],
	io: Io,
	all: App["extensions"] = allExtensions,
): Promise<number> {
	const [first = "", ...rest] = argv;
	const [called = "", ...further] =
		first === "help" && rest[0] !== undefined ? [rest[0], "--help"] : [first, ...rest];
	const command = commandsOf(all).find(({ name, short }) => name === called || short?.includes(called));
	if (!command) return runProgram(argv, environment, io, { summary: "", extensions: all });
	const words = command.name === called ? further : [called, ...further];
	return (await command.load())(words, environment, io, { summary: command.summary, extensions: all });
}

/** With the settings of `fragments.env` in the folder in which this process was started. */
const runHere = withErrors((argv, environment, io) =>
	run(argv, withSettingsFile(environment, process.cwd()), io),
);

export async function main(): Promise<void> {
	const app = { summary: "", extensions: allExtensions };
	process.exitCode = await runHere(process.argv.slice(2), process.env, processIo(), app);
}
