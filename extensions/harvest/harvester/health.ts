import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { servedRef } from "../../../api/service/repository.ts";
import type { Configuration } from "../../../api/service/settings.ts";
import {
	type Health,
	healthPath,
	healthText,
	markRepairs,
	parseHealth,
	repairTrailer,
	type Seen,
	type Sickness,
	type SickState,
	updateHealth,
	weekOf,
} from "../../../registry/health.ts";
import { textsOf } from "../../../registry/problems.ts";
import { readOpen } from "../../../store/git/repair-branches.ts";
import type { Log } from "../../../store/log.ts";
import { isRefusal, type Meta, type Store } from "../../../store/store.ts";
import { type FindingLine, findingLine, seenOf } from "../finding.ts";
import type { WatchLayer } from "../layer.ts";
import type { Notice } from "../notify.ts";
import { descriptionOf, registrationOf, serviceMeta } from "./commit.ts";
import type { Schedule } from "./schedule.ts";

/** What both writers of `layers/health.json` need. */
interface HealthOptions extends Pick<Schedule, "timers" | "now"> {
	store: Store;
	/** Reads the stored `layers/health.json`; null if it does not exist. */
	readHealth: () => Promise<string | null>;
	/** Gets each failure of the store. */
	log: Log;
	/** Sends a notice; absent: none is sent. */
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** Changes the stored health with a commit; no change, no commit. @throws {Error} if it cannot be read or stored */
async function commitHealth(
	{ store, readHealth, now }: HealthOptions,
	change: (before: Health) => { after: Health } & Pick<Meta, "subject" | "trailers">,
): Promise<void> {
	const before = await readHealth();
	const { after, ...words } = change(parseHealth(before));
	const text = healthText(after);
	if (text === before) return;
	const meta = { ...serviceMeta(now), ...words, smallkey: null };
	const outcome = await store.change(async () => [{ path: healthPath, text }], meta);
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${textsOf(outcome.errors).join("; ")}`);
}

interface WatcherOptions extends HealthOptions, Pick<Schedule, "allKeys"> {
	/** Checks whether a viewer can show a layer. Rejects only if its signal aborts. */
	watch: WatchLayer;
}

/** The result of the last check of a layer. */
interface LastCheck {
	/** null: healthy. */
	state: SickState | null;
	/** The time of the check, in milliseconds since 1970. */
	at: number;
	findings: FindingLine[];
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
			const findings = watched.findings.map((finding) => findingLine(registration, finding));
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
			let newly: [string, Sickness][] = [];
			await commitHealth(options, (before) => {
				const registered = new Set(allKeys());
				const after = updateHealth(before, found, weekOf(now()), (smallkey) => registered.has(smallkey));
				const subject = `health: ${after.size} ${after.size === 1 ? "layer is" : "layers are"} sick`;
				newly = [...after].filter(([smallkey]) => !before.has(smallkey));
				return { after, subject, trailers: [] };
			});
			const layers = newly.map(([smallkey, { repair: _, ...sickness }]) => ({ smallkey, ...sickness }));
			options.notify?.({ event: "sick", layers });
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

/** Delay of the first search after a start, and time between two searches, in milliseconds. */
const firstMs = 600_000;
const everyMs = 86_400_000;

/** Longest search, in milliseconds. */
const maxSearchMs = 7_200_000;

/**
 * Looks once a day for new addresses of sick layers, and for permanent redirects of the others.
 * @param options `search` runs `npx fragment-publisher repair`, and waits for its end
 * @returns a function that ends this, with a running search
 */
export function startRepairs(
	options: HealthOptions & { repository: string; search: (signal: AbortSignal) => Promise<unknown> },
): () => Promise<void> {
	const { timers, log, search, repository } = options;
	const ending = new AbortController();
	const { signal } = ending;
	let timer: unknown;
	let running = Promise.resolve();

	async function run(): Promise<void> {
		try {
			const known = new Set((await readOpen(repository, servedRef)).flatMap(({ evidence }) => evidence));
			await search(signal);
			if (!signal.aborted) await markProposed(known);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
		if (!signal.aborted) later(everyMs);
	}

	/** Stores which layers have a waiting repair, so that the catalogue shows it. @param known evidence of earlier repairs */
	async function markProposed(known: ReadonlySet<string>): Promise<void> {
		const open = await readOpen(repository, servedRef);
		const repairs = open
			.filter(({ evidence }) => evidence.some((hash) => !known.has(hash)))
			.map(({ branch, sure, smallkeys }) => ({ branch, sure, smallkeys }));
		options.notify?.({ event: "repair", repairs });
		const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
		const { size } = proposed;
		await commitHealth(options, (before) => {
			const after = markRepairs(before, proposed, weekOf(options.now()));
			const marked = [...after].filter(([smallkey, { repair }]) => repair && !before.get(smallkey)?.repair);
			const subject = `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`;
			return { after, subject, trailers: marked.map(([smallkey]) => [repairTrailer, smallkey] as const) };
		});
	}

	function later(ms: number): void {
		timer = timers.set(() => {
			running = run();
		}, ms);
	}

	later(firstMs);
	return async () => {
		ending.abort();
		timers.clear(timer);
		await running;
	};
}

/** The environment of a search, without secrets, since it parses untrusted answers. @param own that of this process */
export function searchEnvironment({ dataDir, mapWkid, harvest }: Configuration, own: NodeJS.ProcessEnv) {
	const { allowPrivate, httpsProxy, noProxy } = harvest;
	return {
		PATH: own.PATH,
		DATA_DIR: dataDir,
		MAP_WKID: String(mapWkid),
		HARVEST_ALLOW_PRIVATE: allowPrivate ? "on" : "off",
		...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
		...(noProxy && { NO_PROXY: noProxy }),
		...(own.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: own.NODE_EXTRA_CA_CERTS }),
	};
}

/** Searches in a process of its own. */
export function searchProcess(configuration: Configuration) {
	const env = searchEnvironment(configuration, process.env);
	const command = fileURLToPath(new URL("../../../scripts/fragments.cjs", import.meta.url));
	return (signal: AbortSignal) =>
		promisify(execFile)(process.execPath, [command, "repair"], { env, signal, timeout: maxSearchMs });
}
