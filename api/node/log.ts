/** One answer, for the log. It holds no secret and no signature. */
export interface Answered {
	/** The answer's `X-Request-Id`. */
	id: string;
	method: string;
	/** Path without the query. */
	path: string;
	status: number;
	/** From the request's head to the end of the answer. */
	milliseconds: number;
	/** The `Sender` header of a write, or null. */
	sender: string | null;
	/** Where a request that was refused came from. */
	address?: string;
	/** Why a write was refused, in a word or two. */
	reason?: string;
	/** How many equal refusals of the address there were in the last second; this is the last one of them. */
	repeated?: number;
}

/** Most kinds of lines that are counted apart at once; lines of further kinds are counted together. */
const maxKinds = 1_000;

/** Lines of one kind in one window, after the first. */
interface Counted<Line> {
	last: Line;
	repeated: number;
}

/**
 * Lines on their way to the log. The first line of a kind is written at once; what follows within the window is one line
 * at its end, the last one with the number of them, so that refusals cannot fill a disk.
 */
export class CountedLog<Line extends object> {
	readonly #write: (line: Line & { repeated?: number }) => void;
	readonly #windowMs: number;
	readonly #kindOf: (line: Line) => string | null;
	readonly #kinds = new Map<string, Counted<Line>>();
	#timer: NodeJS.Timeout | undefined;

	/** @param kindOf equal for lines that are counted together; null for one that is always written */
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

	/** Writes what was counted since the last line. Kinds that go on keep their place: they have one line for each window. */
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

/** Answers are counted by address, method and status where they refuse, whatever their paths are. */
export function kindOfAnswer({ address, method, status }: Answered): string | null {
	return status < 400 ? null : `${address} ${method} ${status}`;
}
