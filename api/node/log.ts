import type { Log } from "../../store/store.ts";
import { logText } from "../context.ts";

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

const maxKinds = 1_000;

/**
 * Combines similar lines, so that refusals cannot fill a disk: the first of a kind is written at once, and at
 * the end of a window the last one, with the number of all further ones.
 * @param kindOf null for a line that is always written
 */
export function countedLog<Line extends object>(
	write: (line: Line & { repeated?: number }) => void,
	windowMs: number,
	kindOf: (line: Line) => string | null,
) {
	const kinds = new Map<string, { last: Line; repeated: number }>();
	let timer: NodeJS.Timeout | undefined;
	const end = (): void => {
		clearTimeout(timer);
		for (const [kind, counted] of kinds) {
			if (counted.repeated > 0) write({ ...counted.last, repeated: counted.repeated });
			else kinds.delete(kind);
			counted.repeated = 0;
		}
		timer = kinds.size > 0 ? setTimeout(end, windowMs).unref() : undefined;
	};
	const add = (line: Line): void => {
		const name = kindOf(line);
		if (name === null) return write(line);
		const kind = kinds.size < maxKinds || kinds.has(name) ? name : "other";
		const counted = kinds.get(kind);
		if (counted) {
			counted.last = line;
			counted.repeated += 1;
			return;
		}
		kinds.set(kind, { last: line, repeated: 0 });
		write(line);
		timer ??= setTimeout(end, windowMs).unref();
	};
	return { add, end };
}
