import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { healthPath, healthText, markRepairs, parseHealth, repairTrailer } from "../../registry/health.ts";
import { readOpen } from "../../repair/branches.ts";
import type { Log } from "../../store/log.ts";
import { isRefusal, type Store } from "../../store/store.ts";
import type { Configuration } from "../settings.ts";
import { serviceMeta } from "./commit.ts";
import type { Schedule } from "./schedule.ts";

/** The dependencies of the daily search for repairs. */
export interface RepairsOptions extends Pick<Schedule, "timers" | "now"> {
	repository: string;
	store: Store;
	/** Reads the stored `layers/health.json`; null where there is none. */
	readHealth: () => Promise<string | null>;
	/** Runs `npx fragments repair` to its end. */
	search: (signal: AbortSignal) => Promise<void>;
	/** Gets each failure. */
	log: Log;
}

/** Delay of the first search after a start, and between two, in milliseconds. */
const firstMs = 600_000;
const everyMs = 86_400_000;

/** Longest search, in milliseconds. */
const maxSearchMs = 7_200_000;

/** Looks once a day for the services of sick layers. @returns ends it, with a running search */
export function startRepairs(options: RepairsOptions): () => Promise<void> {
	const { timers, log } = options;
	const ending = new AbortController();
	const { signal } = ending;
	let timer: unknown;
	let running = Promise.resolve();

	async function run(): Promise<void> {
		await repairOnce(options, signal).catch((error) => {
			if (!signal.aborted) log.error(error);
		});
		if (!signal.aborted) later(everyMs);
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

async function repairOnce(options: RepairsOptions, signal: AbortSignal): Promise<void> {
	if (parseHealth(await options.readHealth()).size === 0) return;
	await options.search(signal);
	if (!signal.aborted) await markProposed(options);
}

/** Notes for which layers a repair waits, so that the catalogue says it. */
async function markProposed({ repository, store, readHealth, now }: RepairsOptions): Promise<void> {
	const open = await readOpen(repository, "refs/heads/main");
	const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
	const before = await readHealth();
	const health = parseHealth(before);
	const after = markRepairs(health, proposed);
	const text = healthText(after);
	if (text === before) return;
	const { size } = proposed;
	const marked = [...after].filter(([smallkey, { repair }]) => repair && !health.get(smallkey)?.repair);
	const outcome = await store.change(async () => [{ path: healthPath, text }], {
		...serviceMeta(now),
		smallkey: null,
		subject: `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`,
		trailers: marked.map(([smallkey]) => [repairTrailer, smallkey]),
	});
	if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
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
