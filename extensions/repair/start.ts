import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RunningService, Started } from "../../api/service/extensions.ts";
import { parseDescription } from "../../registry/description.ts";
import { parseRegistration } from "../../registry/registration.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { descriptionPath, langs, layerPath } from "../../registry/smallkey.ts";
import { agreementOf } from "../harvest/agreement.ts";
import { commitHealth, type HealthOptions } from "../harvest/harvester/commit.ts";
import type { HarvestService, HarvestSettings } from "../harvest/harvester/open.ts";
import { childEnvironment } from "../harvest/harvester/process.ts";
import { systemTimers } from "../harvest/harvester/schedule.ts";
import { markRepairs, weekOf } from "../harvest/health.ts";
import { readFileAt, readHealth, servedRef } from "../harvest/repository.ts";
import { placeOf } from "../harvest/service.ts";
import { repairTexts } from "./proposal.ts";
import { readOpen } from "./proposal-branches.ts";

const firstMs = 600_000;
const everyMs = 86_400_000;

interface SearchOptions extends HealthOptions {
	repository: string;
	search: (signal: AbortSignal) => Promise<unknown>;
}

/** @returns a function that also ends a running search */
export function startDailySearch(options: SearchOptions): () => Promise<void> {
	const { timers, log, repository } = options;
	const ending = new AbortController();
	const { signal } = ending;
	let timer: unknown;
	let running = Promise.resolve();

	async function run(): Promise<void> {
		try {
			const earlier = (await readOpen(repository, servedRef)).flatMap(({ evidence }) => evidence);
			await options.search(signal);
			if (!signal.aborted) await reportProposals(options, new Set(earlier));
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
		if (!signal.aborted) schedule(everyMs);
	}

	function schedule(ms: number): void {
		timer = timers.set(() => {
			running = run();
		}, ms);
	}

	schedule(firstMs);
	return async () => {
		ending.abort();
		timers.clear(timer);
		await running;
	};
}

/** Sends a notice of new proposals, and marks all in the health. @param earlier evidence before the search */
async function reportProposals(options: SearchOptions, earlier: ReadonlySet<string>) {
	const open = await readOpen(options.repository, servedRef);
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

async function readLayer(repository: string, commit: string, smallkey: string) {
	const layer = await readFileAt(repository, commit, layerPath(smallkey));
	const description = await readFileAt(repository, commit, descriptionPath(smallkey));
	const { registration = null } = layer ? parseRegistration(layer, "stored") : {};
	return { registration, description: description && parseDescription(description.toString("utf8")) };
}

/** Null if no repair of the layer waits. */
export async function readRepair(repository: string, smallkey: string): Promise<WaitingRepair | null> {
	const open = await readOpen(repository, servedRef);
	const proposal = open.find(({ smallkeys }) => smallkeys.includes(smallkey));
	if (!proposal) return null;
	const { branch, commit, sure } = proposal;
	const before = await readLayer(repository, `${commit}^`, smallkey);
	const after = await readLayer(repository, commit, smallkey);
	const repair: WaitingRepair = { branch, commit, sure, from: {}, to: {}, rows: [] };
	const { registration, description } = before;
	if (!registration || !after.registration) return repair;
	for (const lang of langs) {
		const [from, to] = [placeOf(registration, lang), placeOf(after.registration, lang)];
		if (from === to) continue;
		// Both languages of one place have one evidence.
		const isShared = repair.rows.length > 0 && repair.from.en === from && repair.to.en === to;
		repair.from[lang] = from;
		repair.to[lang] = to;
		const [earlier, later] = [description?.[lang], after.description?.[lang]];
		if (!earlier || !later) continue;
		if (isShared) {
			for (const row of repair.rows) row.langs.push(lang);
			continue;
		}
		for (const { trait, ...row } of agreementOf(earlier, later).rows) {
			const text = { en: repairTexts.en[trait], fr: repairTexts.fr[trait] };
			repair.rows.push({ langs: [lang], code: trait, text, ...row });
		}
	}
	return repair;
}

const maxSearchMs = 7_200_000;

/** Above it, Node ends the search. */
const maxOutputBytes = 10_000_000;

export type RepairingService = RunningService<Partial<HarvestSettings>> & HarvestService;

export function startRepair(service: RepairingService): Started {
	const { configuration, repository, store, log, notify } = service;
	if (repository === null) return {};
	const { harvest } = configuration;
	const env = childEnvironment(configuration);
	const command = fileURLToPath(new URL("../../scripts/fragments.cjs", import.meta.url));
	const limits = { timeout: maxSearchMs, maxBuffer: maxOutputBytes };
	const end =
		harvest?.on && harvest.repair
			? startDailySearch({
					store,
					log,
					notify,
					repository,
					search: (signal) =>
						promisify(execFile)(process.execPath, [command, "repair"], { env, signal, ...limits }),
					timers: systemTimers,
					now: () => new Date(),
					readHealth: () => readHealth(repository),
				})
			: () => undefined;
	return {
		layer: async (smallkey, layer) => {
			// A layer that works may have a permanent redirect, and therefore a repair, too.
			const repair = layer && (await readRepair(repository, smallkey));
			return repair ? () => ({ health: { repair } }) : null;
		},
		close: end,
	};
}
