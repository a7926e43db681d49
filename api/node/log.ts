import type { Log } from "../../store/store.ts";
import { logText } from "../log.ts";
import type { Answered } from "./serve.ts";

function writeLine(fields: object): void {
	process.stdout.write(`${logText({ time: new Date().toISOString(), ...fields })}\n`);
}

const windowMs = 1_000;
const maxKinds = 1_000;

/**
 * Refusals must not fill a disk: each second writes `maxLines` of a kind. `skipped`: lines left out before
 * this one.
 * @param kindOf null: always written
 */
export function limitedLog<Line extends object>(
	write: (line: Line & { skipped?: number }) => void,
	maxLines: number,
	kindOf: (line: Line) => string | null,
	now = () => performance.now(),
) {
	const counts = new Map<string, number>();
	let endMs = 0;
	let skipped = 0;
	return (line: Line): void => {
		const kind = kindOf(line);
		if (kind === null) return write(line);
		if (now() >= endMs) {
			counts.clear();
			endMs = now() + windowMs;
		}
		const count = counts.get(kind) ?? (counts.size < maxKinds ? 0 : maxLines);
		if (count === maxLines) {
			skipped += 1;
			return;
		}
		counts.set(kind, count + 1);
		write(skipped > 0 ? { ...line, skipped } : line);
		skipped = 0;
	};
}

const writeError = limitedLog(writeLine, 1, ({ error }: { error: string }) => stackOf(error));

export function stackOf(error: string): string {
	return error.match(/^ {4}at .*$/gm)?.join("\n") ?? error;
}

export const serviceLog: Log = {
	info: writeLine,
	warn: (warning) => writeLine({ warning }),
	error: (error) =>
		writeError({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
};

const maxRefusals = 20;

export const logAnswer = limitedLog(writeLine, maxRefusals, ({ address = "", status }: Answered) =>
	status < 400 ? null : address,
);
