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

/** Timers, which tests replace. */
interface Timers {
	/** Calls `run` once after `ms` milliseconds, without keeping the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

export const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** The options that the harvester and the watcher share. */
export interface Schedule {
	timers: Timers;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** The period in which each layer becomes due once, in milliseconds (`HARVEST_EVERY`). */
	everyMs: number;
}

/**
 * Looks for due layers every minute, or more often in a short period.
 * @param sinceMs start of the first period, in milliseconds since 1970
 * @param due called with each layer that has become due; the next call waits for the promise. Must not reject.
 * @param signal ends the search
 */
export function pollDue(
	{ timers, now, allKeys, everyMs }: Schedule,
	sinceMs: number,
	due: (smallkey: string) => Promise<void>,
	signal: AbortSignal,
): void {
	const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
	let timer: unknown;
	const pollLater = (since: number) => {
		if (signal.aborted) return;
		timer = timers.set(async () => {
			const until = now().getTime();
			for (const smallkey of [...allKeys()]) {
				if (!signal.aborted && nextMoment(smallkey, since, everyMs) <= until) await due(smallkey);
			}
			pollLater(until);
		}, intervalMs);
	};
	pollLater(sinceMs);
	signal.addEventListener("abort", () => timers.clear(timer), { once: true });
}

/**
 * Creates a queue of smallkeys. It runs `work` for at most `maxHosts` hosts concurrently, for one smallkey of each host.
 * After each smallkey its host moves to the end, so that a host with many smallkeys does not delay the others.
 * @param work must not reject
 */
export function createHostQueue(maxHosts: number, work: (smallkey: string) => Promise<void>) {
	/** Host → its waiting smallkeys, in the order of the hosts' next runs. */
	const hosts = new Map<string, { urgent: Set<string>; ordinary: Set<string> }>();
	/** Host → its running work. */
	const running = new Map<string, Promise<void>>();

	/** Removes and returns the next smallkey whose host has no running work; null if there is none. */
	function take(kind: "urgent" | "ordinary"): { smallkey: string; host: string } | null {
		for (const [host, waiting] of hosts) {
			const [smallkey] = waiting[kind];
			if (running.has(host) || smallkey === undefined) continue;
			waiting[kind].delete(smallkey);
			hosts.delete(host);
			if (waiting.urgent.size + waiting.ordinary.size > 0) hosts.set(host, waiting);
			return { smallkey, host };
		}
		return null;
	}

	function fill(): void {
		while (running.size < maxHosts) {
			const next = take("urgent") ?? take("ordinary");
			if (!next) return;
			const done = () => {
				running.delete(next.host);
				fill();
			};
			running.set(next.host, work(next.smallkey).finally(done));
		}
	}

	return {
		/** Adds a smallkey, unless it is waiting already. Urgent smallkeys come first. */
		add(smallkey: string, host: string, isUrgent: boolean): void {
			const waiting = hosts.get(host) ?? { urgent: new Set(), ordinary: new Set() };
			hosts.set(host, waiting);
			if (isUrgent) waiting.ordinary.delete(smallkey);
			if (isUrgent || waiting.urgent.has(smallkey)) waiting.urgent.add(smallkey);
			else waiting.ordinary.add(smallkey);
			fill();
		},
		async idle(): Promise<void> {
			while (running.size > 0) await Promise.all(running.values());
		},
		/** Empties the queue without ending running work. */
		clear: () => hosts.clear(),
		/** Number of waiting and running smallkeys. */
		get size(): number {
			const sizes = [...hosts.values()].map(({ urgent, ordinary }) => urgent.size + ordinary.size);
			return sizes.reduce((sum, size) => sum + size, running.size);
		},
	};
}
