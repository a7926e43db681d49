/** Host → its waiting smallkeys, in the order of the hosts' next runs. */
type Waiting = Map<string, Set<string>>;

/**
 * Creates a queue of smallkeys. It runs `work` for at most `maxHosts` hosts concurrently, for one smallkey of each host.
 * After each smallkey its host moves to the end, so that a host with many smallkeys does not delay the others.
 * @param work must not reject
 */
export function createHostQueue(maxHosts: number, work: (smallkey: string) => Promise<void>) {
	const urgent: Waiting = new Map();
	const ordinary: Waiting = new Map();
	/** Host → its running work. */
	const running = new Map<string, Promise<void>>();

	function fill(): void {
		while (running.size < maxHosts) {
			const next = take(urgent, running) ?? take(ordinary, running);
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
		/** Adds a smallkey, unless it is waiting already. Urgent smallkeys come first. */
		add(smallkey: string, host: string, isUrgent: boolean): void {
			if (isUrgent) remove(ordinary, smallkey, host);
			const waiting = isUrgent || urgent.get(host)?.has(smallkey) ? urgent : ordinary;
			waiting.set(host, (waiting.get(host) ?? new Set()).add(smallkey));
			fill();
		},
		async idle(): Promise<void> {
			while (running.size > 0) await Promise.all(running.values());
		},
		/** Empties the queue without ending running work. */
		clear(): void {
			urgent.clear();
			ordinary.clear();
		},
		/** Number of waiting and running smallkeys. */
		get size(): number {
			const sizes = [...urgent.values(), ...ordinary.values()].map((keys) => keys.size);
			return sizes.reduce((sum, size) => sum + size, running.size);
		},
	};
}

/** Removes and returns the next smallkey whose host has no running work; null if there is none. */
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
