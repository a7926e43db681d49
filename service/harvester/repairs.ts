import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
	type Health,
	healthPath,
	healthText,
	markRepairs,
	parseHealth,
	repairTrailer,
	weekOf,
} from "../../registry/health.ts";
import { readOpen } from "../../repair/branches.ts";
import { isRefusal, type Store, serviceAuthor } from "../../store/store.ts";
import type { Configuration } from "../settings.ts";
import { createNamedTimers, type Timers } from "./timers.ts";

/** The dependencies of the daily search for repairs. */
export interface RepairsOptions {
	repository: string;
	store: Store;
	/** Reads the stored `layers/health.json`; null where there is none. */
	readHealth: () => Promise<string | null>;
	/** Runs `npx fragments repair` to its end. */
	search: (signal: AbortSignal) => Promise<void>;
	now: () => Date;
	/** Logs a failure. */
	report: (error: unknown) => void;
	timers: Timers;
}

/** Looks once a day for the services of layers that stay sick. */
export interface Repairs {
	start(): void;
	/** Ends a running search. */
	close(): Promise<void>;
}

/** Delay of the first search after a start, and between two, in milliseconds. */
const firstMs = 600_000;
const everyMs = 86_400_000;

/** Longest search, in milliseconds. */
const maxSearchMs = 7_200_000;

/** Makes the daily search. It is idle until its start. */
export function createRepairs(options: RepairsOptions): Repairs {
	const { repository, store, readHealth, search, now, report } = options;
	const ending = new AbortController();
	const timers = createNamedTimers(options.timers);
	let running: Promise<void> = Promise.resolve();

	async function run(): Promise<void> {
		const health = parseHealth(await readHealth());
		const week = weekOf(now());
		const isMarked = [...health.values()].some(({ repair }) => repair);
		const isSick = [...health.values()].some(({ since }) => since < week);
		if (isSick) await search(ending.signal);
		if ((isSick || isMarked) && !ending.signal.aborted) await mark();
	}

	/** Notes for which layers a repair waits, so that the catalogue says it. */
	async function mark(): Promise<void> {
		const open = await readOpen(repository, "refs/heads/main");
		const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
		const before = await readHealth();
		const health = parseHealth(before);
		const after = markRepairs(health, proposed);
		const text = healthText(after);
		if (text === before) return;
		const fresh = newlyMarked(health, after);
		const outcome = await store.change(async () => [{ path: healthPath, text }], {
			smallkey: null,
			author: serviceAuthor,
			time: now().getTime(),
			subject: `health: ${proposed.size} ${proposed.size === 1 ? "layer has" : "layers have"} a proposed repair`,
			trailers: fresh.map((smallkey) => [repairTrailer, smallkey]),
			request: null,
			review: false,
		});
		if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
	}

	function later(ms: number): void {
		timers.set(
			"search",
			() => {
				running = run()
					.catch((error) => {
						if (!ending.signal.aborted) report(error);
					})
					.finally(() => {
						if (!ending.signal.aborted) later(everyMs);
					});
			},
			ms,
		);
	}

	return {
		start: () => later(firstMs),
		async close() {
			ending.abort();
			timers.clearAll();
			await running;
		},
	};
}

function newlyMarked(before: Health, after: Health): string[] {
	return [...after].flatMap(([smallkey, { repair }]) =>
		repair && !before.get(smallkey)?.repair ? [smallkey] : [],
	);
}

/** Searches in a process of its own: what it reads is foreign, and its environment holds no secret. */
export function searchProcess({ dataDir, mapWkid, harvest }: Configuration): RepairsOptions["search"] {
	const { allowPrivate, httpsProxy, noProxy } = harvest;
	const env = {
		PATH: process.env.PATH,
		DATA_DIR: dataDir,
		MAP_WKID: String(mapWkid),
		HARVEST_ALLOW_PRIVATE: allowPrivate ? "on" : "off",
		...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
		...(noProxy && { NO_PROXY: noProxy }),
	};
	const command = fileURLToPath(new URL("../../scripts/fragments.cjs", import.meta.url));
	return async (signal) => {
		await promisify(execFile)(process.execPath, [command, "repair"], { env, signal, timeout: maxSearchMs });
	};
}
