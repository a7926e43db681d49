import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Io } from "../../api/configuration.ts";
import type { Command, Purpose } from "../../api/service/extensions.ts";

export function processIo(): Io {
	for (const output of [process.stdout, process.stderr]) {
		output.on("error", (error: NodeJS.ErrnoException) => {
			// The reader of the output may close the pipe, as `head` does.
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

/** The headings of `npx fragment-publisher --help`, in order. */
export const purposes: readonly Purpose[] = ["publish", "review", "host", "operate", "move", "develop"];

const put = () => import("../put.ts");

/** Each module is loaded when its command is called. */
const coreCommands: readonly Command[] = [
	{
		name: "put",
		purpose: "publish",
		summary: "register a layer, or change it, by a signed PUT",
		load: async () => (await put()).runs.put,
	},
	{
		name: "register",
		purpose: "publish",
		summary: "send a folder of registrations to a service, or store it in one commit",
		load: async () => (await import("../register.ts")).run,
	},
	{
		name: "remove",
		purpose: "publish",
		summary: "remove layers, each by a signed DELETE",
		load: async () => (await put()).runs.remove,
	},
	{
		name: "sign",
		purpose: "publish",
		summary: "print the three headers that sign a request, for curl",
		load: async () => (await put()).runs.sign,
	},
	{
		name: "validate",
		purpose: "publish",
		summary: "check registrations without writing anything",
		load: async () => (await import("../validate.ts")).run,
	},
	{
		name: "build",
		purpose: "host",
		summary: "render every fragment as a static file",
		load: async () => (await import("../build.ts")).run,
	},
	{
		name: "serve",
		purpose: "operate",
		summary: "serve on this machine",
		load: async () => (await import("../serve.ts")).run,
	},
	{
		name: "sender",
		purpose: "operate",
		summary: "add, change and remove senders, who may publish",
		load: async () => (await import("../sender.ts")).run,
	},
	{
		name: "schemas",
		purpose: "develop",
		summary: "write the JSON Schemas and the OpenAPI document",
		load: async () => (await import("../schemas.ts")).run,
	},
];

export function commandsOf(extensions: readonly { commands?: readonly Command[] }[]): readonly Command[] {
	return [...coreCommands, ...extensions.flatMap(({ commands = [] }) => commands)];
}
