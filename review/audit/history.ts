import {
	listCommits,
	type RawCommit,
	readCommits as readRaw,
	subjectOf,
	trailersOf,
} from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";

/** A commit that changes layers: a user who may push can write anything into it. */
export interface Commit extends Omit<RawCommit, "message"> {
	subject: string;
	/** The values of the trailers that a signed request leaves; both values of one that occurs twice. */
	trailers: Record<TrailerName, string[]>;
	/** Paths under `layers/` that differ from the first parent, sorted. */
	paths: string[];
}

/** The trailers of a signed request (`api/write.ts`). */
export const trailerNames = ["Sender", "TimeStamp", "Request"] as const;
export type TrailerName = (typeof trailerNames)[number];

/** Stands before each commit: no id and no path is so. */
const mark = "\x01";

export interface HistoryOptions {
	/** A ref, or a range of commits. */
	range: string;
	/** Only those that change one of these; all without any. */
	paths?: readonly string[];
	/** Commits of the branch itself only, where a merge counts as one. */
	isBranchOnly: boolean;
}

/** Reads commits, the newest first. @throws {Error} where there is no such range */
export async function readCommits(repository: string, options: HistoryOptions): Promise<Commit[]> {
	const { range, paths = [], isBranchOnly } = options;
	const walk = isBranchOnly ? ["--first-parent", "--diff-merges=first-parent"] : [];
	const show = ["--name-only", "-z", "--no-renames", "--root", `--format=%x00${mark}%x00%H%x00`];
	const limits = ["--end-of-options", range, "--", ...(paths.length > 0 ? paths : ["layers"])];
	const output = await runGit(repository, ["log", ...walk, ...show, ...limits]);
	const listed = parsePaths(output.toString("utf8"));
	const commits: Commit[] = [];
	for await (const commit of readRaw(repository, [...listed.keys()]))
		commits.push(toCommit(commit, listed.get(commit.id) ?? []));
	return commits;
}

export async function readCommit(repository: string, id: string): Promise<Commit> {
	for await (const commit of readRaw(repository, [id])) return toCommit(commit, []);
	throw new Error(`${repository}: has no commit ${id}`);
}

function toCommit({ message, ...commit }: RawCommit, paths: string[]): Commit {
	const trailers = trailerNames.map((name) => [name, trailersOf(message, name)]);
	return {
		...commit,
		subject: subjectOf(message),
		trailers: Object.fromEntries(trailers) as Commit["trailers"],
		paths,
	};
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

/** Request → the first commit of the branch's history that carries it: a later one has copied it. */
export async function firstOfRequests(repository: string, ref: string): Promise<Map<string, string>> {
	const ids = await listCommits(repository, ["--reverse", "--topo-order", "--end-of-options", ref]);
	const first = new Map<string, string>();
	for await (const { id, message } of readRaw(repository, ids)) {
		for (const request of trailersOf(message, "Request")) if (!first.has(request)) first.set(request, id);
	}
	return first;
}
