import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { markRepairs, parseHealth, repairTrailer } from "../../registry/health.ts";
import { readOpen } from "../../repair/branches.ts";
import type { Log } from "../../store/log.ts";
import type { Configuration } from "../settings.ts";
import { commitHealth, type StoredHealth } from "./commit.ts";
import type { Schedule } from "./schedule.ts";

/** The dependencies of the daily search for repairs. */
export interface RepairsOptions extends StoredHealth, Pick<Schedule, "timers"> {
	repository: string;
	/** Runs `npx fragments repair`, and waits for its end. */
	search: (signal: AbortSignal) => Promise<void>;
	log: Log;
}

/** Delay of the first search after a start, and time between two searches, in milliseconds. */
const firstMs = 600_000;
const everyMs = 86_400_000;

/** Longest search, in milliseconds. */
const maxSearchMs = 7_200_000;

/** Looks once a day for new addresses of sick layers. @returns a function that ends this, with a running search */
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

/** Stores which layers have a waiting repair, so that the catalogue shows it. */
async function markProposed(options: RepairsOptions): Promise<void> {
	const open = await readOpen(options.repository, "refs/heads/main");
	const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
	const { size } = proposed;
	await commitHealth(options, (before) => {
		const after = markRepairs(before, proposed);
		const marked = [...after].filter(([smallkey, { repair }]) => repair && !before.get(smallkey)?.repair);
		const subject = `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`;
		return { after, subject, trailers: marked.map(([smallkey]) => [repairTrailer, smallkey] as const) };
	});
}

/** Searches in a process of its own without secrets in its environment, since it parses untrusted answers. */
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
