import { seenOf, type Watched } from "../../harvest/watch-layer.ts";
import type { Description } from "../../registry/description.ts";
import {
	healthPath,
	healthText,
	parseHealth,
	type Seen,
	type SickState,
	updateHealth,
	weekOf,
} from "../../registry/health.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import type { Log } from "../../store/log.ts";
import { isRefusal, type Store } from "../../store/store.ts";
import { descriptionOf, serviceMeta } from "./commit.ts";
import type { Schedule, Timers } from "./schedule.ts";

/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
export type WatchLayer = (
	registration: Registration,
	signal: AbortSignal,
	known?: Description | null,
) => Promise<Watched>;

interface WatcherOptions extends Pick<Schedule, "now" | "allKeys"> {
	timers: Timers;
	store: Store;
	watch: WatchLayer;
	/** Reads the stored `layers/health.json`; null where there is none. */
	readHealth: () => Promise<string | null>;
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
			const bytes = new TextEncoder().encode(layer?.registration);
			const registration = layer && parseRegistration(bytes, "stored").registration;
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
		this.#storing = this.#storing.then(() => this.#storeSeen()).catch(this.#options.log.error);
	}

	/** Stores the results since the last call in one commit, if they change anything; keeps them where that fails. */
	async #storeSeen(): Promise<void> {
		const states = this.#seen;
		this.#seen = new Map();
		if (states.size === 0) return;
		await this.#storeStates(states).catch((error) => {
			this.#seen = new Map([...states, ...this.#seen]);
			throw error;
		});
	}

	async #storeStates(states: ReadonlyMap<string, Seen | null>): Promise<void> {
		const { store, readHealth, allKeys, now } = this.#options;
		const before = await readHealth();
		const registered = new Set(allKeys());
		const isRegistered = (smallkey: string) => registered.has(smallkey);
		const health = updateHealth(parseHealth(before), states, weekOf(now()), isRegistered);
		const text = healthText(health);
		if (text === before) return;
		const outcome = await store.change(async () => [{ path: healthPath, text }], {
			...serviceMeta(now),
			smallkey: null,
			subject: `health: ${health.size} ${health.size === 1 ? "layer is" : "layers are"} sick`,
		});
		if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
	}
}
