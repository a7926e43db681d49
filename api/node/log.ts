/** One answer, for the log. It holds no secret and no signature. */
export interface Answered {
	/** Stands in the answer's `X-Request-Id`, too. */
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

/** Most kinds of refusals that are told apart at once; beyond, addresses are not. */
const maxKinds = 1_000;

/** Equal refusals of one address in one window, after the first. */
interface Counted {
	last: Answered;
	repeated: number;
}

/**
 * Answers on their way to the log. The first refusal of its kind (address, method, status) has a line at once; what
 * follows within the window is one line at its end, whatever the paths are: nobody can fill a disk by being refused.
 */
export class AnswerLog {
	readonly #write: (answered: Answered) => void;
	readonly #windowMs: number;
	readonly #kinds = new Map<string, Counted>();
	#timer: NodeJS.Timeout | null = null;

	constructor(write: (answered: Answered) => void, windowMs: number) {
		this.#write = write;
		this.#windowMs = windowMs;
	}

	add(answered: Answered): void {
		if (answered.status < 400) return this.#write(answered);
		const kind = this.#kindOf(answered);
		const counted = this.#kinds.get(kind);
		if (counted) {
			counted.last = answered;
			counted.repeated += 1;
			return;
		}
		this.#kinds.set(kind, { last: answered, repeated: 0 });
		this.#write(answered);
		this.#timer ??= setTimeout(() => this.#endWindow(), this.#windowMs).unref();
	}

	/** Writes what was counted since the last line. */
	end(): void {
		if (this.#timer) clearTimeout(this.#timer);
		this.#timer = null;
		this.#writeCounted();
		this.#kinds.clear();
	}

	#kindOf({ address, method, status }: Answered): string {
		const kind = `${address} ${method} ${status}`;
		return this.#kinds.size < maxKinds || this.#kinds.has(kind) ? kind : `other addresses ${status}`;
	}

	#endWindow(): void {
		this.#timer = null;
		this.#writeCounted();
		if (this.#kinds.size > 0) this.#timer = setTimeout(() => this.#endWindow(), this.#windowMs).unref();
	}

	/** Kinds that go on keep their place, so that they have one line for each window. */
	#writeCounted(): void {
		for (const [kind, counted] of this.#kinds) {
			if (counted.repeated > 0) this.#write({ ...counted.last, repeated: counted.repeated });
			else this.#kinds.delete(kind);
			counted.repeated = 0;
		}
	}
}
