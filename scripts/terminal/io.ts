import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Io } from "../../registry/environment.ts";

/** The output, clock, terminal and signals of this process. */
export function processIo(): Io {
	for (const output of [process.stdout, process.stderr]) {
		output.on("error", (error: NodeJS.ErrnoException) => {
			// The command keeps running if the reader of its output closes the pipe, as `head` does.
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
