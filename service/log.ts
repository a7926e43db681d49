import { logText } from "../api/log.ts";

/** Lines that are written at the end of this turn of the event loop. */
let waiting: string[] = [];

// What ends the process in the middle of a turn still has its lines.
process.on("exit", writeWaiting);

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

/** Logs an error that nobody outside may see. */
export function logError(error: unknown): void {
	logLine({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

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
