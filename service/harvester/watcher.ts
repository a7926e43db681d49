import type { Watched } from "../../harvest/watch-layer.ts";
import type { Description } from "../../registry/description.ts";
import {
	healthPath,
	healthText,
	parseHealth,
	type SickState,
	updateHealth,
	weekOf,
} from "../../registry/health.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import { isRefusal, type Layer, type Store, serviceAuthor } from "../../store/store.ts";
import { descriptionOf } from "./commit.ts";
import { isDue, lookInterval } from "./moments.ts";
import { createQueue } from "./queue.ts";
import { createNamedTimers, type Timers } from "./timers.ts";

/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
export type WatchLayer = (
	registration: Registration,
	signal: AbortSignal,
	known?: Description | null,
) => Promise<Watched>;

/** The dependencies of the watcher. */
export interface WatcherOptions {
	store: Store;
	watch: WatchLayer;
	/** Reads the stored `layers/health.json`; null where there is none. */
	readHealth: () => Promise<string | null>;
	/** Milliseconds between two checks of one layer (`HARVEST_EVERY`). */
	everyMs: number;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Logs a failure of the store. */
	report: (error: unknown) => void;
	timers: Timers;
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

/** Checks the layers of a running service, and stores which are sick. */
export interface Watcher {
	/** Checks a layer a minute after its registration, unless many wait: the layers of a batch wait until they are due. */
	follow(smallkey: string): void;
	/** Checks every layer once in each period, spread over it. */
	start(): void;
	/** The last result for a layer; null where it was not checked since the start. */
	sightOf(smallkey: string): Sight | null;
	/** Aborts running checks, and stores the results. */
	close(): Promise<void>;
}

/** Most concurrent checks, each of another host. */
const atOnce = 2;

/** Delay of the check after a registration, in milliseconds, so that the layer is harvested first. */
const followMs = 60_000;

/** Most layers that wait for a check after their registration. */
const maxFollowed = 100;

/** Most remembered results: the newest. */
const maxRemembered = 20_000;

/** How long results are collected for one commit, in milliseconds. */
const gatherMs = 600_000;

/** Makes the watcher of a running service. It is idle until its first call. */
export function createWatcher(options: WatcherOptions): Watcher {
	const { store, everyMs, now, report } = options;
	const ending = new AbortController();
	const queue = createQueue(atOnce, watch);
	const timers = createNamedTimers(options.timers);
	const followed = new Set<string>();
	const sights = new Map<string, Sight>();
	let seen = new Map<string, SickState | null>();
	let lastLook = 0;
	let storing: Promise<void> = Promise.resolve();

	async function enqueue(smallkey: string): Promise<void> {
		try {
			const registration = registrationOf(await store.read(smallkey));
			if (!registration || ending.signal.aborted) return;
			queue.add(smallkey, new URL(registration.en.service_url).host, false);
		} catch (error) {
			report(error);
		}
	}

	async function watch(smallkey: string): Promise<void> {
		try {
			const layer = await store.read(smallkey);
			const registration = registrationOf(layer);
			if (!layer || !registration || ending.signal.aborted) return;
			const { state, findings } = await options.watch(registration, ending.signal, descriptionOf(layer));
			const texts = findings.map(({ pointer, text }) => `${pointer}: ${text}`);
			remember(smallkey, { state, at: now().getTime(), findings: texts });
		} catch (error) {
			if (!ending.signal.aborted) report(error);
		}
	}

	function remember(smallkey: string, sight: Sight): void {
		sights.delete(smallkey);
		sights.set(smallkey, sight);
		const [oldest] = sights.keys();
		if (sights.size > maxRemembered && oldest !== undefined) sights.delete(oldest);
		if (seen.size === 0) timers.set("store", storeLater, gatherMs);
		seen.set(smallkey, sight.state);
	}

	function storeLater(): void {
		storing = storing.then(storeSeen).catch(report);
	}

	/** Stores the results since the last call in one commit, if they change anything. */
	async function storeSeen(): Promise<void> {
		const states = seen;
		seen = new Map();
		if (states.size === 0) return;
		await storeStates(states).catch((error) => {
			seen = new Map([...states, ...seen]);
			if (!ending.signal.aborted) timers.set("store", storeLater, gatherMs);
			throw error;
		});
	}

	async function storeStates(states: ReadonlyMap<string, SickState | null>): Promise<void> {
		const before = await options.readHealth();
		const registered = new Set(options.allKeys());
		const isRegistered = (smallkey: string) => registered.has(smallkey);
		const health = updateHealth(parseHealth(before), states, weekOf(now()), isRegistered);
		const text = healthText(health);
		if (text === before) return;
		const outcome = await store.change(async () => [{ path: healthPath, text }], {
			smallkey: null,
			author: serviceAuthor,
			time: now().getTime(),
			subject: `health: ${health.size} ${health.size === 1 ? "layer is" : "layers are"} sick`,
			trailers: [],
			request: null,
			review: false,
		});
		if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
	}

	async function look(): Promise<void> {
		const since = lastLook;
		lastLook = now().getTime();
		for (const smallkey of [...options.allKeys()]) {
			if (ending.signal.aborted) return;
			if (isDue(smallkey, since, lastLook, everyMs)) await enqueue(smallkey);
		}
		lookLater();
	}

	function lookLater(): void {
		if (!ending.signal.aborted) timers.set("look", () => void look(), lookInterval(everyMs));
	}

	return {
		follow(smallkey) {
			if (followed.size >= maxFollowed || ending.signal.aborted) return;
			followed.add(smallkey);
			// A smallkey has no space, so no other timer has this name.
			timers.set(
				`follow ${smallkey}`,
				() => {
					followed.delete(smallkey);
					void enqueue(smallkey);
				},
				followMs,
			);
		},
		start() {
			lastLook = now().getTime();
			lookLater();
		},
		sightOf: (smallkey) => sights.get(smallkey) ?? null,
		async close() {
			ending.abort(new Error("the service ends"));
			timers.clearAll();
			queue.clear();
			await queue.idle();
			storeLater();
			await storing;
		},
	};
}

/** The registration of a layer; null where there is no valid one. */
function registrationOf(layer: Layer | null): Registration | null {
	if (!layer) return null;
	return parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}
