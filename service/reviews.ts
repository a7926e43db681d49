import { trailersOf } from "../git/commits.ts";
import { runGit } from "../git/run.ts";
import { declinedFolder, reviewFolders } from "../store/store.ts";
import { servedRef } from "./find-repository.ts";

/** A change on a branch of its own: one that waits for a reviewer, or one that was declined. */
export type Review = Awaited<ReturnType<typeof readReviews>>[number];

/** The trailer with which a declined review names the commit of the served branch: what changes a layer later is newer. */
export const mainTrailer = "Main";

const fields = [
	"refname",
	"objectname",
	"authorname",
	"committerdate:unix",
	"contents:subject",
	"contents:body",
];

/**
 * The reviews of a repository that are not merged, the oldest first.
 * @param name `23ax5t` for those of this name only
 * @throws {GitFailure}
 */
export async function readReviews(
	repository: string,
	state: "waiting" | "declined",
	name?: string,
	limitMs?: number,
) {
	const heads = state === "waiting" ? "refs/heads/" : `refs/heads/${declinedFolder}/`;
	const folders = reviewFolders.map((folder) => `${heads}${folder}/${name ?? ""}`);
	const format = `--format=${fields.map((field) => `%(${field})%00`).join("")}%01`;
	const words = ["for-each-ref", "--sort=committerdate", `--no-merged=${servedRef}`, format, ...folders];
	const output = await runGit(repository, words, limitMs === undefined ? {} : { limitMs });
	const records = output.toString("utf8").split("\0\x01\n").filter(Boolean);
	const reviews = records.map((record) => {
		const [ref = "", commit = "", author = "", seconds = "", subject = "", body = ""] = record.split("\0");
		const named = ref.slice(heads.length).split("/")[1] ?? "";
		const [reason = ""] = body.split("\n");
		const [main = null] = trailersOf(`${subject}\n\n${body}`, mainTrailer);
		return {
			/** `register/23ax5t`; of a declined one `declined/register/23ax5t/0123456789ab`. */
			branch: ref.slice("refs/heads/".length),
			/** `23ax5t`, or `<sender>.batch`. */
			name: named,
			/** Its last commit. That of a declined one only says who declined it, when and why. */
			commit,
			author,
			/** When it was committed, in milliseconds since 1970. */
			timeMs: Number(seconds) * 1_000,
			subject,
			/** Of a declined one. */
			reason,
			/** Of a declined one the commit of the served branch at that time; null where its last commit does not say it. */
			main,
		};
	});
	return name === undefined ? reviews : reviews.filter((review) => review.name === name);
}

/**
 * The review that waits under a name: `register/23ax5t`, or `23ax5t`.
 * @throws {Error} that names those that wait
 */
export async function findWaiting(repository: string, named: string): Promise<Review> {
	const waiting = await readReviews(repository, "waiting");
	const [found, other] = waiting.filter(({ branch, name }) => branch === named || name === named);
	if (found && !other) return found;
	if (found && other) throw new Error(`${named}: is ${found.branch} or ${other.branch}: name one of them`);
	const branches = waiting.map(({ branch }) => branch).join(" ");
	throw new Error(
		`${named}: does not wait for a review; ${branches ? `these wait: ${branches}` : "none waits"}`,
	);
}
