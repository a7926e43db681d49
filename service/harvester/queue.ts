/** Smallkeys that wait to be worked on, each with the host that the work burdens. */
export interface Queue {
	/** Adds a smallkey; an urgent one goes before all that are not. One that waits already waits once. */
	add(smallkey: string, host: string, urgent: boolean): void;
	/** Resolves when nothing is under way. */
	idle(): Promise<void>;
	/** Forgets what waits; what is under way goes on. */
	clear(): void;
	/** How many wait or are under way. */
	readonly size: number;
}

/** The smallkeys that wait for each host; the hosts in the order of their turns. */
type Waiting = Map<string, Set<string>>;

/**
 * Makes a queue that does `work` for at most `width` hosts at a time, one smallkey each. A host goes to the end after
 * each smallkey, so that one with many does not keep the others waiting.
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
