import type { Watched } from "../../harvest/watch-layer.ts";
import {
	healthPath,
	healthText,
	parseHealth,
	type SickState,
	updateHealth,
	weekOf,
} from "../../registry/health.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import { isRefusal, type Layer, type Store } from "../../store/store.ts";
import { serviceAuthor } from "./commit.ts";
import { isDue, lookInterval } from "./moments.ts";
import { createQueue } from "./queue.ts";
import { createNamedTimers, type Timers } from "./timers.ts";

/** Looks at a layer as a viewer would. Never rejects, but where its signal aborts. */
export type WatchLayer = (registration: Registration, signal: AbortSignal) => Promise<Watched>;

/** What the watcher of a running service needs from outside. */
export interface WatcherOptions {
	store: Store;
	watch: WatchLayer;
	/** Text of `layers/health.json` as it is stored now; null where there is none. */
	readHealth: () => Promise<string | null>;
	/** Milliseconds between two looks at one layer (`HARVEST_EVERY`). */
	everyMs: number;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Told of a broken world: the store failed. */
	report: (error: unknown) => void;
	timers: Timers;
}

/** What was last seen of a layer. */
export interface Sight {
	/** null: it is well. */
	state: SickState | null;
	/** In milliseconds since 1970. */
	at: number;
	/** In the publisher's words, each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** Looks at the layers of a running service, and keeps which are sick. */
export interface Watcher {
	/** Looks at a layer a minute after it was registered, as long as few wait: a batch waits for its moments. */
	follow(smallkey: string): void;
	/** Looks at every layer once in each period, spread over it. */
	start(): void;
	/** What was last seen of a layer; null where it was not looked at since the start. */
	sightOf(smallkey: string): Sight | null;
	/** Ends what is under way, and stores what was seen. */
	close(): Promise<void>;
}

/** Most layers at a time, each of another host. */
const atOnce = 2;

/** How long after its registration a layer is looked at, in milliseconds: it is harvested first. */
const followMs = 60_000;

/** Most layers that wait for a look because they were registered. */
const maxFollowed = 100;

/** Most layers whose last sight is remembered: the newest. */
const maxRemembered = 20_000;

/** How long what was seen is gathered for one commit, in milliseconds. */
const gatherMs = 600_000;

/** Makes the watcher of a running service; it does nothing until it is told to. */
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
			const registration = registrationOf(await store.read(smallkey));
			if (!registration || ending.signal.aborted) return;
			const { state, findings } = await options.watch(registration, ending.signal);
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

	/** Stores what was seen since the last time, in one commit; nothing where that is known already. */
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
			// No smallkey has a space: this is the name of no other timer.
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

/** The registration of a layer; null where there is none in order. */
function registrationOf(layer: Layer | null): Registration | null {
	if (!layer) return null;
	return parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}
