import pMap from "p-map";
import { layerPath } from "../../registry/smallkey.ts";
import { mainTrailer } from "../../store/authorship.ts";
import { declinedFolder, reviewFolders } from "../../store/branches.ts";
import { subjectOf, trailersOf } from "../../store/git/commands/commits.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { listBranches } from "../../store/git/review-branches.ts";
import { servedRef } from "../harvest/repository.ts";

export type Review = Awaited<ReturnType<typeof readReviews>>[number];

const maxProcesses = 4;

async function isOf(
	repository: string,
	{ name, commit }: { name: string; commit: string },
	smallkey: string,
	limitMs?: number,
): Promise<boolean> {
	// A smallkey has no dot.
	if (!name.includes(".")) return name === smallkey;
	const path = layerPath(smallkey);
	const words = ["diff", "--name-only", "--no-renames", `${servedRef}...${commit}`, "--", path];
	return (await runGit(repository, words, { limitMs })).length > 0;
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
		const [main = null] = trailersOf(message, mainTrailer);
		return {
			/** That of a declined review says only who declined it, when and why. */
			...commit,
			branch,
			/** `23ax5t`; of several layers `<sender>.batch` or `<sender>+review.<name>`. */
			name: branch.slice(place.length).split("/")[1] ?? "",
			subject: subjectOf(message),
			reason,
			main,
		};
	});
	if (smallkey === undefined) return reviews;
	const isChanged = (review: (typeof reviews)[number]) => isOf(repository, review, smallkey, limitMs);
	const changed = await pMap(reviews, isChanged, { concurrency: maxProcesses });
	return reviews.filter((_, index) => changed[index]);
}

/**
 * @param word a branch (`register/23ax5t`), a smallkey or the name of a review
 * @throws {Error} if no review has it, or several have
 */
export async function findWaiting(repository: string, word: string): Promise<Review> {
	const waiting = await readReviews(repository, "waiting");
	const [review, second] = waiting.filter(
		({ branch, name }) => [branch, name].includes(word) || name.split("+").at(-1) === `review.${word}`,
	);
	if (review && second) throw new Error(`${word}: is ${review.branch} or ${second.branch}: name one of them`);
	if (review) return review;
	const branches = waiting.map(({ branch }) => branch).join(" ");
	throw new Error(
		`${word}: does not wait for a review; ${branches ? `these wait: ${branches}` : "none waits"}`,
	);
}
