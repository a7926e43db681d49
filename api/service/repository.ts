import { existsSync } from "node:fs";
import { resolve } from "node:path";
import pMap from "p-map";
import { healthPath } from "../../registry/health.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { trailersOf } from "../../store/git/commands/commits.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { declinedFolder, mainTrailer, reviewFolders } from "../../store/store.ts";
import { repositoryPath } from "./data-dir.ts";

export const servedRef = "refs/heads/main";

/**
 * The named one; otherwise the one in `DATA_DIR`, if it exists; otherwise this checkout's. `name`, for
 * messages: `the repository of DATA_DIR, /var/lib/fragments/repository.git`.
 * @throws {Error} if there is no repository with the branch main
 */
export async function findRepository(path: string | undefined, dataDir: string) {
	const local = repositoryPath(resolve(dataDir));
	const repository =
		path !== undefined
			? { path: resolve(path), name: `the repository ${path}` }
			: existsSync(local)
				? { path: local, name: `the repository of DATA_DIR, ${local}` }
				: { path: resolve("."), name: "the repository of this checkout" };
	await runGit(repository.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", servedRef]).catch(
		() => {
			throw new Error(
				`${path === undefined ? "" : "--repo: "}${repository.name}: is no git repository with a branch main`,
			);
		},
	);
	return repository;
}

export async function readHealth(repository: string, commit = servedRef): Promise<string | null> {
	return (await readAt(repository, commit, healthPath))?.toString("utf8") ?? null;
}

export async function readAt(repository: string, commit: string, path: string): Promise<Buffer | null> {
	const entry = await runGit(repository, ["ls-tree", commit, "--", path]);
	return entry.length === 0 ? null : runGit(repository, ["cat-file", "blob", `${commit}:${path}`]);
}

export type Review = Awaited<ReturnType<typeof readReviews>>[number];

const format =
	"--format=%(refname)%00%(objectname)%00%(authorname)%00%(authoremail:trim)%00%(committerdate:unix)%00%(contents:subject)%00%(contents:body)%00%01";

const maxProcesses = 4;

/** Below `register/`; an earlier form has a folder for each sender. */
const manyLayers = ["*.*", "*/review.*"];

function isOfMany(name: string): boolean {
	return name.includes(".");
}

/**
 * @param path of its branch, without `declined/` @returns `23ax5t`, `<sender>.batch`, or
 * `<sender>+review.<name>`
 */
function nameOf(path: string): string {
	const [, first = "", second = ""] = path.split("/");
	return second.startsWith("review.") ? `${first}/${second}` : first;
}

async function changedLayers(
	repository: string,
	commit: string,
	limit: { limitMs?: number },
): Promise<string[]> {
	const words = ["diff", "--name-only", "--no-renames", "-z", `${servedRef}...${commit}`, "--", "layers"];
	const paths = (await runGit(repository, words, limit)).toString("utf8").split("\0");
	return [...new Set(paths.flatMap((path) => parseLayerPath(path)?.smallkey ?? []))];
}

/**
 * Those that are not merged, the oldest first; with a `smallkey` only those of this layer. @throws
 * {GitFailure}
 */
export async function readReviews(
	repository: string,
	state: "waiting" | "declined",
	smallkey?: string,
	limitMs?: number,
) {
	const heads = state === "waiting" ? "refs/heads/" : `refs/heads/${declinedFolder}/`;
	const folders = reviewFolders.map((folder) => `${heads}${folder}/${smallkey ?? ""}`);
	const end = state === "waiting" ? "" : "/*";
	if (smallkey !== undefined) folders.push(...manyLayers.map((name) => `${heads}register/${name}${end}`));
	const words = ["for-each-ref", "--sort=committerdate", `--no-merged=${servedRef}`, format, ...folders];
	const limit = limitMs === undefined ? {} : { limitMs };
	const output = await runGit(repository, words, limit);
	const records = output.toString("utf8").split("\0\x01\n").filter(Boolean);
	const reviews = records.map((record) => {
		const [ref = "", commit = "", author = "", mail = "", seconds = "", subject = "", body = ""] =
			record.split("\0");
		const [reason = ""] = body.split("\n");
		const [main = null] = trailersOf(`${subject}\n\n${body}`, mainTrailer);
		return {
			branch: ref.slice("refs/heads/".length),
			/** `23ax5t`; of several layers `<sender>.batch` or `<sender>+review.<name>`. */
			name: nameOf(ref.slice(heads.length)),
			/** The last commit. That of a declined review says only who declined it, when and why. */
			commit,
			author,
			mail,
			timeMs: Number(seconds) * 1_000,
			subject,
			reason,
			/** The commit of the served branch when it was declined; null without the trailer. */
			main,
		};
	});
	if (smallkey === undefined) return reviews;
	const isOfLayer = async ({ name, commit }: (typeof reviews)[number]) =>
		isOfMany(name) ? (await changedLayers(repository, commit, limit)).includes(smallkey) : name === smallkey;
	const matches = await pMap(reviews, isOfLayer, { concurrency: maxProcesses });
	return reviews.filter((_, index) => matches[index]);
}

/** Of all reviews, waiting and declined, merged ones too. @throws {GitFailure} */
export async function readReviewedLayers(repository: string, limitMs: number): Promise<ReadonlySet<string>> {
	const places = ["", `${declinedFolder}/`].map((place) => `refs/heads/${place}`);
	const folders = places.flatMap((place) => reviewFolders.map((folder) => `${place}${folder}/`));
	const words = ["for-each-ref", "--format=%(objectname) %(refname)", ...folders];
	const refs = (await runGit(repository, words, { limitMs })).toString("utf8").split("\n").filter(Boolean);
	const layersOf = async (line: string) => {
		const [commit = "", ref = ""] = line.split(" ");
		const place = places.findLast((candidate) => ref.startsWith(candidate)) ?? "";
		const name = nameOf(ref.slice(place.length));
		return isOfMany(name) ? changedLayers(repository, commit, { limitMs }) : name;
	};
	return new Set((await pMap(refs, layersOf, { concurrency: maxProcesses })).flat());
}

function isNamed({ branch, name }: Review, word: string): boolean {
	return branch === word || name === word || name.split(/[+/]/).at(-1) === `review.${word}`;
}

/**
 * Words: branches (`register/23ax5t`), smallkeys, names of reviews, and globs of smallkeys. Each review once,
 * the oldest first.
 * @throws {Error} for a word without a review, or with several although it is no glob
 */
export async function findWaitingReviews(repository: string, words: readonly string[]): Promise<Review[]> {
	const waiting = await readReviews(repository, "waiting");
	const chosen = new Set<Review>();
	for (const word of words) {
		const isGlob = /[*?]/.test(word);
		const matches = waiting.filter((review) =>
			isGlob ? !isOfMany(review.name) && matchesGlob(word, review.name) : isNamed(review, word),
		);
		const [first, second] = matches;
		if (first && second && !isGlob)
			throw new Error(`${word}: is ${first.branch} or ${second.branch}: name one of them`);
		if (!first) {
			const branches = waiting.map(({ branch }) => branch).join(" ");
			const rest = branches ? `these wait: ${branches}` : "none waits";
			throw new Error(`${word}: does not wait for a review; ${rest}`);
		}
		for (const review of matches) chosen.add(review);
	}
	return waiting.filter((review) => chosen.has(review));
}

export async function findWaiting(repository: string, word: string): Promise<Review> {
	const [review, second] = await findWaitingReviews(repository, [word]);
	if (review && !second) return review;
	throw new Error(`${word}: is several reviews: name one of them`);
}
