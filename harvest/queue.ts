/** Smallkeys that wait to be worked on, each with the host that the work burdens. */
export interface Queue {
	/** Adds a smallkey, or moves it to the front where it is urgent; one that waits already waits once. */
	add(smallkey: string, host: string, urgent: boolean): void;
	/** Resolves when nothing waits and nothing is under way. */
	idle(): Promise<void>;
	/** Forgets what waits; what is under way goes on. */
	clear(): void;
	/** How many wait or are under way. */
	readonly size: number;
}

/**
 * Makes a queue that does `work` for at most `width` hosts at a time, one smallkey each; urgent ones go first.
 * @param work must not reject
 */
export function createQueue(width: number, work: (smallkey: string) => Promise<void>): Queue {
	const urgentOnes = new Map<string, string>();
	const patientOnes = new Map<string, string>();
	const busyHosts = new Set<string>();
	let sleepers: (() => void)[] = [];

	function take(): { smallkey: string; host: string } | null {
		for (const waiting of [urgentOnes, patientOnes]) {
			for (const [smallkey, host] of waiting) {
				if (busyHosts.has(host)) continue;
				waiting.delete(smallkey);
				return { smallkey, host };
			}
		}
		return null;
	}

	function fill(): void {
		while (busyHosts.size < width) {
			const next = take();
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
			if (urgent) patientOnes.delete(smallkey);
			if (urgent || !urgentOnes.has(smallkey)) (urgent ? urgentOnes : patientOnes).set(smallkey, host);
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
			return urgentOnes.size + patientOnes.size + busyHosts.size;
		},
	};
}
