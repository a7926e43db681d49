import type { Log } from "../../store/store.ts";
import { logText } from "../log.ts";
import type { AnswerEvent } from "./serve.ts";

function writeLine(fields: object): void {
	process.stdout.write(`${logText({ time: new Date().toISOString(), ...fields })}\n`);
}

const windowMs = 1_000;

/** Writes `maxLines` each second: a log must not fill a disk. `skipped`: lines left out before this one. */
export function limitedLog<Line extends object>(
	write: (line: Line & { skipped?: number }) => void,
	maxLines: number,
	now = () => performance.now(),
) {
	let count = 0;
	let endMs = 0;
	let skipped = 0;
	return (line: Line): void => {
		if (now() >= endMs) {
			count = 0;
			endMs = now() + windowMs;
		}
		if (count === maxLines) {
			skipped += 1;
			return;
		}
		count += 1;
		write(skipped > 0 ? { ...line, skipped } : line);
		skipped = 0;
	};
}

const writeError = limitedLog(writeLine, 10);

export const serviceLog: Log = {
	info: writeLine,
	warn: (warning) => writeLine({ warning }),
	error: (error) =>
		writeError({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
};

const writeRefusal = limitedLog(writeLine, 100);

export function logAnswer({ kind: _kind, route: _route, ...line }: AnswerEvent): void {
	if (line.id === null) return;
	const write = line.status < 400 ? writeLine : writeRefusal;
	write(line);
}
