import type { Log } from "../../store/store.ts";
import { logText } from "../context.ts";
import { countedLog } from "../node/send.ts";

let waiting: string[] = [];

// Waiting lines are written even if the process ends before that.
process.on("exit", () => {
	errors.end();
	writeWaiting();
});

/**
 * JSON lines on standard output. Those of one iteration of the event loop are written together: a hundred
 * separate writes would delay answers.
 */
function logLine(fields: object): void {
	const line = `${logText({ time: new Date().toISOString(), ...fields })}\n`;
	if (waiting.push(line) === 1) setImmediate(writeWaiting);
	// A warning must be in the log before the answer that it explains.
	if ("warning" in fields) writeWaiting();
}

function writeWaiting(): void {
	if (waiting.length > 0) process.stdout.write(waiting.join(""));
	waiting = [];
}

const countErrorsMs = 1_000;

/**
 * Requests can cause many errors: those from one place in the code within `windowMs` share one line, with
 * their number.
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

export const serviceLog: Log = {
	info: logLine,
	warn: (warning) => logLine({ warning }),
	error: errors.add,
};

/** Of reads without a line of their own; logged every hour and at the end. */
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
