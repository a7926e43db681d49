import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RunningService, Started } from "../../api/service/extensions.ts";
import { readHealth, servedRef } from "../../api/service/repository.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { markRepairs, weekOf } from "../../registry/health.ts";
import { commitHealth, type HealthOptions } from "../harvest/harvester/health-checks.ts";
import type { HarvestService } from "../harvest/harvester/open.ts";
import { systemTimers } from "../harvest/harvester/schedule.ts";
import { childEnvironment, type HarvestSettings } from "../harvest/settings.ts";
import { readOpen } from "./proposal-branches.ts";
import { createReadRepairs } from "./waiting-repairs.ts";

const firstMs = 600_000;
const everyMs = 86_400_000;

const maxSearchMs = 7_200_000;

/** Above it, Node ends the search. */
const maxOutputBytes = 10_000_000;

/**
 * @param options `search` runs `npx fragment-publisher repair`
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
			const earlier = new Set((await readOpen(repository, servedRef)).flatMap(({ evidence }) => evidence));
			await search(signal);
			if (!signal.aborted) await markProposed(earlier);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
		if (!signal.aborted) later(everyMs);
	}

	async function markProposed(earlier: ReadonlySet<string>): Promise<void> {
		const open = await readOpen(repository, servedRef);
		const repairs = open
			.filter(({ evidence }) => evidence.some((hash) => !earlier.has(hash)))
			.map(({ branch, sure, smallkeys }) => ({ branch, sure, smallkeys }));
		options.notify?.({ event: "repair", repairs });
		const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
		const { size } = proposed;
		await commitHealth(options, (before) => {
			const after = markRepairs(before, proposed, weekOf(options.now()));
			const subject = `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`;
			return { after, subject };
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

function searchProcess(configuration: Configuration) {
	const env = childEnvironment(configuration);
	const command = fileURLToPath(new URL("../../scripts/fragments.cjs", import.meta.url));
	const limits = { timeout: maxSearchMs, maxBuffer: maxOutputBytes };
	return (signal: AbortSignal) =>
		promisify(execFile)(process.execPath, [command, "repair"], { env, signal, ...limits });
}

export type RepairingService = RunningService<HarvestSettings> & HarvestService;

export function startRepair(service: RepairingService): Started {
	const { configuration, repository, store, log, notify } = service;
	if (repository === null) return { close: () => undefined };
	const { harvest } = configuration;
	const readRepair = createReadRepairs(repository);
	const search = searchProcess(configuration);
	const end =
		harvest.on && harvest.repair
			? startRepairs({
					store,
					log,
					notify,
					repository,
					search,
					timers: systemTimers,
					now: () => new Date(),
					readHealth: () => readHealth(repository),
				})
			: () => undefined;
	return {
		layer: async (smallkey, layer) => {
			// A layer that works may have a permanent redirect, and therefore a repair, too.
			const repair = layer && (await readRepair(smallkey));
			return repair ? () => ({ health: { repair } }) : null;
		},
		close: end,
	};
}
