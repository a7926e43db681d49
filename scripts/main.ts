import { createInterface } from "node:readline/promises";
import { Command } from "@commander-js/extra-typings";
import type { Environment, Io } from "../api/configuration.ts";
import { type Command as AppCommand, type Extension, purposes } from "../api/service/extensions.ts";
import { readSettingsFile } from "../api/service/settings.ts";
import { extensions } from "../extensions/index.ts";
import { createSite } from "../site/extension.ts";
import { versionLine } from "../store/files/version.ts";
import { withErrors, withOutput } from "./terminal/command-line.ts";

const closing = `
<command> --help lists its options.
Exit codes: 0 done, 1 something is wrong or refused, 2 the command failed.`;

export const allExtensions: readonly Extension[] = [
	createSite({ worker: new URL("./catalogue.ts", import.meta.url) }),
	...extensions,
];

function createProgram(io: Io, commands: readonly AppCommand[]): Command {
	const program = withOutput(new Command("npx fragment-publisher"), io)
		.version(versionLine(), "--version", "print the version and its commit")
		.usage("<command> [options]")
		.helpCommand("help [command]", "print this, or the options of a command")
		.addHelpText("after", closing);
	for (const group of purposes) {
		program.commandsGroup(`To ${group}:`);
		for (const [name, purpose, summary] of commands)
			if (purpose === group) program.command(name).description(summary);
	}
	return program;
}

export async function run(
	argv: readonly string[],
	environment: Environment,
	io: Io,
	all: readonly Extension[] = allExtensions,
): Promise<number> {
	const commands = commandsOf(all);
	const isHelp = argv[0] === "help" && argv.length > 1;
	const [called, ...words] = isHelp ? [argv[1], "--help"] : argv;
	const command = commands.find(([name]) => name === called);
	if (!command)
		return withErrors(io, async () => void createProgram(io, commands).parse(argv, { from: "user" }));
	const [name, , summary, load] = command;
	return (await load())(words as string[], environment, io, { name, summary, extensions: all });
}

export async function main(): Promise<void> {
	const io = processIo();
	process.exitCode = await withErrors(io, () =>
		run(process.argv.slice(2), { ...readSettingsFile(process.cwd()), ...process.env }, io),
	);
}

export function processIo(): Io {
	for (const output of [process.stdout, process.stderr]) {
		output.on("error", (error: NodeJS.ErrnoException) => {
			// `head` closes the pipe early.
			if (error.code !== "EPIPE") throw error;
		});
	}
	let signal: AbortSignal | undefined;
	return {
		print: (text) => process.stdout.write(`${text}\n`),
		warn: (text) => process.stderr.write(`${text}\n`),
		now: () => new Date(),
		ask: askAtTerminal,
		interrupted: () => (signal ??= abortedBySignal()),
	};
}

function abortedBySignal(): AbortSignal {
	const controller = new AbortController();
	const names = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
	const abort = () => {
		// The next signal ends the process.
		for (const name of names) process.off(name, abort);
		controller.abort();
	};
	for (const name of names) process.on(name, abort);
	return controller.signal;
}

async function askAtTerminal(question: string, { isHidden } = { isHidden: false }): Promise<string | null> {
	const { stdin, stderr } = process;
	if (!stdin.isTTY || !stderr.isTTY) return null;
	stderr.write(question);
	// readline turns off the echo, and without an output shows nothing.
	const lines = createInterface({ input: stdin, terminal: isHidden, ...(!isHidden && { output: stderr }) });
	try {
		return (await lines.question("")).trim();
	} finally {
		lines.close();
		if (isHidden) stderr.write("\n");
	}
}

const coreCommands: readonly AppCommand[] = [
	[
		"put",
		"publish",
		"register a layer, or change it, by a signed PUT",
		async () => (await import("./put.ts")).put,
	],
	[
		"remove",
		"publish",
		"remove layers, each by a signed DELETE",
		async () => (await import("./put.ts")).remove,
	],
	[
		"sign",
		"publish",
		"print the three headers that sign a request, for curl",
		async () => (await import("./put.ts")).sign,
	],
	[
		"validate",
		"publish",
		"check registrations without writing anything",
		async () => (await import("./validate.ts")).validate,
	],
	["build", "host", "render every fragment as a static file", async () => (await import("./build.ts")).build],
	["serve", "operate", "serve on this machine", async () => (await import("./serve.ts")).serve],
	[
		"sender",
		"operate",
		"add, change and remove senders, who may publish",
		async () => (await import("./sender.ts")).sender,
	],
];

export function commandsOf(all: readonly Pick<Extension, "commands">[]): readonly AppCommand[] {
	return [...coreCommands, ...all.flatMap(({ commands = [] }) => commands)];
}
