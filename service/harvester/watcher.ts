import { seenOf, type WatchLayer } from "../../harvest/watch-layer.ts";
import type { Seen, SickState } from "../../registry/health.ts";
import type { Log } from "../../store/log.ts";
import { descriptionOf, registrationOf } from "../stored-layer.ts";
import { commitHealth, type StoredHealth, withSeen } from "./health.ts";
import type { Schedule } from "./schedule.ts";

interface WatcherOptions extends StoredHealth, Pick<Schedule, "allKeys" | "timers"> {
	/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
	watch: WatchLayer;
	/** Gets each failure of the store. */
	log: Log;
}

/** The result of the last check of a layer. */
export interface Sight {
	/** null: healthy. */
	state: SickState | null;
	/** In milliseconds since 1970. */
	at: number;
	/** Each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** How long results are collected for one commit, in milliseconds. */
const gatherMs = 600_000;

/** Checks layers of a running service as a viewer sees them, and stores which are sick. */
export class Watcher {
	readonly #options: WatcherOptions;
	readonly #sights = new Map<string, Sight>();
	/** Results that are not stored yet. */
	#seen = new Map<string, Seen | null>();
	#timer: unknown = null;
	#storing: Promise<void> = Promise.resolve();

	constructor(options: WatcherOptions) {
		this.#options = options;
	}

	/** Checks a layer, if it is there. Never rejects. */
	readonly look = async (smallkey: string, signal: AbortSignal): Promise<void> => {
		const { store, watch, now, log } = this.#options;
		try {
			const layer = await store.read(smallkey);
			const registration = layer && registrationOf(layer);
			if (!registration || signal.aborted) return;
			const watched = await watch(registration, signal, descriptionOf(layer));
			const findings = watched.findings.map(({ pointer, text }) => `${pointer}: ${text}`);
			this.#sights.set(smallkey, { state: watched.state, at: now().getTime(), findings });
			this.#seen.set(smallkey, seenOf(watched));
			this.#timer ??= this.#options.timers.set(() => this.#storeNow(), gatherMs);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
	};

	/** The last result for a layer; null where it was not checked since the start. */
	sightOf(smallkey: string): Sight | null {
		return this.#sights.get(smallkey) ?? null;
	}

	/** Stores the results. */
	async close(): Promise<void> {
		this.#storeNow();
		await this.#storing;
	}

	#storeNow(): void {
		this.#options.timers.clear(this.#timer);
		this.#timer = null;
		this.#storing = this.#storing.then(() => this.#store());
	}

	/** Stores the results since the last call in one commit, if they change anything; keeps them where that fails. */
	async #store(): Promise<void> {
		const { allKeys, now, log } = this.#options;
		const seen = this.#seen;
		if (seen.size === 0) return;
		this.#seen = new Map();
		try {
			await commitHealth(this.#options, (before) => {
				const after = withSeen(before, seen, allKeys(), now());
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				return { after, subject, trailers: [] };
			});
		} catch (error) {
			this.#seen = new Map([...seen, ...this.#seen]);
			log.error(error);
		}
	}
}
