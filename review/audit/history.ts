import { listCommits, type RawCommit, readCommits, subjectOf, trailersOf } from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { repairedTrailer } from "../../repair/branches.ts";
import { servedRef } from "../../service/find-repository.ts";
import { judgeProvenance, type Provenance, type ReadCommit, trailerNames } from "./provenance.ts";

/** A commit, and how it arrived. */
export interface Commit extends ReadCommit {
	provenance: Provenance;
}

/** Precedes each commit in git's output: no id and no path equals it. */
const mark = "\x01";

/**
 * Reads commits, the newest first.
 * @param range a ref, or a range of commits
 * @param paths only commits that change one of these are read; if empty, commits that change any layer
 * @param isBranchOnly only commits of the branch itself are read (first parents): a merge is one commit
 * @throws {Error} if there is no such range
 */
export type ReadHistory = (
	range: string,
	paths?: readonly string[],
	isBranchOnly?: boolean,
) => Promise<Commit[]>;

/** Reads the request ids of the served branch, and returns a reader of the repository's history. */
export async function openHistory(repository: string): Promise<ReadHistory> {
	const ids = await listCommits(repository, ["--reverse", "--topo-order", "--end-of-options", servedRef]);
	/** Request id → the first commit of the served branch that has it: a later commit has copied it. */
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
			commits.push({ ...commit, provenance: judgeProvenance(commit, first) });
		}
		return commits;
	};
}

function readCommit({ message, ...raw }: RawCommit, paths: string[]): ReadCommit {
	const trailers = trailerNames.map((name) => [name, trailersOf(message, name)]);
	const repaired = trailersOf(message, repairedTrailer);
	return { ...raw, subject: subjectOf(message), trailers: Object.fromEntries(trailers), repaired, paths };
}

/** Parses `NUL mark NUL id NUL`, then paths that each end with NUL. @returns id → paths under `layers/`, sorted */
function parsePaths(text: string): Map<string, string[]> {
	const parts = text.split(`\0${mark}\0`).slice(1);
	return new Map(
		parts.map((part) => {
			const [id = "", ...rest] = part.split("\0");
			// git writes a line break before the first path.
			const paths = rest.map((path) => path.replace(/^\n/, ""));
			return [id, paths.filter((path) => path.startsWith("layers/")).sort()];
		}),
	);
}

/** Whether a clone has only the newest part of its history. */
export async function isShallow(repository: string): Promise<boolean> {
	const output = await runGit(repository, ["rev-parse", "--is-shallow-repository"]);
	return output.toString("latin1").trim() === "true";
}
