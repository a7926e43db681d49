import pMap from "p-map";
import type { RunningService, Started } from "../../api/service/extensions.ts";
import { historyMs, isoTime, nullInTime } from "../../api/service/layer-status.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import { layerPath, parseLayerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { trailersOf } from "../../store/git/commands/commits.ts";
import { gitText } from "../../store/git/commands/run.ts";
import { diffTree } from "../../store/git/commands/tree.ts";
import { listBranches } from "../../store/git/review-branches.ts";
import { declinedFolder, mainTrailer, reviewFolders } from "../../store/naming.ts";
import { servedRef } from "../harvest/repository.ts";
import { subjectOf } from "./provenance.ts";

export type WaitingReview = Awaited<ReturnType<typeof readReviews>>[number];

const maxProcesses = 4;

export async function smallkeysOf(repository: string, commit: string, limitMs?: number): Promise<string[]> {
	const words = ["diff", "--name-only", "--no-renames", `${servedRef}...${commit}`, "--", "layers"];
	const paths = (await gitText(repository, words, { limitMs })).split("\n");
	return [...new Set(paths.flatMap((path) => parseLayerPath(path)?.smallkey ?? []))].sort();
}

export const staleText = "the branch main has changed the same layer since";

export const staleAdvice = `${staleText}. Decline it, and ask the sender to send it again`;

/**
 * Whether the served branch has since changed a file of the review differently. Such a review is not merged, even where git
 * could: no reviewer has seen the result.
 */
export async function isStale(repository: string, commit: string, base = servedRef): Promise<boolean> {
	const fork = await gitText(repository, ["merge-base", base, commit]);
	const stored = await diffTree(repository, fork, base, "layers");
	const storedIds = new Map(stored.map(({ path, id }) => [path, id]));
	const proposed = await diffTree(repository, fork, commit, "layers");
	return proposed.some(({ path, id }) => storedIds.has(path) && storedIds.get(path) !== id);
}

/** Not merged, the oldest first. @throws {GitFailure} */
export async function readReviews(
	repository: string,
	state: "waiting" | "declined",
	smallkey?: string,
	limitMs?: number,
) {
	const place = state === "waiting" ? "" : `${declinedFolder}/`;
	const folders = reviewFolders.map((folder) => `${place}${folder}/${smallkey ?? ""}`);
	const end = state === "waiting" ? "" : "/*";
	if (smallkey !== undefined) folders.push(`${place}register/*.*${end}`);
	const words = ["--sort=committerdate", `--no-merged=${servedRef}`];
	const branches = await listBranches(repository, words, folders, limitMs);
	const reviews = branches.map(({ name: branch, message, ...commit }) => {
		const [, reason = ""] = /\n\n+(.*)/.exec(message.trimStart()) ?? [];
		const [, name = ""] = branch.slice(place.length).split("/");
		const [main = null] = trailersOf(message, mainTrailer);
		// A smallkey has no dot.
		const isOfMany = name.includes(".");
		return {
			/** Who declined the review, when and why. */
			...commit,
			branch,
			isOfMany,
			reason,
			main,
			/** `23ax5t`; of several layers `<sender>.batch` or `<sender>+review.<name>`. */
			name,
			subject: subjectOf(message),
		};
	});
	if (smallkey === undefined) return reviews;
	const isChanged = async ({ name, isOfMany, commit }: (typeof reviews)[number]) =>
		isOfMany ? (await smallkeysOf(repository, commit, limitMs)).includes(smallkey) : name === smallkey;
	const changed = await pMap(reviews, isChanged, { concurrency: maxProcesses });
	return reviews.filter((_, index) => changed[index]);
}

/**
 * @param word a branch (`register/23ax5t`), a smallkey or the name of a review
 * @throws {Error} if no review has it, or several have
 */
export async function findWaiting(repository: string, word: string): Promise<WaitingReview> {
	const waiting = await readReviews(repository, "waiting");
	const reviews = waiting.filter(
		({ branch, name }) => [branch, name].includes(word) || name.endsWith(`+review.${word}`),
	);
	const isOfLayer = reviews.length === 0 && parseSmallkey(word) !== null;
	const [review, second] = isOfLayer ? await readReviews(repository, "waiting", word) : reviews;
	if (review && second) throw new Error(`${word}: is ${review.branch} or ${second.branch}: name one of them`);
	if (review) return review;
	const branches = waiting.map(({ branch }) => branch).join(" ");
	throw new Error(
		`${word}: does not wait for a review; ${branches ? `these wait: ${branches}` : "none waits"}`,
	);
}

/** A layer's status has the waiting change, or the last declined one. */
export function startReviews({ repository }: RunningService): Started {
	if (repository === null) return {};
	const layerPart: Started["layer"] = async (smallkey, layer) => {
		const review = await reviewOf(repository, smallkey);
		const declined = review ? null : await declinedOf(repository, smallkey);
		return layer || review || declined ? () => ({ review, declined }) : null;
	};
	return { layer: layerPart };
}

async function reviewOf(repository: string, smallkey: string): Promise<LayerStatus["review"]> {
	const newest = (await readReviews(repository, "waiting", smallkey, historyMs)).at(-1);
	return newest ? { branch: newest.branch, commit: newest.commit, since: isoTime(newest.timeMs) } : null;
}

/** Null without a declined change, or if the layer has changed since. */
async function declinedOf(repository: string, smallkey: string): Promise<LayerStatus["declined"]> {
	const newest = (await readReviews(repository, "declined", smallkey, historyMs)).at(-1);
	if (!newest?.main) return null;
	// An older copy of the branch lacks that commit; any commit of the layer is newer then.
	const limits = { limitMs: historyMs };
	const words = ["rev-list", "-1", "--first-parent", "--ignore-missing", servedRef, `^${newest.main}`];
	const later = await gitText(repository, [...words, "--", layerPath(smallkey)], limits).catch(nullInTime);
	if (later !== "") return null;
	const commit = await gitText(repository, ["rev-parse", `${newest.commit}^`], limits);
	return { commit, at: isoTime(newest.timeMs), reason: newest.reason };
}
