// npx fragment-publisher <command>: loads and runs the module of the command
import { Command } from "@commander-js/extra-typings";
import { withSettingsFile } from "../api/service/settings.ts";
import { versionLine } from "../store/files/version.ts";
import { exitCodes, type Run, withErrors, withOutput } from "./terminal/command-line.ts";
import { type CommandName, commands, isCommand } from "./terminal/commands.ts";
import { type Io, processIo } from "./terminal/io.ts";

const closing = `
<command> --help lists its options.
Exit codes: 0 done, 1 something is wrong or refused, 2 the command could not look.`;

/** The command line without a command, for its help and its errors. */
function createProgram(io: Io): Command {
	const program = withOutput(new Command("npx fragment-publisher"), io)
		.version(versionLine(), "--version", "print the version and its commit")
		.usage("<command> [options]")
		.helpCommand("help [command]", "print this, or the options of a command")
		.addHelpText("after", closing);
	for (const [purpose, lines] of Object.entries(commands)) {
		program.commandsGroup(`To ${purpose}:`);
		for (const [name, summary] of Object.entries(lines)) program.command(name).description(summary);
	}
	return program;
}

/** The modules with several commands; the module of any other command is `<name>.ts`. */
const modules: Readonly<Record<string, readonly CommandName[]>> = {
	build: ["build", "headers", "publish-objects", "schemas"],
	deploy: ["deploy", "workers"],
	github: ["pull-requests", "comment", "approvals"],
	harvest: ["harvest", "check-services", "watch-services"],
	import: ["import", "register", "compare"],
	put: ["put", "remove", "sign"],
	status: ["status", "audit"],
};

async function load(name: CommandName): Promise<Run> {
	if (name === "bench") return (await import("../tests/bench/run.ts")).run;
	const file = Object.keys(modules).find((one) => modules[one]?.includes(name)) ?? name;
	const { run, runs } = await import(`./${file}.ts`);
	return run ?? runs[name];
}

const runProgram = withErrors(async (argv, _environment, io) => {
	createProgram(io).parse(argv, { from: "user" });
	return exitCodes.done;
});

/** Runs the command of the first word with the other words. @throws {Error} if it cannot be loaded */
export const run: Run = async (argv, environment, io) => {
	const [first = "", ...rest] = argv;
	const [called = "", ...further] =
		first === "help" && rest[0] !== undefined ? [rest[0], "--help"] : [first, ...rest];
	const isReviewVerb = called === "accept" || called === "decline";
	// `accept` and `decline` are short for `review accept` and `review decline`.
	const [name, words] = isReviewVerb ? ["review", [called, ...further]] : [called, further];
	if (!isCommand(name)) return runProgram(argv, environment, io);
	return (await load(name))(words, environment, io);
};

/** Like `run`, with the settings of `fragments.env` in the folder in which this process was started. */
const runHere = withErrors((argv, environment, io) =>
	run(argv, withSettingsFile(environment, process.cwd()), io),
);

/** Runs this process's own command line. */
export async function main(): Promise<void> {
	process.exitCode = await runHere(process.argv.slice(2), process.env, processIo());
}
