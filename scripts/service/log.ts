import { logText } from "../../api/log.ts";

/** One JSON line on standard output, with the time. */
export function logLine(fields: object): void {
	process.stdout.write(`${logText({ time: new Date().toISOString(), ...fields })}\n`);
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
