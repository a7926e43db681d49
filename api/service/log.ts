import type { Log } from "../../store/log.ts";
import { logText } from "../context.ts";
import { countedLog } from "../node/send.ts";

/** Lines that are written at the end of this iteration of the event loop. */
let waiting: string[] = [];

// Waiting lines are written even if the process ends before that.
process.on("exit", () => {
	errors.end();
	writeWaiting();
});

/**
 * Writes a JSON line with the time to standard output. The lines of one iteration of the event loop are written
 * together: a hundred separate writes would delay answers.
 */
function logLine(fields: object): void {
	const line = `${logText({ time: new Date().toISOString(), ...fields })}\n`;
	if (waiting.push(line) === 1) setImmediate(writeWaiting);
	// A warning is written at once: it must be in the log before the answer that it explains.
	if ("warning" in fields) writeWaiting();
}

function writeWaiting(): void {
	if (waiting.length > 0) process.stdout.write(waiting.join(""));
	waiting = [];
}

/** Errors from one place in the code within this time share one line, in milliseconds. */
const countErrorsMs = 1_000;

/**
 * Logs internal errors. Errors from one place in the code within `windowMs` share one line with their number, since
 * requests can cause many of them.
 */
export function countedErrors(write: (line: { error: string; repeated?: number }) => void, windowMs: number) {
	// The place is the stack without the message, which may vary; the message if there is no stack.
	const placeOf = ({ error }: { error: string }) => error.match(/^ {4}at .*$/gm)?.join("\n") ?? error;
	const log = countedLog(write, windowMs, placeOf);
	return {
		add: (error: unknown) =>
			log.add({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
		end: () => log.end(),
	};
}

const errors = countedErrors(logLine, countErrorsMs);

/** The log of the service: JSON lines on standard output. */
export const serviceLog: Log = {
	info: logLine,
	warn: (warning) => logLine({ warning }),
	error: errors.add,
};

/** Counts the reads without a line of their own, and logs their number every hour and at the end. */
export function countReads() {
	let reads = 0;
	const log = () => {
		logLine({ reads });
		reads = 0;
	};
	const timer = setInterval(log, 3_600_000).unref();
	const add = () => {
		reads += 1;
	};
	const end = () => {
		clearInterval(timer);
		log();
	};
	return { add, end };
}
