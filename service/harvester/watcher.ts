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
import { isRefusal, type Layer, type Store } from "../../store/store.ts";
import { descriptionOf, serviceMeta } from "./commit.ts";
import { HostQueue } from "./queue.ts";
import { lookForDue, NamedTimers, type Schedule } from "./schedule.ts";
import { Remembered } from "./states.ts";

/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
export type WatchLayer = (
	registration: Registration,
	signal: AbortSignal,
	known?: Description | null,
) => Promise<Watched>;

interface WatcherOptions extends Schedule {
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

/** Most concurrent checks, each of another host. */
const atOnce = 2;

/** Delay of the check after a registration, in milliseconds, so that the layer is harvested first. */
const followMs = 60_000;

/** Most layers that wait for a check after their registration. */
const maxFollowed = 100;

/** How long results are collected for one commit, in milliseconds. */
const gatherMs = 600_000;

/** Checks the layers of a running service, and stores which are sick. It is idle until its first call. */
export class Watcher {
	readonly #options: WatcherOptions;
	readonly #ending = new AbortController();
	readonly #queue = new HostQueue(atOnce, (smallkey) => this.#watch(smallkey));
	readonly #timers: NamedTimers;
	readonly #followed = new Set<string>();
	readonly #sights = new Remembered<Sight>();
	/** Results that are not stored yet. */
	#seen = new Map<string, Seen | null>();
	#looks: { end: () => void } | null = null;
	#storing: Promise<void> = Promise.resolve();

	constructor(options: WatcherOptions) {
		this.#options = options;
		this.#timers = new NamedTimers(options.timers);
	}

	/** Checks a layer a minute after its registration, unless many wait: the layers of a batch wait until they are due. */
	follow(smallkey: string): void {
		if (this.#followed.size >= maxFollowed || this.#ending.signal.aborted) return;
		this.#followed.add(smallkey);
		// A smallkey has no space, so no other timer has this name.
		this.#timers.set(
			`follow ${smallkey}`,
			() => {
				this.#followed.delete(smallkey);
				void this.#enqueue(smallkey);
			},
			followMs,
		);
	}

	/** Checks every layer once in each period, spread over it. */
	start(): void {
		const sinceMs = this.#options.now().getTime();
		this.#looks = lookForDue({ ...this.#options, sinceMs, due: (smallkey) => this.#enqueue(smallkey) });
	}

	/** The last result for a layer; null where it was not checked since the start. */
	sightOf(smallkey: string): Sight | null {
		return this.#sights.get(smallkey) ?? null;
	}

	/** Aborts running checks, and stores the results. */
	async close(): Promise<void> {
		this.#ending.abort(new Error("the service ends"));
		this.#timers.clearAll();
		this.#looks?.end();
		this.#queue.clear();
		await this.#queue.idle();
		this.#storeLater();
		await this.#storing;
	}

	/** Never rejects. */
	async #enqueue(smallkey: string): Promise<void> {
		try {
			const registration = registrationOf(await this.#options.store.read(smallkey));
			if (!registration || this.#ending.signal.aborted) return;
			this.#queue.add(smallkey, new URL(registration.en.service_url).host, false);
		} catch (error) {
			this.#options.log.error(error);
		}
	}

	async #watch(smallkey: string): Promise<void> {
		const { store, watch, now, log } = this.#options;
		const { signal } = this.#ending;
		try {
			const layer = await store.read(smallkey);
			const registration = registrationOf(layer);
			if (!layer || !registration || signal.aborted) return;
			const watched = await watch(registration, signal, descriptionOf(layer));
			const findings = watched.findings.map(({ pointer, text }) => `${pointer}: ${text}`);
			this.#sights.set(smallkey, { state: watched.state, at: now().getTime(), findings });
			if (this.#seen.size === 0) this.#timers.set("store", () => this.#storeLater(), gatherMs);
			this.#seen.set(smallkey, seenOf(watched));
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
	}

	#storeLater(): void {
		this.#storing = this.#storing.then(() => this.#storeSeen()).catch(this.#options.log.error);
	}

	/** Stores the results since the last call in one commit, if they change anything. */
	async #storeSeen(): Promise<void> {
		const states = this.#seen;
		this.#seen = new Map();
		if (states.size === 0) return;
		await this.#storeStates(states).catch((error) => {
			this.#seen = new Map([...states, ...this.#seen]);
			if (!this.#ending.signal.aborted) this.#timers.set("store", () => this.#storeLater(), gatherMs);
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

/** The registration of a layer; null where there is no valid one. */
function registrationOf(layer: Layer | null): Registration | null {
	if (!layer) return null;
	return parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}
