/** Host → its waiting smallkeys; the next host first. */
type Waiting = Map<string, Set<string>>;

/**
 * A queue of smallkeys that runs its work for at most `width` hosts concurrently, one smallkey each. After each smallkey
 * its host moves to the end, so that a host with many does not delay the others.
 * @param work must not reject
 */
export function createHostQueue(width: number, work: (smallkey: string) => Promise<void>) {
	const urgent: Waiting = new Map();
	const patient: Waiting = new Map();
	/** Host → the work that runs. */
	const running = new Map<string, Promise<void>>();

	function fill(): void {
		while (running.size < width) {
			const next = take(urgent, running) ?? take(patient, running);
			if (!next) return;
			const { host, smallkey } = next;
			const done = () => {
				running.delete(host);
				fill();
			};
			running.set(host, work(smallkey).finally(done));
		}
	}

	return {
		/** Adds a smallkey, once; urgent ones come first. */
		add(smallkey: string, host: string, isUrgent: boolean): void {
			if (isUrgent) remove(patient, smallkey, host);
			const waiting = isUrgent || urgent.get(host)?.has(smallkey) ? urgent : patient;
			waiting.set(host, (waiting.get(host) ?? new Set()).add(smallkey));
			fill();
		},
		async idle(): Promise<void> {
			while (running.size > 0) await Promise.all(running.values());
		},
		/** Empties the queue without ending running work. */
		clear(): void {
			urgent.clear();
			patient.clear();
		},
		/** Number of waiting and running smallkeys. */
		get size(): number {
			const sizes = [...urgent.values(), ...patient.values()].map((keys) => keys.size);
			return sizes.reduce((sum, size) => sum + size, running.size);
		},
	};
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
