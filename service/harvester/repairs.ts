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
} from "../../registry/health.ts";
import { readOpen } from "../../repair/branches.ts";
import type { Log } from "../../store/log.ts";
import { isRefusal, type Store } from "../../store/store.ts";
import type { Configuration } from "../settings.ts";
import { serviceMeta } from "./commit.ts";
import { NamedTimers, type Schedule } from "./schedule.ts";

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

/** Looks once a day for the services of layers that stay sick. It is idle until its start. */
export class Repairs {
	readonly #options: RepairsOptions;
	readonly #ending = new AbortController();
	readonly #timers: NamedTimers;
	#running: Promise<void> = Promise.resolve();

	constructor(options: RepairsOptions) {
		this.#options = options;
		this.#timers = new NamedTimers(options.timers);
	}

	start(): void {
		this.#later(firstMs);
	}

	/** Ends a running search. */
	async close(): Promise<void> {
		this.#ending.abort();
		this.#timers.clearAll();
		await this.#running;
	}

	#later(ms: number): void {
		const { signal } = this.#ending;
		const run = async () => {
			await this.#run().catch((error) => {
				if (!signal.aborted) this.#options.log.error(error);
			});
			if (!signal.aborted) this.#later(everyMs);
		};
		this.#timers.set(
			"search",
			() => {
				this.#running = run();
			},
			ms,
		);
	}

	async #run(): Promise<void> {
		const { readHealth, search } = this.#options;
		if (parseHealth(await readHealth()).size === 0) return;
		await search(this.#ending.signal);
		if (!this.#ending.signal.aborted) await this.#mark();
	}

	/** Notes for which layers a repair waits, so that the catalogue says it. */
	async #mark(): Promise<void> {
		const { repository, store, readHealth, now } = this.#options;
		const open = await readOpen(repository, "refs/heads/main");
		const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
		const before = await readHealth();
		const health = parseHealth(before);
		const after = markRepairs(health, proposed);
		const text = healthText(after);
		if (text === before) return;
		const { size } = proposed;
		const outcome = await store.change(async () => [{ path: healthPath, text }], {
			...serviceMeta(now),
			smallkey: null,
			subject: `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`,
			trailers: newlyMarked(health, after).map((smallkey) => [repairTrailer, smallkey]),
		});
		if (isRefusal(outcome)) throw new Error(`${healthPath}: ${outcome.errors.join("; ")}`);
	}
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
