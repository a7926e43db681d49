/** A queue of smallkeys, fair between hosts. */
export interface Queue {
	/** Adds a smallkey, once; urgent ones come first. */
	add(smallkey: string, host: string, urgent: boolean): void;
	/** Resolves when nothing is running. */
	idle(): Promise<void>;
	/** Empties the queue without ending running work. */
	clear(): void;
	/** Number of waiting and running smallkeys. */
	readonly size: number;
}

/** Host → its waiting smallkeys; the next host first. */
type Waiting = Map<string, Set<string>>;

/**
 * Makes a queue that runs `work` for at most `width` hosts concurrently, one smallkey each. After each smallkey its host
 * moves to the end, so that one with many does not delay the others.
 * @param work must not reject
 */
export function createQueue(width: number, work: (smallkey: string) => Promise<void>): Queue {
	const urgentOnes: Waiting = new Map();
	const patientOnes: Waiting = new Map();
	const busyHosts = new Set<string>();
	let sleepers: (() => void)[] = [];

	function fill(): void {
		while (busyHosts.size < width) {
			const next = take(urgentOnes, busyHosts) ?? take(patientOnes, busyHosts);
			if (!next) break;
			busyHosts.add(next.host);
			void work(next.smallkey).finally(() => {
				busyHosts.delete(next.host);
				fill();
			});
		}
		if (busyHosts.size > 0) return;
		for (const wake of sleepers) wake();
		sleepers = [];
	}

	return {
		add(smallkey, host, urgent) {
			if (urgent) remove(patientOnes, smallkey, host);
			const isUrgent = urgent || (urgentOnes.get(host)?.has(smallkey) ?? false);
			const waiting = isUrgent ? urgentOnes : patientOnes;
			waiting.set(host, (waiting.get(host) ?? new Set()).add(smallkey));
			fill();
		},
		idle() {
			if (busyHosts.size === 0) return Promise.resolve();
			return new Promise((resolve) => sleepers.push(resolve));
		},
		clear() {
			urgentOnes.clear();
			patientOnes.clear();
		},
		get size() {
			const sizes = [...urgentOnes.values(), ...patientOnes.values()].map((keys) => keys.size);
			return sizes.reduce((sum, size) => sum + size, busyHosts.size);
		},
	};
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
