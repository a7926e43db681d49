/** When a layer is next due, in milliseconds since 1970. A hash of its smallkey decides its moment in each period. */
export function nextMoment(smallkey: string, now: number, periodMs: number): number {
	const moment = (hashOf(smallkey) / 2 ** 32) * periodMs;
	return Math.ceil((Math.floor((now - moment) / periodMs) + 1) * periodMs + moment);
}

/** FNV-1a of 32 bits (RFC 9923). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

interface Timers {
	/** Calls `run` once after `ms` milliseconds, without keeping the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

export const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export interface Schedule {
	timers: Timers;
	now: () => Date;
	allKeys: () => Iterable<string>;
	/** The period in which each layer becomes due once, in milliseconds (`HARVEST_EVERY`). */
	everyMs: number;
}

/**
 * Creates a queue of smallkeys. It runs `work` for at most `maxHosts` hosts concurrently, for one smallkey of each host.
 * After each smallkey its host moves to the end, so that a host with many smallkeys does not delay the others.
 * @param work must not reject
 */
export function createHostQueue(maxHosts: number, work: (smallkey: string) => Promise<void>) {
	/** Host → its waiting smallkeys, in the order of the hosts' next runs. */
	type Hosts = Map<string, Set<string>>;
	const [urgent, ordinary]: [Hosts, Hosts] = [new Map(), new Map()];
	/** Host → its running work. */
	const running = new Map<string, Promise<void>>();

	/** Starts the next smallkey whose host has no running work. @returns whether there is one */
	function startNext(): boolean {
		for (const hosts of [urgent, ordinary]) {
			for (const [host, smallkeys] of hosts) {
				const [smallkey] = smallkeys;
				if (running.has(host)) continue;
				hosts.delete(host);
				if (smallkey === undefined) continue;
				smallkeys.delete(smallkey);
				hosts.set(host, smallkeys);
				const done = () => {
					running.delete(host);
					fill();
				};
				running.set(host, work(smallkey).finally(done));
				return true;
			}
		}
		return false;
	}

	function fill(): void {
		while (running.size < maxHosts && startNext());
	}

	return {
		/** Adds a smallkey, unless it is waiting already. Urgent smallkeys come first. */
		add(smallkey: string, host: string, isUrgent: boolean): void {
			if (isUrgent) ordinary.get(host)?.delete(smallkey);
			const hosts = isUrgent || urgent.get(host)?.has(smallkey) ? urgent : ordinary;
			hosts.set(host, (hosts.get(host) ?? new Set()).add(smallkey));
			fill();
		},
		/** Leaves out what waits, and waits for running work. */
		async close(): Promise<void> {
			urgent.clear();
			ordinary.clear();
			while (running.size > 0) await Promise.all(running.values());
		},
		get size(): number {
			const sizes = [urgent, ordinary].flatMap((hosts) => [...hosts.values()].map(({ size }) => size));
			return sizes.reduce((sum, size) => sum + size, running.size);
		},
	};
}
