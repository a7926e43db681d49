import pLimit from "p-limit";
import type { ReadRepairs, ReadStatus } from "../../api/context.ts";
import { Room } from "../../api/room.ts";
import { readHealth, readReviewNames, readReviews, servedRef } from "../../api/service/repository.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseHealth } from "../../registry/health.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import { textOf } from "../../registry/texts.ts";
import { GitTimeout, gitText } from "../../store/git/commands/run.ts";
import { type Layer, type Store, StoreBusy } from "../../store/store.ts";
import type { FindingLine } from "../harvest/finding.ts";
import { descriptionOf, harvestedOf } from "../harvest/harvester/commit.ts";
import type { ServiceHarvester } from "../harvest/harvester/open.ts";
import { createReadRepairs } from "../repair/waiting-repairs.ts";

interface LayerStatusOptions {
	repository: string;
	store: Pick<Store, "read">;
	/** Whether a layer is served, from memory. */
	has: (smallkey: string) => boolean;
	/** null if this service does not harvest. */
	harvester: Pick<ServiceHarvester, "stateOf" | "lastCheckOf"> | null;
	/** Absent: its own reader. */
	repairs?: Pick<ReadRepairs, "of">;
}

/** A part of a status whose findings have no language yet. */
type Unwritten<Part> = Omit<Part, "findings"> & { findings?: readonly FindingLine[] };

function written<Part>(part: Unwritten<Part>, lang: Lang): Part {
	const { findings } = part;
	return (findings ? { ...part, findings: findings.map((line) => line[lang]) } : part) as Part;
}

/** Most look-ups that run, and all: anyone may ask, and each one starts git processes. */
const maxRunning = 2;
const maxLookups = 100;

/** Longest time of a git command, in milliseconds: a history may be long. */
const historyMs = 5_000;

/** Returns a function that reads the status of a layer for its publisher, from the repository and the harvester. */
export function createReadStatus(options: LayerStatusOptions): ReadStatus {
	const { repository, store, has, harvester, repairs = createReadRepairs(repository, null) } = options;
	const pool = pLimit(maxRunning);
	const room = new Room(maxLookups);
	const hasReview = createHasReview(repository);

	async function readStatus(smallkey: string): Promise<((lang: Lang) => LayerStatus) | null> {
		const [layer, review] = [await store.read(smallkey), await reviewOf(repository, smallkey)];
		const declined = review ? null : await declinedOf(repository, smallkey);
		if (!layer && !review && !declined) return null;
		const last = layer ? await lastCommit(repository, layerPath(smallkey)) : noCommit;
		const harvest: Unwritten<LayerStatus["harvest"]> = layer ? harvestOf(smallkey, layer) : { state: "none" };
		const health: Unwritten<LayerStatus["health"]> = layer ? await healthOf(smallkey) : { state: "unknown" };
		const both = { smallkey, ...last, review, declined };
		return (lang) => ({ ...both, harvest: written(harvest, lang), health: written(health, lang) });
	}

	function harvestOf(smallkey: string, layer: Layer): Unwritten<LayerStatus["harvest"]> {
		const registration = harvestedOf(layer);
		if (!registration) return { state: "none" };
		if (!harvester) return { state: "off" };
		const state = harvester.stateOf(smallkey);
		// While the service starts, the layer may not be queued yet.
		if (!state) return { state: isDescribed(registration, descriptionOf(layer)) ? "done" : "waiting" };
		if (state.state === "waiting") return { state: "waiting" };
		const { at, findings, nextTry } = state;
		return { state: state.state, at: isoTime(at), findings, next_try: isoTime(nextTry) };
	}

	async function healthOf(smallkey: string): Promise<Unwritten<LayerStatus["health"]>> {
		const sickness = parseHealth(await readHealth(repository)).get(smallkey);
		const last = harvester?.lastCheckOf(smallkey) ?? null;
		// A layer that works may be redirected for good, so that a repair waits for it, too.
		const { repair } = (await repairs.of(smallkey)) ?? {};
		const more = {
			...(sickness && last?.state !== null && { since: sickness.since }),
			...(repair && { repair }),
		};
		if (!last) return { state: sickness?.state ?? "unknown", ...more };
		return { state: last.state ?? "well", ...more, at: isoTime(last.at), findings: last.findings };
	}

	return async (smallkey, client) => {
		// Only a layer or a change that exists takes room: a flood of other smallkeys stops no publisher.
		if (!has(smallkey) && !(await hasReview(smallkey))) return null;
		const own = room.hold(client);
		const full = own.take(1);
		if (full === "client") return "too many";
		if (full) throw new StoreBusy(textOf("status-queue"), 2);
		return pool(() => readStatus(smallkey)).finally(own.end);
	};
}

/**
 * Returns a function that says whether a change of a layer waits or was declined. All who ask while git lists the changes
 * share the next list, so that any number of them has one process of git at a time.
 */
function createHasReview(repository: string): (smallkey: string) => Promise<boolean> {
	const oneByOne = pLimit(1);
	let next: Promise<ReadonlySet<string>> | null = null;
	return async (smallkey) => {
		next ??= oneByOne(() => {
			next = null;
			return readReviewNames(repository, historyMs);
		});
		return (await next).has(smallkey);
	};
}

/** The output of a git command; null after the time limit. @throws {GitFailure} */
function gitInTime(repository: string, words: string[]): Promise<string | null> {
	return gitText(repository, words, { limitMs: historyMs }).catch((error: unknown) => {
		if (error instanceof GitTimeout) return null;
		throw error;
	});
}

const noCommit = { registered: null, commit: null };

/** The time and id of the last commit of a file on the served branch; nulls after the time limit. @throws {GitFailure} */
async function lastCommit(repository: string, path: string) {
	// Without `--no-patch` git prints the patch of a merge.
	const how = ["-1", "--first-parent", "--diff-merges=first-parent", "--no-patch", "--format=%H %ct"];
	const output = await gitInTime(repository, ["log", ...how, servedRef, "--", path]);
	const [, commit, seconds] = /^([0-9a-f]{40,64}) (\d+)$/.exec(output ?? "") ?? [];
	return commit ? { registered: isoTime(Number(seconds) * 1_000), commit } : noCommit;
}

/** The newest change of a layer that waits for a review, or null. */
async function reviewOf(repository: string, smallkey: string): Promise<LayerStatus["review"]> {
	const newest = (await readReviews(repository, "waiting", smallkey, historyMs)).at(-1);
	return newest ? { branch: newest.branch, commit: newest.commit, since: isoTime(newest.timeMs) } : null;
}

/** The newest declined change of a layer; null if there is none, or the layer has changed since. */
async function declinedOf(repository: string, smallkey: string): Promise<LayerStatus["declined"]> {
	const newest = (await readReviews(repository, "declined", smallkey, historyMs)).at(-1);
	if (!newest?.main) return null;
	// Without the commit of that time, such as in an older copy of the branch, any commit of the layer is newer.
	const newer = ["rev-list", "-1", "--first-parent", "--ignore-missing", servedRef, `^${newest.main}`];
	const later = await gitInTime(repository, [...newer, "--", layerPath(smallkey)]);
	if (later !== "") return null;
	const commit = await gitText(repository, ["rev-parse", `${newest.commit}^`], { limitMs: historyMs });
	return { commit, at: isoTime(newest.timeMs), reason: newest.reason };
}

/** `2026-03-04T12:00:00Z` */
function isoTime(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
