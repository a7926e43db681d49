import type { Health } from "../registry/health.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { mapWithProgress } from "../terminal/progress.ts";
import { declinedEvidence, readOpen, withdraw, writeProposal } from "./branches.ts";
import type { SearchOptions } from "./candidates.ts";
import { limitRequests, openAsked } from "./limits.ts";
import { type Proposal, proposalsOf } from "./proposal.ts";
import { createFindRepair } from "./repair.ts";

/** What one run works on. */
export interface RepairRun extends SearchOptions {
	/** A git repository, bare or not. */
	repository: string;
	/** The commit that proposals are made for. */
	base: string;
	/** All layers of that commit. */
	layers: readonly CheckedLayer[];
	/** Which of them were sick on an earlier day. */
	health: Health;
	now: Date;
	/** Most proposals that wait at once. */
	maxOpen: number;
}

/** The result of one run. */
export interface RepairOutcome {
	/** Number of layers that were looked at. */
	looked: number;
	/** In the order of their branches. */
	proposed: Proposal[];
	/** Branches of proposals that are of no use any more. */
	withdrawn: string[];
	/** Proposals that had no room. */
	postponed: number;
}

/** Layers that are looked for at a time; requests are limited for each host. */
const layersAtOnce = 8;

/**
 * Looks for the services of the layers that were sick on an earlier day and still are, and proposes what to register on
 * a branch for each. `base` itself is never changed.
 */
export async function runRepair(options: RepairRun): Promise<RepairOutcome> {
	const { repository, base, layers, health, now, maxOpen } = options;
	const { asked, save } = await openAsked(repository, now);
	const findRepair = createFindRepair({ ...options, ...limitRequests(options, asked) }, layers);
	const sick = layers.filter(({ smallkey }) => {
		const state = health.get(smallkey)?.state;
		return state === "wrong" || state === "down";
	});
	const stillSick = new Set<string>();
	const look = async (layer: CheckedLayer) => {
		const { isSick, repair } = await findRepair(layer);
		save();
		if (isSick) stillSick.add(layer.smallkey);
		return repair ?? [];
	};
	const looked = await mapWithProgress(startAt(sick, now), "looking for services", layersAtOnce, look);
	const declined = await declinedEvidence(repository, base);
	const open = await readOpen(repository, base);
	const wanted = proposalsOf(looked.flat(), declined);
	const outdated = open.filter(({ branch, smallkeys }) => {
		return !smallkeys.every((key) => stillSick.has(key)) && !wanted.some((one) => one.branch === branch);
	});
	for (const proposal of outdated) await withdraw(repository, proposal);
	const kept = open.filter((one) => !outdated.includes(one));
	const outcome: RepairOutcome = {
		looked: looked.length,
		proposed: [],
		withdrawn: outdated.map(({ branch }) => branch),
		postponed: 0,
	};
	let room = maxOpen - kept.length;
	for (const proposal of wanted) {
		const before = kept.find(({ branch }) => branch === proposal.branch);
		if (kept.some(({ evidence }) => proposal.evidence.every((hash) => evidence.includes(hash)))) continue;
		if (!before && room <= 0) {
			outcome.postponed += 1;
			continue;
		}
		if (!before) room -= 1;
		await writeProposal(repository, base, proposal, before, now);
		outcome.proposed.push(proposal);
	}
	return outcome;
}

/** The layers from another one each day on, so that a limit of requests does not always meet the same ones. */
function startAt(layers: readonly CheckedLayer[], now: Date): CheckedLayer[] {
	const day = Math.floor(now.getTime() / 86_400_000);
	const first = layers.length === 0 ? 0 : day % layers.length;
	return [...layers.slice(first), ...layers.slice(0, first)];
}
