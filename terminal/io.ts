import { askAtTerminal } from "./ask.ts";

/** Where a command writes. */
export interface Output {
	write(text: string): unknown;
	/** Whether a person looks at it. */
	isTTY?: boolean;
}

/** What a command touches of its process, so that a test can hand in another. */
export interface Io {
	stdout: Output;
	stderr: Output;
	now(): Date;
	/** Asks a person, hidden or not; null where nobody is there to answer. */
	ask(question: string, hidden?: boolean): Promise<string | null>;
	/** Aborts at the first Ctrl-C or SIGTERM; a command that never asks for it is ended by them. */
	interrupted(): AbortSignal;
}

/** The process's own. */
export function processIo(): Io {
	for (const output of [process.stdout, process.stderr]) output.on("error", ignoreClosedPipe);
	return {
		stdout: process.stdout,
		stderr: process.stderr,
		now: () => new Date(),
		ask: (question, hidden = false) => askAtTerminal(question, hidden),
		interrupted,
	};
}

/** Whoever reads the output may go away, as `head` does, or a log's collector: that ends no command. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
	if (error.code !== "EPIPE") throw error;
}

function interrupted(): AbortSignal {
	const controller = new AbortController();
	const names = ["SIGTERM", "SIGINT"] as const;
	const abort = () => {
		// The next one ends the process at once, as if nobody had asked.
		for (const name of names) process.off(name, abort);
		controller.abort();
	};
	for (const name of names) process.on(name, abort);
	return controller.signal;
}

/** Prints a line on standard output. */
export function printLine(io: Io, line: string): void {
	io.stdout.write(`${line}\n`);
}

/** Prints a line on standard error. */
export function printError(io: Io, line: string): void {
	io.stderr.write(`${line}\n`);
}
