import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer } from "../../api/service/net/ask.ts";
import { FetchFailure } from "../../api/service/net/trouble.ts";
import { mapWithProgress } from "../../publish/build.ts";
import { causeOf, type Health } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import { gitText, runGit } from "../../store/git/commands/run.ts";
import {
	declinedEvidence,
	isStale,
	type Proposal,
	readOpen,
	writeProposal,
} from "../../store/git/repair-branches.ts";
import type { SearchOptions } from "./candidates.ts";
import { proposalsOf } from "./proposal.ts";
import { createFindRepair } from "./repair.ts";

export type Clients = Pick<SearchOptions, "ask" | "fetch">;

/** Host without a port → number of requests today (UTC). */
type RequestCounts = Map<string, number>;

export interface RepairRun extends Omit<SearchOptions, keyof Clients> {
	createClients: CreateClients;
	/** A git repository, bare or not. */
	repository: string;
	/** The commit on which proposals are based. */
	base: string;
	layers: readonly CheckedLayer[];
	/** The layers that were sick on an earlier day. Of all others only the permanent redirects are followed. */
	health: Health;
	now: Date;
	maxOpen: number;
	/** Writes and removes no branch. The requests of the day are counted. */
	isDryRun?: boolean;
}

/** Requests to one host. */
const maxPerDay = 200;

/** Answers, which the layers of a service share. */
const maxCached = 100;

/** @param onRequest called before each request, also one that follows a redirect; throws to refuse it */
export type CreateClients = (onRequest: (url: URL) => void) => Clients;

/** Limits the requests to each host, and caches answers. */
export function limitRequests(createClients: CreateClients, counts: RequestCounts = new Map()): Clients {
	const cached = new Map<string, Promise<Answer>>();
	const { ask, fetch } = createClients(({ hostname }) => {
		const before = counts.get(hostname) ?? 0;
		if (before >= maxPerDay) throw new FetchFailure("limit", causeOf("asked-often"));
		counts.set(hostname, before + 1);
	});
	return {
		async ask(address, signal, take) {
			const answer = cached.get(address) ?? ask(address, signal);
			if (!cached.has(address)) cached.set(address, answer);
			const [oldest] = cached.keys();
			if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest);
			const result = await answer;
			// An answer that is too large for the cache is read while it arrives.
			return take && !result.ok && result.tooLarge ? ask(address, signal, take) : result;
		},
		fetch,
	};
}

/** The counts are in a file in git's folder, so that all runs of a day (UTC) share one limit. */
async function openRequestCounts(repository: string, now: Date) {
	const folder = await gitText(repository, ["rev-parse", "--absolute-git-dir"]);
	const file = join(folder, "repair-requests.json");
	const day = now.toISOString().slice(0, 10);
	const text = await readFile(file, "utf8").catch(() => "");
	const stored = tryJson(text) as { day: string; hosts: Record<string, number> } | null;
	const counts: RequestCounts = new Map(Object.entries((stored?.day === day && stored.hosts) || {}));
	const save = () => writeFileSync(file, JSON.stringify({ day, hosts: Object.fromEntries(counts) }));
	return { counts, save };
}

const layersAtOnce = 8;

/**
 * Layers are repaired that were sick on an earlier day and still are. Each proposal is a branch; `base`
 * itself is never changed.
 */
export async function runRepair(options: RepairRun) {
	const { repository, base, layers, health, now, maxOpen, isDryRun = false } = options;
	const { counts, save } = await openRequestCounts(repository, now);
	const clients = limitRequests(options.createClients, counts);
	const { find, findTarget } = createFindRepair({ ...options, ...clients }, layers);
	const sick = layers.filter(({ smallkey }) => health.has(smallkey));
	const healthy = layers.filter(({ smallkey }) => !health.has(smallkey));
	const stillSick = new Set<string>();
	const silent: { smallkey: string; why: string }[] = [];
	const check = async (layer: CheckedLayer) => {
		const { isSick, repair, why } = await find(layer);
		if (why !== null) silent.push({ smallkey: layer.smallkey, why });
		save();
		if (isSick) stillSick.add(layer.smallkey);
		return repair ?? [];
	};
	const checked = await mapWithProgress(rotate(sick, now), "looking for services", layersAtOnce, check);
	const moved = await mapWithProgress(
		rotate(healthy, now),
		"looking for redirects",
		layersAtOnce,
		findTarget,
	);
	save();
	const repairs = [...checked.flat(), ...moved.flatMap((repair) => repair ?? [])];
	const open = await readOpen(repository, base);
	const proposals = proposalsOf(repairs, await declinedEvidence(repository));
	const outdated = open.filter(({ branch, smallkeys }) => {
		return (
			!smallkeys.every((key) => stillSick.has(key)) &&
			!proposals.some((proposal) => proposal.branch === branch)
		);
	});
	for (const { branch, commit } of isDryRun ? [] : outdated)
		await runGit(repository, ["update-ref", "-d", `refs/heads/${branch}`, commit]);
	const kept = open.filter((repair) => !outdated.includes(repair));
	const current: typeof kept = [];
	for (const repair of kept)
		if (!(await isStale(repository, repair.commit, repair.smallkeys, base))) current.push(repair);
	const isKept = ({ evidence }: Proposal) =>
		current.some((repair) => evidence.every((hash) => repair.evidence.includes(hash)));
	let room = maxOpen - kept.length;
	const proposed: Proposal[] = [];
	const postponed: Proposal[] = [];
	for (const proposal of proposals.filter((repair) => !isKept(repair))) {
		const before = kept.find(({ branch }) => branch === proposal.branch);
		if (!before) room -= 1;
		const isPostponed = !before && room < 0;
		(isPostponed ? postponed : proposed).push(proposal);
		if (!isPostponed && !isDryRun) await writeProposal(repository, base, proposal, before, now);
	}
	return {
		checked: checked.length,
		proposed,
		withdrawn: outdated.map(({ branch }) => branch),
		silent: silent.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1)),
		/** Number of proposals beyond `maxOpen`. */
		postponed: postponed.length,
	};
}

/** The limit of requests must not stop the same layers every day. */
function rotate(layers: readonly CheckedLayer[], now: Date): CheckedLayer[] {
	const day = Math.floor(now.getTime() / 86_400_000);
	const first = layers.length === 0 ? 0 : day % layers.length;
	return [...layers.slice(first), ...layers.slice(0, first)];
}
