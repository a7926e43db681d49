import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Command } from "@commander-js/extra-typings";
import type { Io } from "../api/configuration.ts";
import {
	type App,
	type Command as AppCommand,
	type Purpose,
	purposes,
	type Run,
} from "../api/service/extensions.ts";
import { withSettingsFile } from "../api/service/settings.ts";
import { extensions } from "../extensions/index.ts";
import { createSite } from "../site/extension.ts";
import { versionLine } from "../store/files/version.ts";
import { exitCodes, withErrors, withOutput } from "./terminal/command-line.ts";

const closing = `
<command> --help lists its options.
Exit codes: 0 done, 1 something is wrong or refused, 2 the command could not look.`;

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

export async function run(
	argv: readonly string[],
	environment: Parameters<Run>[1],
	io: Io,
	all: App["extensions"] = allExtensions,
): Promise<number> {
	const [first = "", ...rest] = argv;
	const [called = "", ...further] =
		first === "help" && rest[0] !== undefined ? [rest[0], "--help"] : [first, ...rest];
	const command = commandsOf(all).find(({ name }) => name === called);
	if (!command) return runProgram(argv, environment, io, { summary: "", extensions: all });
	return (await command.load())(further, environment, io, { summary: command.summary, extensions: all });
}

const runHere = withErrors((argv, environment, io) =>
	run(argv, withSettingsFile(environment, process.cwd()), io),
);

export async function main(): Promise<void> {
	const app = { summary: "", extensions: allExtensions };
	process.exitCode = await runHere(process.argv.slice(2), process.env, processIo(), app);
}

export function processIo(): Io {
	for (const output of [process.stdout, process.stderr]) {
		output.on("error", (error: NodeJS.ErrnoException) => {
			// As `head` closes the pipe.
			if (error.code !== "EPIPE") throw error;
		});
	}
	return {
		print: (text) => process.stdout.write(`${text}\n`),
		warn: (text) => process.stderr.write(`${text}\n`),
		now: () => new Date(),
		ask: askAtTerminal,
		interrupted,
	};
}

function interrupted(): AbortSignal {
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

async function askAtTerminal(question: string, hidden = false): Promise<string | null> {
	const { stdin, stderr } = process;
	if (!stdin.isTTY || !stderr.isTTY) return null;
	stderr.write(question);
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: hidden });
	try {
		return (await lines.question("")).trim();
	} finally {
		lines.close();
		if (hidden) stderr.write("\n");
	}
}

const loads = {
	put: async () => (await import("./put.ts")).put,
	register: async () => (await import("./register.ts")).register,
	remove: async () => (await import("./put.ts")).remove,
	sign: async () => (await import("./put.ts")).sign,
	validate: async () => (await import("./validate.ts")).validate,
	build: async () => (await import("./build.ts")).build,
	serve: async () => (await import("./serve.ts")).serve,
	sender: async () => (await import("./sender.ts")).sender,
};

function command(name: keyof typeof loads, purpose: Purpose, summary: string): AppCommand {
	return { name, purpose, summary, load: loads[name] };
}

const coreCommands = [
	command("put", "publish", "register a layer, or change it, by a signed PUT"),
	command("register", "publish", "send a folder of registrations to a service, or store it in one commit"),
	command("remove", "publish", "remove layers, each by a signed DELETE"),
	command("sign", "publish", "print the three headers that sign a request, for curl"),
	command("validate", "publish", "check registrations without writing anything"),
	command("build", "host", "render every fragment as a static file"),
	command("serve", "operate", "serve on this machine"),
	command("sender", "operate", "add, change and remove senders, who may publish"),
];

export function commandsOf(
	extensions: readonly { commands?: readonly AppCommand[] }[],
): readonly AppCommand[] {
	return [...coreCommands, ...extensions.flatMap(({ commands = [] }) => commands)];
}
