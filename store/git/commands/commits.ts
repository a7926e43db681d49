import { layerPath } from "../../../registry/smallkey.ts";
import { type GitObject, readObjects } from "./cat-file.ts";
import { defaultSilenceMs, GitFailure, gitText, readRecords, runGit } from "./run.ts";

interface RawCommit {
	id: string;
	parents: string[];
	author: Person;
	committer: Person;
	message: string;
}

export interface Person {
	name: string;
	mail: string;
	/** 0 if the commit has no valid time. */
	timeMs: number;
}

export function personText({ name, mail }: Pick<Person, "name" | "mail">): string {
	return `${name} <${mail}>`;
}

/**
 * `git log --format` would convert a commit by its `encoding` header, which can change or delete the names in
 * it.
 * @throws {GitDamage} if a commit is missing
 */
export async function* readCommits(repository: string, ids: readonly string[]): AsyncGenerator<RawCommit> {
	for await (const commit of readObjects(repository, "commit", ids)) yield parseCommit(commit);
}

/** How far a commit's dates may be ahead of this clock; the hook refuses others. */
export const maxAheadMs = 86_400_000;

/**
 * A pushed commit may have any date: it was made between its parent and now, or with its parent if its date
 * is too far ahead.
 * @param parentMs 0 without a parent
 */
export function believedMs(dateMs: number, parentMs: number, nowMs: number): number {
	return dateMs > nowMs + maxAheadMs ? parentMs : Math.min(nowMs, Math.max(dateMs, parentMs));
}

export interface LoggedCommit extends RawCommit {
	/** Status: `A` for an added file, `D` for a removed one. */
	files: { status: string; path: string }[];
}

/**
 * Merges have files only with `--first-parent --diff-merges=first-parent`.
 * @param args of git-log(1)
 * @param input ids, for `--stdin`
 * @throws {GitFailure}
 */
export async function* readLog(repository: string, args: readonly string[], input?: string) {
	const words = ["log", "--format=%H", "--raw", "-z", "--no-renames", "--root", ...args];
	// `<id>\0` of a commit, then `:<modes> <ids> <status>\0<path>\0` of each of its files.
	const filesById = new Map<string, LoggedCommit["files"]>();
	let files: LoggedCommit["files"] = [];
	const fields = (await runGit(repository, words, { input })).toString("utf8").split("\0").values();
	for (const field of fields) {
		const text = field.trim();
		if (text.startsWith(":"))
			files.push({ status: text.at(-1) as string, path: fields.next().value as string });
		else if (text) {
			files = [];
			filesById.set(text, files);
		}
	}
	for await (const commit of readCommits(repository, [...filesById.keys()]))
		yield { ...commit, files: filesById.get(commit.id) ?? [] } satisfies LoggedCommit;
}

const lastCommitMs = 5_000;

/**
 * The last commit that changed a layer, up to `tip`: of a merged change, the merge.
 * @returns null if no commit changed it
 * @throws {GitFailure}
 */
export async function findLastCommit(repository: string, smallkey: string, tip: string) {
	// Without `--no-patch` git prints the patch of a merge.
	const words = ["log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--no-patch"];
	const args = [...words, "--format=%H", "-1", tip, "--", layerPath(smallkey)];
	return (await gitText(repository, args, { limitMs: lastCommitMs })) || null;
}

export async function isShallow(repository: string): Promise<boolean> {
	return (await gitText(repository, ["rev-parse", "--is-shallow-repository"])) === "true";
}

export async function listCommits(repository: string, args: string[]): Promise<string[]> {
	const ids: string[] = [];
	for await (const id of readRecords(repository, ["rev-list", ...args], "\n")) ids.push(id);
	return ids;
}

/** @throws {GitFailure} if either commit is missing */
export async function isDescendant(repository: string, earlier: string, later: string): Promise<boolean> {
	if (earlier === later) return true;
	// `git rev-list` stops early where dates of commits go back. `--is-ancestor` ends with 1 for no.
	const words = ["merge-base", "--is-ancestor", earlier, later];
	try {
		await runGit(repository, words, { limitMs: defaultSilenceMs });
		return true;
	} catch (error) {
		if (error instanceof GitFailure && error.code === 1) return false;
		throw error;
	}
}

/** A continuation line, such as in a signature, starts with a space. */
export function headerLines(body: Buffer): string[] {
	const end = body.indexOf("\n\n");
	return body.toString("utf8", 0, end < 0 ? body.length : end).split("\n");
}

export function parseCommit({ id, body }: GitObject): RawCommit {
	const lines = headerLines(body);
	const values = (name: string) =>
		lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
	const end = body.indexOf("\n\n");
	return {
		id,
		parents: values("parent"),
		author: parsePerson(values("author")[0]),
		committer: parsePerson(values("committer")[0]),
		message: end < 0 ? "" : body.toString("utf8", end + 2),
	};
}

const maxTimeMs = 8.64e15;

/** `Ada <ada@a.example> 1772625600 +0000`; a pushed commit may lack any part. */
function parsePerson(text = ""): Person {
	const [, name = "", mail = "", time = ""] = /^([^<]*)<(?:([^>]*)>(.*))?/.exec(text) ?? [];
	const timeMs = Number.parseInt(time.trim(), 10) * 1_000;
	return { name: name.trim(), mail: mail.trim(), timeMs: Math.abs(timeMs) <= maxTimeMs ? timeMs : 0 };
}

/** In the last paragraph, unless that is the subject (git-interpret-trailers(1)). */
export function trailersOf(message: string, name: string): string[] {
	const lines = message.trim().split("\n");
	const start = lines.findLastIndex((line) => line.trim() === "");
	if (start < 0) return [];
	return lines.slice(start + 1).flatMap((line) => {
		const colon = line.indexOf(":");
		const isNamed = colon > 0 && line.slice(0, colon).trim().toLowerCase() === name.toLowerCase();
		const value = line.slice(colon + 1).trim();
		return isNamed && value !== "" ? [value] : [];
	});
}
