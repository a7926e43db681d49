import {
	listCommits,
	type RawCommit,
	readCommits as readRaw,
	subjectOf,
	trailersOf,
} from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { servedRef } from "../../service/find-repository.ts";
import { type Door, doorOf, type ReadCommit, trailerNames } from "./door.ts";

/** A commit, and the way by which it came in. */
export interface Commit extends ReadCommit {
	door: Door;
}

/** Stands before each commit: no id and no path is so. */
const mark = "\x01";

interface HistoryOptions {
	/** A ref, or a range of commits. */
	range: string;
	/** Only those that change one of these; all without any. */
	paths?: readonly string[];
	/** Commits of the branch itself only, where a merge counts as one. */
	isBranchOnly?: boolean;
}

/** The history of a repository. */
export class History {
	readonly #repository: string;
	/** Request → the first commit of the served branch that carries it: a later one has copied it. */
	readonly #firstOf: ReadonlyMap<string, string>;

	private constructor(repository: string, firstOf: ReadonlyMap<string, string>) {
		this.#repository = repository;
		this.#firstOf = firstOf;
	}

	static async open(repository: string): Promise<History> {
		const ids = await listCommits(repository, ["--reverse", "--topo-order", "--end-of-options", servedRef]);
		const first = new Map<string, string>();
		for await (const { id, message } of readRaw(repository, ids)) {
			for (const request of trailersOf(message, "Request")) if (!first.has(request)) first.set(request, id);
		}
		return new History(repository, first);
	}

	/** Reads commits, the newest first. @throws {Error} where there is no such range */
	async commits({ range, paths = [], isBranchOnly = false }: HistoryOptions): Promise<Commit[]> {
		const walk = isBranchOnly ? ["--first-parent", "--diff-merges=first-parent"] : [];
		const show = ["--name-only", "-z", "--no-renames", "--root", `--format=%x00${mark}%x00%H%x00`];
		const limits = ["--end-of-options", range, "--", ...(paths.length > 0 ? paths : ["layers"])];
		const output = await runGit(this.#repository, ["log", ...walk, ...show, ...limits]);
		const listed = parsePaths(output.toString("utf8"));
		const commits: Commit[] = [];
		for await (const commit of readRaw(this.#repository, [...listed.keys()]))
			commits.push(this.#read(commit, listed.get(commit.id) ?? []));
		return commits;
	}

	/** Reads one commit, without its paths. */
	async commit(id: string): Promise<Commit> {
		for await (const commit of readRaw(this.#repository, [id])) return this.#read(commit, []);
		throw new Error(`${this.#repository}: has no commit ${id}`);
	}

	#read({ message, ...raw }: RawCommit, paths: string[]): Commit {
		const trailers = trailerNames.map((name) => [name, trailersOf(message, name)]);
		const commit: ReadCommit = {
			...raw,
			subject: subjectOf(message),
			trailers: Object.fromEntries(trailers) as ReadCommit["trailers"],
			paths,
		};
		return { ...commit, door: doorOf(commit, this.#firstOf) };
	}
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
