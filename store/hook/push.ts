import { runGit } from "../../git/run.ts";
import { findTooMany } from "../../git/tree.ts";
import { problemLine } from "../../registry/judge.ts";
import type { Remark } from "../../registry/judge-names.ts";
import { visible } from "../../registry/markdown.ts";
import { judgeFiles } from "./changed-files.ts";
import { findCommitProblem } from "./commits.ts";
import { findTooLarge } from "./objects.ts";
import { findRefProblem, isServices, servedRef, type Update } from "./updates.ts";

/** What is printed on the screen of a pusher, and whether the push is accepted. */
export interface Verdict {
	isAccepted: boolean;
	/** What the pusher's screen shows, a line each. */
	lines: string[];
}

/** Longest line on the pusher's screen, in characters. */
const maxLineLength = 1_000;

/** Problems, and warnings, that are shown. */
const maxProblems = 50;
const maxWarnings = 10;

/**
 * Judges a push before any ref is moved: all of it is accepted, or nothing.
 * @param repository the repository, or what git would make of it
 * @param quarantine the folder in which git keeps what is pushed; undefined where it brings no objects
 */
export async function judgePush(
	repository: string,
	quarantine: string | undefined,
	updates: readonly Update[],
): Promise<Verdict> {
	// First of all, and whatever branch it is for: what is accepted stays in the repository.
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
	const { layerFiles, problems, warnings } = await judgeFiles(repository, served.from, served.to);
	if (problems.length > 0) return refusal(linesOf(problems, maxProblems));
	const odd = linesOf(warnings, maxWarnings).map((line) => `warning: ${line}`);
	return {
		isAccepted: true,
		lines: shown([...odd, `${counted(layerFiles, "changed file")} of layers: in order`]),
	};
}

/** What is wrong with where one of the service's branches would go; null where nothing is, or it is none of them. */
async function findMoveProblem(repository: string, { from, to, ref }: Update): Promise<string | null> {
	if (to === null || !isServices(ref)) return null;
	if (from !== null && !(await isAncestor(repository, from, to)))
		return "must go on from where it is now, which a forced push would lose: pull first";
	return (await findCommitProblem(repository, to)) ?? (await findTooMany(repository, to));
}

async function isAncestor(repository: string, earlier: string, later: string): Promise<boolean> {
	// Exit code 1 says no, and a broken repository more; both refuse.
	return runGit(repository, ["merge-base", "--is-ancestor", earlier, later]).then(
		() => true,
		() => false,
	);
}

function refusal(lines: readonly string[]): Verdict {
	return { isAccepted: false, lines: shown(["refused, and nothing was changed:", ...lines]) };
}

/** Problems as lines; the last one says how many are not shown. */
function linesOf(found: readonly Remark[], most: number): string[] {
	const sorted = found.toSorted((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
	const lines = sorted.slice(0, most).map(problemLine);
	const hidden = found.length - lines.length;
	const files = new Set(found.map(({ file }) => file)).size;
	if (hidden > 0) lines.push(`and ${hidden} more, in ${counted(files, "file")} in all`);
	return lines;
}

/** Foreign text as a terminal may show it. */
function shown(lines: readonly string[]): string[] {
	return lines.map((line) => {
		const text = visible(line);
		return text.length > maxLineLength ? `${text.slice(0, maxLineLength).toWellFormed()}…` : text;
	});
}

/** `1 file`, `2 files` */
function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? "" : "s"}`;
}
