/** One answer, for the log. It contains no secret and no signature. */
export interface Answered {
	/** The answer's `X-Request-Id`. */
	id: string;
	method: string;
	/** Path without the query. */
	path: string;
	status: number;
	/** Time from the request's head to the end of the answer. */
	milliseconds: number;
	/** The `Sender` header of a write, or null. */
	sender: string | null;
	/** The client's address, where the request was refused. */
	address?: string;
	/** Why a write was refused, in a word or two. */
	reason?: string;
	/** Number of similar refusals that this line stands for, in the last second; the line is the last of them. */
	repeated?: number;
}

/** Most kinds of lines that are counted separately at once; lines of further kinds are counted together. */
const maxKinds = 1_000;

/** The lines of one kind in one window, after the first one. */
interface Counted<Line> {
	last: Line;
	repeated: number;
}

/**
 * A log that combines similar lines, so that refusals cannot fill a disk. The first line of a kind is written at once. At
 * the end of a window, the last of the further lines is written, with their number.
 */
export class CountedLog<Line extends object> {
	readonly #write: (line: Line & { repeated?: number }) => void;
	readonly #windowMs: number;
	readonly #kindOf: (line: Line) => string | null;
	readonly #kinds = new Map<string, Counted<Line>>();
	#timer: NodeJS.Timeout | undefined;

	/** @param kindOf returns the same kind for lines that are counted together; null for a line that is always written */
	constructor(
		write: (line: Line & { repeated?: number }) => void,
		windowMs: number,
		kindOf: (line: Line) => string | null,
	) {
		this.#write = write;
		this.#windowMs = windowMs;
		this.#kindOf = kindOf;
	}

	add(line: Line): void {
		const own = this.#kindOf(line);
		if (own === null) return this.#write(line);
		const kind = this.#kinds.size < maxKinds || this.#kinds.has(own) ? own : "other";
		const counted = this.#kinds.get(kind);
		if (counted) {
			counted.last = line;
			counted.repeated += 1;
			return;
		}
		this.#kinds.set(kind, { last: line, repeated: 0 });
		this.#write(line);
		this.#startWindow();
	}

	/** Ends the window: writes a line for each kind with further lines. Those kinds keep being counted in the next window. */
	end(): void {
		clearTimeout(this.#timer);
		for (const [kind, counted] of this.#kinds) {
			if (counted.repeated > 0) this.#write({ ...counted.last, repeated: counted.repeated });
			else this.#kinds.delete(kind);
			counted.repeated = 0;
		}
		this.#timer = undefined;
		if (this.#kinds.size > 0) this.#startWindow();
	}

	#startWindow(): void {
		this.#timer ??= setTimeout(() => this.end(), this.#windowMs).unref();
	}
}

/** The kind of an answer: refusals are counted by address, method and status, with any path; null for other answers. */
export function kindOfAnswer({ address, method, status }: Answered): string | null {
	return status < 400 ? null : `${address} ${method} ${status}`;
}
