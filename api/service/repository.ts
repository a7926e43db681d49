import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { healthPath } from "../../registry/health.ts";
import { trailersOf } from "../../store/git/commands/commits.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { declinedFolder, mainTrailer, reviewFolders } from "../../store/store.ts";
import { repositoryPath } from "./data-dir.ts";

/** The branch that is served. */
export const servedRef = "refs/heads/main";

/**
 * The repository that a command line names; otherwise the one in `DATA_DIR`, if it exists; otherwise this checkout's.
 * @returns its path, and its name for messages: `the repository of DATA_DIR, /var/lib/fragments/repository.git`
 * @throws {Error} if there is no repository with the branch main
 */
export async function findRepository(named: string | undefined, dataDir: string) {
	const own = repositoryPath(resolve(dataDir));
	const found =
		named !== undefined
			? { path: resolve(named), name: `the repository ${named}` }
			: existsSync(own)
				? { path: own, name: `the repository of DATA_DIR, ${own}` }
				: { path: resolve("."), name: "the repository of this checkout" };
	await runGit(found.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", servedRef]).catch(() => {
		throw new Error(
			`${named === undefined ? "" : "--repo: "}${found.name}: is no git repository with a branch main`,
		);
	});
	return found;
}

/** Reads `layers/health.json` at a commit; null if the commit has no such file. @throws {Error} if git fails */
export async function readHealth(repository: string, commit = servedRef): Promise<string | null> {
	return (await readAt(repository, commit, healthPath))?.toString("utf8") ?? null;
}

/** The content of a file at a commit; null if it has no such file. @throws {Error} if git fails */
export async function readAt(repository: string, commit: string, path: string): Promise<Buffer | null> {
	const listed = await runGit(repository, ["ls-tree", commit, "--", path]);
	return listed.length === 0 ? null : runGit(repository, ["cat-file", "blob", `${commit}:${path}`]);
}

/** A change on a branch of its own, which waits for a reviewer or was declined. */
export type Review = Awaited<ReturnType<typeof readReviews>>[number];

/** The records of `readReviews`: seven fields that end with NUL. */
const format =
	"--format=%(refname)%00%(objectname)%00%(authorname)%00%(authoremail:trim)%00%(committerdate:unix)%00%(contents:subject)%00%(contents:body)%00%01";

/**
 * Reads the reviews of a repository that are not merged, the oldest first.
 * @param name `23ax5t`, to read only the reviews of this name
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
	const words = ["for-each-ref", "--sort=committerdate", `--no-merged=${servedRef}`, format, ...folders];
	const output = await runGit(repository, words, limitMs === undefined ? {} : { limitMs });
	const records = output.toString("utf8").split("\0\x01\n").filter(Boolean);
	const reviews = records.map((record) => {
		const [ref = "", commit = "", author = "", mail = "", seconds = "", subject = "", body = ""] =
			record.split("\0");
		const named = ref.slice(heads.length).split("/")[1] ?? "";
		const [reason = ""] = body.split("\n");
		const [main = null] = trailersOf(`${subject}\n\n${body}`, mainTrailer);
		return {
			/** `register/23ax5t`; for a declined review `declined/register/23ax5t/0123456789ab`. */
			branch: ref.slice("refs/heads/".length),
			/** `23ax5t`, or `<sender>.batch`. */
			name: named,
			/** The last commit. That of a declined review says only who declined it, when and why. */
			commit,
			author,
			/** The author's mail address. */
			mail,
			/** The time of that commit, in milliseconds since 1970. */
			timeMs: Number(seconds) * 1_000,
			subject,
			/** For a declined review, why it was declined. */
			reason,
			/** For a declined review, the commit of the served branch at that time; null without the trailer. */
			main,
		};
	});
	return name === undefined ? reviews : reviews.filter((review) => review.name === name);
}

/** The names of all reviews, waiting and declined, merged ones too: `23ax5t`, or `<sender>.batch`. @throws {GitFailure} */
export async function readReviewNames(repository: string, limitMs: number): Promise<ReadonlySet<string>> {
	const places = ["", `${declinedFolder}/`].map((place) => `refs/heads/${place}`);
	const folders = places.flatMap((place) => reviewFolders.map((folder) => `${place}${folder}/`));
	const words = ["for-each-ref", "--format=%(refname)", ...folders];
	const refs = (await runGit(repository, words, { limitMs })).toString("utf8").split("\n");
	return new Set(
		refs.map((ref) => {
			const folder = folders.find((one) => ref.startsWith(one)) ?? "";
			return ref.slice(folder.length).split("/", 1)[0] ?? "";
		}),
	);
}

/**
 * Finds the waiting review of a branch or a name: `register/23ax5t`, or `23ax5t`.
 * @throws {Error} with the branches of all waiting reviews
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
