import { type FileProblem, problemLine } from "../../registry/judge.ts";
import { visible } from "../../registry/untrusted-text.ts";
import { isAncestor } from "../git/commands/commits.ts";
import { readRecords } from "../git/commands/run.ts";
import { findTooMany } from "../git/commands/tree.ts";
import { judgeCommits } from "./changed-files.ts";
import {
	findCommitProblem,
	findRefProblem,
	findUnmerged,
	isServices,
	servedRef,
	type Update,
} from "./updates.ts";

export interface Verdict {
	isAccepted: boolean;
	/** The lines for the pusher's terminal. */
	lines: string[];
}

const maxLineLength = 1_000;

const maxProblems = 50;
const maxWarnings = 10;

/**
 * Judges a push before any ref is moved. The push is accepted or refused as a whole.
 * @param quarantine the folder with the pushed objects; undefined if the push brings none
 */
export async function judgePush(
	repository: string,
	quarantine: string | undefined,
	updates: readonly Update[],
): Promise<Verdict> {
	// First, and for every branch: accepted objects stay in the repository.
	const tooLarge = quarantine === undefined ? null : await findTooLarge(repository, quarantine);
	if (tooLarge !== null) return refusal([tooLarge]);
	const refused: string[] = [];
	for (const update of updates) {
		const problem = findRefProblem(update) ?? (await findMoveProblem(repository, update));
		if (problem !== null) refused.push(`${update.ref}: ${problem}`);
	}
	if (refused.length > 0) return refusal(refused);
	const served = updates.find(({ ref }) => ref === servedRef);
	if (!served || served.to === null) return { isAccepted: true, lines: [] };
	const { layerFiles, problems, warnings } = await judgeCommits(repository, served.from, served.to);
	if (problems.length > 0) return refusal(linesOf(problems, maxProblems));
	const warned = linesOf(warnings, maxWarnings).map((line) => `warning: ${line}`);
	return {
		isAccepted: true,
		lines: forTerminal([...warned, `${counted(layerFiles, "changed file")} of layers: in order`]),
	};
}

/** Why one of the service's branches must not move to a commit; null if it may, or is not the service's. */
async function findMoveProblem(repository: string, update: Update): Promise<string | null> {
	const { from, to, ref } = update;
	if (to === null || !isServices(ref)) return null;
	if (from !== null && !(await isAncestor(repository, from, to)))
		return "must follow its current commit, which a forced push would lose: pull first";
	const problem = (await findCommitProblem(repository, to)) ?? (await findUnmerged(update, repository));
	return problem ?? findTooMany(repository, to);
}

function refusal(lines: readonly string[]): Verdict {
	return { isAccepted: false, lines: forTerminal(["refused, and nothing was changed:", ...lines]) };
}

function linesOf(found: readonly FileProblem[], max: number): string[] {
	const sorted = found.toSorted((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
	const lines = sorted.slice(0, max).map(problemLine);
	const hidden = found.length - lines.length;
	const files = new Set(found.map(({ file }) => file)).size;
	if (hidden > 0) lines.push(`and ${hidden} more, in ${counted(files, "file")} in all`);
	return lines;
}

/** Makes untrusted text safe for a terminal, and shortens long lines. */
function forTerminal(lines: readonly string[]): string[] {
	return lines.map((line) => {
		const text = visible(line);
		return text.length > maxLineLength ? `${text.slice(0, maxLineLength).toWellFormed()}…` : text;
	});
}

function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * Limits of a push: bytes of one object, of a commit or tag, and of all objects, unpacked; and the number of objects. A
 * pack of kilobytes can contain gigabytes as deltas, and accepted objects slow down every later command of git.
 */
const maxBytes = 64 << 20;
const maxCommitBytes = 1 << 20;
const maxTotalBytes = 4 * 2 ** 30;
const maxObjects = 2_000_000;

/**
 * Checks the objects of a push against the limits. Git reads their sizes without unpacking them.
 * @param quarantine the folder with the pushed objects (git-receive-pack(1), "Quarantine environment")
 * @returns the reason to refuse the push, or null
 */
async function findTooLarge(repository: string, quarantine: string): Promise<string | null> {
	const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
	const args = ["cat-file", "--batch-all-objects", "--unordered", format];
	// Lists only the pushed objects, not those of the repository itself.
	const environment = { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
	let objects = 0;
	let total = 0;
	for await (const lines of readRecords(repository, args, "\n", { environment })) {
		for (const line of lines) {
			const [id, type, size] = line.split(" ");
			const bytes = Number(size);
			const limit = type === "commit" || type === "tag" ? maxCommitBytes : maxBytes;
			if (!(bytes <= limit)) return `${type} ${id} must have at most ${limit} bytes, not ${bytes}`;
			total += bytes;
		}
		objects += lines.length;
		if (objects > maxObjects) return `a push may bring at most ${maxObjects} objects: push it in parts`;
		if (total > maxTotalBytes)
			return `a push may bring at most ${maxTotalBytes} bytes, unpacked: push it in parts`;
	}
	return null;
}
