import { listCommits, type RawCommit, readCommits, subjectOf, trailersOf } from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { servedRef } from "../../service/find-repository.ts";
import { type Door, doorOf, type ReadCommit, trailerNames } from "./door.ts";

/** A commit, and the way by which it came in. */
export interface Commit extends ReadCommit {
	door: Door;
}

/** Stands before each commit: no id and no path is so. */
const mark = "\x01";

/**
 * Reads commits, the newest first.
 * @param range a ref, or a range of commits
 * @param paths only those that change one of these; all without any
 * @param isBranchOnly commits of the branch itself only, where a merge counts as one
 * @throws {Error} where there is no such range
 */
export type ReadHistory = (
	range: string,
	paths?: readonly string[],
	isBranchOnly?: boolean,
) => Promise<Commit[]>;

/** The history of a repository. */
export async function openHistory(repository: string): Promise<ReadHistory> {
	const ids = await listCommits(repository, ["--reverse", "--topo-order", "--end-of-options", servedRef]);
	/** Request → the first commit of the served branch that carries it: a later one has copied it. */
	const first = new Map<string, string>();
	for await (const { id, message } of readCommits(repository, ids)) {
		for (const request of trailersOf(message, "Request")) if (!first.has(request)) first.set(request, id);
	}
	return async (range, paths = [], isBranchOnly = false) => {
		const walk = isBranchOnly ? ["--first-parent", "--diff-merges=first-parent"] : [];
		const show = ["--name-only", "-z", "--no-renames", "--root", `--format=%x00${mark}%x00%H%x00`];
		const limits = ["--end-of-options", range, "--", ...(paths.length > 0 ? paths : ["layers"])];
		const output = await runGit(repository, ["log", ...walk, ...show, ...limits]);
		const listed = parsePaths(output.toString("utf8"));
		const commits: Commit[] = [];
		for await (const raw of readCommits(repository, [...listed.keys()])) {
			const commit = readCommit(raw, listed.get(raw.id) ?? []);
			commits.push({ ...commit, door: doorOf(commit, first) });
		}
		return commits;
	};
}

function readCommit({ message, ...raw }: RawCommit, paths: string[]): ReadCommit {
	const trailers = trailerNames.map((name) => [name, trailersOf(message, name)]);
	const read = { subject: subjectOf(message), trailers: Object.fromEntries(trailers), paths };
	return { ...raw, ...read };
}

/** Reads `NUL mark NUL id NUL`, then the paths, each with a NUL: id → its paths under `layers/`, sorted. */
function parsePaths(text: string): Map<string, string[]> {
	const parts = text.split(`\0${mark}\0`).slice(1);
	return new Map(
		parts.map((part) => {
			const [id = "", ...rest] = part.split("\0");
			// git sets the first path off by a line break.
			const paths = rest.map((path) => path.replace(/^\n/, ""));
			return [id, paths.filter((path) => path.startsWith("layers/")).sort()];
		}),
	);
}

/** Whether a clone has only the end of its history. */
export async function isShallow(repository: string): Promise<boolean> {
	const output = await runGit(repository, ["rev-parse", "--is-shallow-repository"]);
	return output.toString("latin1").trim() === "true";
}
