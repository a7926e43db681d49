import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { servedRef } from "../../api/service/repository.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { markRepairs, repairTrailer, weekOf } from "../../registry/health.ts";
import { readOpen } from "../../store/git/repair-branches.ts";
import { commitHealth, type HealthOptions } from "../harvest/harvester/health.ts";

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
export function searchEnvironment({ dataDir, mapWkid, network }: Configuration, own: NodeJS.ProcessEnv) {
	const { allowPrivate, httpsProxy, noProxy } = network;
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
	const command = fileURLToPath(new URL("../../scripts/fragments.cjs", import.meta.url));
	return (signal: AbortSignal) =>
		promisify(execFile)(process.execPath, [command, "repair"], { env, signal, timeout: maxSearchMs });
}
