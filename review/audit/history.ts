import { runGit } from "../../git/run.ts";

/** A commit, as git has it: whoever may push can write anything into one. */
export interface Commit {
	id: string;
	parents: string[];
	author: Person;
	committer: Person;
	subject: string;
	/** The values of the trailers that a signed request leaves; of one that is there twice both. */
	trailers: Record<TrailerName, string[]>;
	/** Paths under `layers/` that differ from the first parent, sorted. */
	paths: string[];
}

/** Somebody that a commit names. */
export interface Person {
	name: string;
	mail: string;
	/** Milliseconds since 1970. */
	timeMs: number;
}

/** The trailers of a signed request (`api/write.ts`). */
export const trailerNames = ["Sender", "TimeStamp", "Request"] as const;
export type TrailerName = (typeof trailerNames)[number];

/** What git is asked of each commit; no part of a commit holds a NUL. */
const fields = [
	"%H",
	"%P",
	...["%an", "%ae", "%at"],
	...["%cn", "%ce", "%ct"],
	"%s",
	...trailerNames.map((name) => `%(trailers:key=${name},valueonly,separator=%x0A)`),
];
/** Stands before each commit: no id and no path is so. */
const mark = "\x01";

/** Which commits are read. */
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
	const format = `--format=%x00${mark}%x00${fields.join("%x00")}%x00`;
	const show = ["--name-only", "-z", "--no-renames", "--root", format];
	const limits = ["--end-of-options", range, "--", ...(paths.length > 0 ? paths : ["layers"])];
	const output = await runGit(repository, ["log", ...walk, ...show, ...limits]);
	return parseCommits(output.toString("utf8"));
}

/** Reads `NUL mark NUL fields… NUL`, then the paths, each with a NUL. */
function parseCommits(text: string): Commit[] {
	const parts = text.split(`\0${mark}\0`).slice(1);
	return parts.map((part) => {
		const values = part.split("\0");
		const [
			id = "",
			parents = "",
			an = "",
			ae = "",
			at = "",
			cn = "",
			ce = "",
			ct = "",
			subject = "",
			...rest
		] = values;
		const trailers = trailerNames.map((name, index) => [
			name,
			(rest[index] ?? "").split("\n").filter(Boolean),
		]);
		// git sets the first path off by a line break.
		const paths = rest.slice(trailerNames.length).map((path) => path.replace(/^\n/, ""));
		return {
			id,
			parents: parents.split(" ").filter(Boolean),
			author: { name: an, mail: ae, timeMs: Number(at) * 1_000 },
			committer: { name: cn, mail: ce, timeMs: Number(ct) * 1_000 },
			subject,
			trailers: Object.fromEntries(trailers) as Commit["trailers"],
			paths: paths.filter((path) => path.startsWith("layers/")).sort(),
		};
	});
}

/** Whether a clone has only the end of its history. */
export async function isShallow(repository: string): Promise<boolean> {
	const output = await runGit(repository, ["rev-parse", "--is-shallow-repository"]);
	return output.toString("latin1").trim() === "true";
}

/** Request → the first commit of the branch's history that carries it: a later one has copied it. */
export async function firstOfRequests(repository: string, ref: string): Promise<Map<string, string>> {
	const format = "--format=%H %(trailers:key=Request,valueonly,separator=%x2C)";
	const output = await runGit(repository, [
		"log",
		"--reverse",
		"--topo-order",
		format,
		"--end-of-options",
		ref,
	]);
	const first = new Map<string, string>();
	for (const line of output.toString("utf8").split("\n")) {
		const space = line.indexOf(" ");
		for (const request of line
			.slice(space + 1)
			.split(",")
			.filter(Boolean)) {
			if (space > 0 && !first.has(request)) first.set(request, line.slice(0, space));
		}
	}
	return first;
}
