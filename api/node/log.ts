/** Most kinds of lines that are counted separately at once; lines of further kinds are counted together. */
const maxKinds = 1_000;

/**
 * Makes a log that combines similar lines, so that refusals cannot fill a disk. The first line of a kind is written at
 * once. At the end of a window, the last of the further lines is written, with their number.
 * @param kindOf returns the same kind for lines that are counted together; null for a line that is always written
 */
export function countedLog<Line extends object>(
	write: (line: Line & { repeated?: number }) => void,
	windowMs: number,
	kindOf: (line: Line) => string | null,
) {
	/** Kind → its last line, and the number of lines after the first one. */
	const kinds = new Map<string, { last: Line; repeated: number }>();
	let timer: NodeJS.Timeout | undefined;
	/** Writes a line for each kind with further lines. Those kinds keep being counted in the next window. */
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
		const own = kindOf(line);
		if (own === null) return write(line);
		const kind = kinds.size < maxKinds || kinds.has(own) ? own : "other";
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
