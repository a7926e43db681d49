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
	readonly #busyHosts = new Set<string>();
	readonly #sleepers: (() => void)[] = [];

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

	/** Resolves when nothing is running. */
	idle(): Promise<void> {
		if (this.#busyHosts.size === 0) return Promise.resolve();
		return new Promise((resolve) => this.#sleepers.push(resolve));
	}

	/** Empties the queue without ending running work. */
	clear(): void {
		this.#urgent.clear();
		this.#patient.clear();
	}

	/** Number of waiting and running smallkeys. */
	get size(): number {
		const sizes = [...this.#urgent.values(), ...this.#patient.values()].map((keys) => keys.size);
		return sizes.reduce((sum, size) => sum + size, this.#busyHosts.size);
	}

	#fill(): void {
		while (this.#busyHosts.size < this.#width) {
			const next = take(this.#urgent, this.#busyHosts) ?? take(this.#patient, this.#busyHosts);
			if (!next) break;
			this.#busyHosts.add(next.host);
			void this.#work(next.smallkey).finally(() => {
				this.#busyHosts.delete(next.host);
				this.#fill();
			});
		}
		if (this.#busyHosts.size > 0) return;
		for (const wake of this.#sleepers.splice(0)) wake();
	}
}

/** Takes the next smallkey of a host that is not busy; null where there is none. */
function take(waiting: Waiting, busyHosts: ReadonlySet<string>): { smallkey: string; host: string } | null {
	for (const [host, smallkeys] of waiting) {
		const [smallkey] = smallkeys;
		if (busyHosts.has(host) || smallkey === undefined) continue;
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
