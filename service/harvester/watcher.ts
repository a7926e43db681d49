import { seenOf } from "../../harvest/finding.ts";
import type { WatchLayer } from "../../harvest/watch-layer.ts";
import { type Seen, type SickState, updateHealth, weekOf } from "../../registry/health.ts";
import type { Log } from "../../store/log.ts";
import { descriptionOf, registrationOf } from "../stored-layer.ts";
import { commitHealth, type StoredHealth } from "./commit.ts";
import type { Schedule } from "./schedule.ts";

interface WatcherOptions extends StoredHealth, Pick<Schedule, "allKeys" | "timers"> {
	/** Checks whether a viewer can show a layer. Rejects only if its signal aborts. */
	watch: WatchLayer;
	/** Gets each failure of the store. */
	log: Log;
}

/** The result of the last check of a layer. */
export interface LastCheck {
	/** null: healthy. */
	state: SickState | null;
	/** The time of the check, in milliseconds since 1970. */
	at: number;
	/** Each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** How long results are collected for one commit, in milliseconds. */
const collectMs = 600_000;

/** Checks whether a viewer can show the layers of a running service, and stores which layers are sick. */
export function createWatcher(options: WatcherOptions) {
	const { store, watch, now, allKeys, timers, log } = options;
	const lastChecks = new Map<string, LastCheck>();
	/** Results that are not stored yet. */
	let seen = new Map<string, Seen | null>();
	let timer: unknown = null;
	let storing: Promise<void> = Promise.resolve();

	/** Checks a layer, if it exists. Never rejects. */
	async function check(smallkey: string, signal: AbortSignal): Promise<void> {
		try {
			const layer = await store.read(smallkey);
			const registration = layer && registrationOf(layer);
			if (!registration || signal.aborted) return;
			const watched = await watch(registration, signal, descriptionOf(layer));
			const findings = watched.findings.map(({ pointer, text }) => `${pointer}: ${text}`);
			lastChecks.set(smallkey, { state: watched.state, at: now().getTime(), findings });
			seen.set(smallkey, seenOf(watched));
			timer ??= timers.set(storeLater, collectMs);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
	}

	function storeLater(): void {
		timers.clear(timer);
		timer = null;
		storing = storing.then(storeSeen);
	}

	/** Stores the new results in one commit, if they change anything. After a failure they are kept for the next call. */
	async function storeSeen(): Promise<void> {
		const found = seen;
		if (found.size === 0) return;
		seen = new Map();
		try {
			await commitHealth(options, (before) => {
				const registered = new Set(allKeys());
				const after = updateHealth(before, found, weekOf(now()), (smallkey) => registered.has(smallkey));
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				return { after, subject, trailers: [] };
			});
		} catch (error) {
			seen = new Map([...found, ...seen]);
			log.error(error);
		}
	}

	return {
		check,
		/** The last result for a layer; null if it was not checked since the start. */
		lastCheckOf: (smallkey: string): LastCheck | null => lastChecks.get(smallkey) ?? null,
		/** Stores the collected results. */
		close: async () => {
			storeLater();
			await storing;
		},
	};
}
