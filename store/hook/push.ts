import { runGit } from "../../git/run.ts";
import { findTooMany } from "../../git/tree.ts";
import { problemLine } from "../../registry/judge.ts";
import type { Remark } from "../../registry/judge-names.ts";
import { visible } from "../../registry/markdown.ts";
import { judgeFiles } from "./changed-files.ts";
import { findCommitProblem } from "./commits.ts";
import { findTooLarge } from "./objects.ts";
import { findRefProblem, isServices, servedRef, type Update } from "./updates.ts";

/** The result of judging a push. */
export interface Verdict {
	isAccepted: boolean;
	/** The lines for the pusher's terminal. */
	lines: string[];
}

const maxLineLength = 1_000;

/** The highest number of problems, and of warnings, that are shown. */
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
	const { layerFiles, problems, warnings } = await judgeFiles(repository, served.from, served.to);
	if (problems.length > 0) return refusal(linesOf(problems, maxProblems));
	const warned = linesOf(warnings, maxWarnings).map((line) => `warning: ${line}`);
	return {
		isAccepted: true,
		lines: forTerminal([...warned, `${counted(layerFiles, "changed file")} of layers: in order`]),
	};
}

/** Why one of the service's branches must not move to a commit; null if it may, or is not the service's. */
async function findMoveProblem(repository: string, { from, to, ref }: Update): Promise<string | null> {
	if (to === null || !isServices(ref)) return null;
	if (from !== null && !(await isAncestor(repository, from, to)))
		return "must go on from where it is now, which a forced push would lose: pull first";
	return (await findCommitProblem(repository, to)) ?? (await findTooMany(repository, to));
}

async function isAncestor(repository: string, earlier: string, later: string): Promise<boolean> {
	// Exit code 1 means no; a damaged repository gives another code. Both refuse the push.
	return runGit(repository, ["merge-base", "--is-ancestor", earlier, later]).then(
		() => true,
		() => false,
	);
}

function refusal(lines: readonly string[]): Verdict {
	return { isAccepted: false, lines: forTerminal(["refused, and nothing was changed:", ...lines]) };
}

function linesOf(found: readonly Remark[], max: number): string[] {
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
