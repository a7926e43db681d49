/** Host → its waiting smallkeys; the next host first. */
type Waiting = Map<string, Set<string>>;

/**
 * A queue of smallkeys that runs its work for at most `width` hosts concurrently, one smallkey each. After each smallkey
 * its host moves to the end, so that a host with many does not delay the others.
 */
export class HostQueue {
	readonly #width: number;
	readonly #work: (smallkey: string) => Promise<void>;
	readonly #urgent: Waiting = new Map();
	readonly #patient: Waiting = new Map();
	/** Host → the work that runs. */
	readonly #running = new Map<string, Promise<void>>();

	/** @param work must not reject */
	constructor(width: number, work: (smallkey: string) => Promise<void>) {
		this.#width = width;
		this.#work = work;
	}

	/** Adds a smallkey, once; urgent ones come first. */
	add(smallkey: string, host: string, urgent: boolean): void {
		if (urgent) remove(this.#patient, smallkey, host);
		const isUrgent = urgent || (this.#urgent.get(host)?.has(smallkey) ?? false);
		const waiting = isUrgent ? this.#urgent : this.#patient;
		waiting.set(host, (waiting.get(host) ?? new Set()).add(smallkey));
		this.#fill();
	}

	async idle(): Promise<void> {
		while (this.#running.size > 0) await Promise.all(this.#running.values());
	}

	/** Empties the queue without ending running work. */
	clear(): void {
		this.#urgent.clear();
		this.#patient.clear();
	}

	/** Number of waiting and running smallkeys. */
	get size(): number {
		const sizes = [...this.#urgent.values(), ...this.#patient.values()].map((keys) => keys.size);
		return sizes.reduce((sum, size) => sum + size, this.#running.size);
	}

	#fill(): void {
		while (this.#running.size < this.#width) {
			const next = take(this.#urgent, this.#running) ?? take(this.#patient, this.#running);
			if (!next) return;
			const { host, smallkey } = next;
			const work = this.#work(smallkey).finally(() => {
				this.#running.delete(host);
				this.#fill();
			});
			this.#running.set(host, work);
		}
	}
}

/** Takes the next smallkey of a host for which nothing runs; null where there is none. */
function take(
	waiting: Waiting,
	running: ReadonlyMap<string, unknown>,
): { smallkey: string; host: string } | null {
	for (const [host, smallkeys] of waiting) {
		const [smallkey] = smallkeys;
		if (running.has(host) || smallkey === undefined) continue;
		waiting.delete(host);
		smallkeys.delete(smallkey);
		if (smallkeys.size > 0) waiting.set(host, smallkeys);
		return { smallkey, host };
	}
	return null;
}

function remove(waiting: Waiting, smallkey: string, host: string): void {
	const smallkeys = waiting.get(host);
	smallkeys?.delete(smallkey);
	if (smallkeys?.size === 0) waiting.delete(host);
}
