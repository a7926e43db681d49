import { logText } from "../api/log.ts";
import { CountedLog } from "../api/node/log.ts";

/** Lines that are written at the end of this turn of the event loop. */
let waiting: string[] = [];

// What ends the process in the middle of a turn still has its lines.
process.on("exit", () => {
	errors.end();
	writeWaiting();
});

/**
 * One JSON line on standard output, with the time. Those of one turn of the event loop are one write: of a hundred
 * answers each of its own would hold the others up, and wake up whoever reads the log.
 */
export function logLine(fields: object): void {
	const line = `${logText({ time: new Date().toISOString(), ...fields })}\n`;
	if (waiting.push(line) === 1) setImmediate(writeWaiting);
	// A warning is rare, and in the log before the answer that it explains.
	if ("warning" in fields) writeWaiting();
}

function writeWaiting(): void {
	if (waiting.length > 0) process.stdout.write(waiting.join(""));
	waiting = [];
}

/** Equal errors are counted into one line for so long, in milliseconds. */
const countErrorsMs = 1_000;

/**
 * Logs errors that nobody outside may see, one line each; those of one place within `windowMs` are counted: requests can
 * make many of them.
 */
export function countedErrors(write: (line: { error: string; repeated?: number }) => void, windowMs: number) {
	const log = new CountedLog(write, windowMs, ({ error }: { error: string }) => placeOf(error));
	return {
		add: (error: unknown) =>
			log.add({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
		end: () => log.end(),
	};
}

/** The stack of an error without its message, which may name another file each time; the message where there is none. */
function placeOf(error: string): string {
	return error.match(/^ {4}at .*$/gm)?.join("\n") ?? error;
}

const errors = countedErrors(logLine, countErrorsMs);

/** Logs an error that nobody outside may see. */
export const logError = errors.add;

/** Counts the reads that have no line of their own, and logs their number every hour and at the end. */
export class ReadCount {
	#reads = 0;
	readonly #timer = setInterval(() => this.#log(), 3_600_000).unref();

	/** Counts one. */
	add(): void {
		this.#reads += 1;
	}

	/** Logs what was counted since the last line, and ends. */
	end(): void {
		clearInterval(this.#timer);
		this.#log();
	}

	#log(): void {
		logLine({ reads: this.#reads });
		this.#reads = 0;
	}
}
