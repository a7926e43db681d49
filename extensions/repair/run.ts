import { LRUCache } from "lru-cache";
import pMap from "p-map";
import type { CheckedLayer } from "../../registry/judge.ts";
import { causeOf, type Health } from "../../site/data/health.ts";
import { runGit } from "../../store/git/commands/run.ts";
import type { Answer } from "../harvest/ask.ts";
import { createClients } from "../harvest/clients.ts";
import { FetchFailure } from "../harvest/net/failure.ts";
import type { SearchClients } from "./candidates.ts";
import { proposalsOf } from "./proposal.ts";
import {
	declinedEvidence,
	isStale,
	type OpenRepair,
	type Proposal,
	readOpen,
	writeProposal,
} from "./proposal-branches.ts";
import { createRepairSearch } from "./repair.ts";

const maxRequestsPerHost = 200;

const maxCached = 100;

/** @param onRequest called before each request, also of a redirect; throws to refuse it */
export type Connect = (onRequest: (url: URL) => void) => Pick<SearchClients, "ask" | "fetch">;

/** The layers of a service share its answers. A request over the limit fails with the cause `unfinished`. */
export function limitRequests(connect: Connect): ReturnType<Connect> {
	const counts = new Map<string, number>();
	const cached = new LRUCache<string, Promise<Answer>>({ max: maxCached });
	const { ask, fetch } = connect(({ hostname }) => {
		const before = counts.get(hostname) ?? 0;
		if (before >= maxRequestsPerHost) throw new FetchFailure("limit", causeOf("unfinished"));
		counts.set(hostname, before + 1);
	});
	return {
		async ask(address, options = {}) {
			const answer = cached.get(address) ?? ask(address, { signal: options.signal });
			cached.set(address, answer);
			const result = await answer;
			// An answer that is too large for the cache is read while it arrives.
			return options.take && !result.ok && result.tooLarge ? ask(address, options) : result;
		},
		fetch,
	};
}

export interface RepairRun {
	connect: Connect;
	mapWkid: number;
	repository: string;
	base: string;
	layers: readonly CheckedLayer[];
	/** An earlier day's. Layers that were not sick only follow permanent redirects. */
	health: Health;
	now: Date;
	maxOpen: number;
}

const maxConcurrentLayers = 8;

async function findRepairs({ layers, health, now, connect, mapWkid }: RepairRun) {
	const { ask, fetch } = limitRequests(connect);
	const find = createRepairSearch({ ...createClients(ask, mapWkid), fetch }, layers);
	const sick = layers.filter(({ smallkey }) => health.has(smallkey));
	const healthy = layers.filter(({ smallkey }) => !health.has(smallkey));
	const repairLayer = async (layer: CheckedLayer) => {
		const { smallkey } = layer;
		return { smallkey, ...(await find(layer, health.has(smallkey))) };
	};
	const ordered = [...rotate(sick, now), ...rotate(healthy, now)];
	const results = await pMap(ordered, repairLayer, { concurrency: maxConcurrentLayers });
	const stillSick = results.filter(({ isSick }) => isSick).map(({ smallkey }) => smallkey);
	return {
		checked: sick.length,
		repairs: results.flatMap(({ repair }) => repair ?? []),
		stillSick: new Set(stillSick),
	};
}

/** Each proposal is a branch; `base` is never changed. */
export async function runRepair(run: RepairRun) {
	const { repository, base } = run;
	const { checked, repairs, stillSick } = await findRepairs(run);
	const proposals = proposalsOf(repairs, await declinedEvidence(repository));
	const open = await readOpen(repository, base);
	const isOutdated = ({ branch, smallkeys }: OpenRepair) =>
		!smallkeys.every((key) => stillSick.has(key)) &&
		!proposals.some((proposal) => proposal.branch === branch);
	const outdated = open.filter(isOutdated);
	for (const { branch, commit } of outdated)
		await runGit(repository, ["update-ref", "-d", `refs/heads/${branch}`, commit]);
	const kept = open.filter((repair) => !outdated.includes(repair));
	const proposed = await writeProposals(run, proposals, kept);
	return { checked, proposed, withdrawn: outdated.map(({ branch }) => branch) };
}

/** Writes the new proposals, and those whose layer has changed. @returns them */
async function writeProposals(
	{ repository, base, now, maxOpen }: RepairRun,
	proposals: readonly Proposal[],
	open: readonly OpenRepair[],
): Promise<Proposal[]> {
	const current: OpenRepair[] = [];
	for (const repair of open)
		if (!(await isStale(repository, repair.commit, repair.smallkeys, base))) current.push(repair);
	let remaining = maxOpen - open.length;
	const proposed: Proposal[] = [];
	for (const proposal of proposals) {
		const isProposedAlready = current.some(({ evidence }) =>
			proposal.evidence.every((hash) => evidence.includes(hash)),
		);
		const before = open.find(({ branch }) => branch === proposal.branch);
		if (isProposedAlready || (!before && remaining <= 0)) continue;
		if (!before) remaining -= 1;
		proposed.push(proposal);
		await writeProposal(repository, base, proposal, before, now);
	}
	return proposed;
}

/** The limit of requests must not stop the same layers every day. */
function rotate(layers: readonly CheckedLayer[], now: Date): CheckedLayer[] {
	const day = Math.floor(now.getTime() / 86_400_000);
	const first = day % (layers.length || 1);
	return [...layers.slice(first), ...layers.slice(0, first)];
}
