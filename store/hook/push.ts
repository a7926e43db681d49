import { runGit } from "../../git/run.ts";
import { problemLine } from "../../registry/catalogue.ts";
import { visible } from "../../registry/markdown.ts";
import { serviceName } from "../git/new-commit.ts";
import { authorMail } from "../store.ts";
import { judgeFiles } from "./changed-files.ts";
import type { Findings } from "./findings.ts";
import { findRefProblem, isServices, servedRef, type Update } from "./updates.ts";

/** What a push is told, and whether it is accepted. */
export interface Verdict {
	isAccepted: boolean;
	/** What the pusher's screen shows, a line each. */
	lines: string[];
}

/** Longest line on the pusher's screen, in characters. */
const maxLineLength = 1_000;

/** Warnings that are shown. */
const maxWarnings = 10;

/**
 * Judges a push before any ref is moved: all of it is accepted, or nothing.
 * @param repository the repository, or what git would make of it
 */
export async function judgePush(repository: string, updates: readonly Update[]): Promise<Verdict> {
	const refused: string[] = [];
	for (const update of updates) {
		const problem = findRefProblem(update) ?? (await findMoveProblem(repository, update));
		if (problem !== null) refused.push(`${update.ref}: ${problem}`);
	}
	if (refused.length > 0) return refusal(refused);
	const served = updates.find(({ ref }) => ref === servedRef);
	if (!served || served.to === null) return { isAccepted: true, lines: [] };
	const { layerFiles, problems, warnings } = await judgeFiles(repository, served.from, served.to);
	if (problems.count > 0) return refusal(linesOf(problems));
	const odd = linesOf(warnings, maxWarnings).map((line) => `warning: ${line}`);
	return {
		isAccepted: true,
		lines: shown([...odd, `${counted(layerFiles, "changed file")} of layers: in order`]),
	};
}

/** What is wrong with where one of the service's branches would go; null where nothing is, or it is none of them. */
async function findMoveProblem(repository: string, { from, to, ref }: Update): Promise<string | null> {
	if (to === null || !isServices(ref)) return null;
	const [goesOn, forged] = await Promise.all([
		from === null || isAncestor(repository, from, to),
		findForged(repository, to),
	]);
	if (!goesOn) return "must go on from where it is now, which a forced push would lose: pull first";
	if (forged === null) return null;
	return (
		`commit ${forged} names ${serviceName} as its committer, and is not known here: what the service writes has to ` +
		"be told from what is pushed. Commit it in your own name (git rebase --force-rebase), or have whoever runs the service fetch it"
	);
}

async function isAncestor(repository: string, earlier: string, later: string): Promise<boolean> {
	// Exit code 1 says no, and a broken repository more; both refuse.
	return runGit(repository, ["merge-base", "--is-ancestor", earlier, later]).then(
		() => true,
		() => false,
	);
}

/**
 * A commit that is new to the service's branches and says that the service has made it; null where there is none. The
 * service tells its own commits by their committer: after a crash, which signed requests they carry out.
 */
async function findForged(repository: string, to: string): Promise<string | null> {
	const known = ["--not", "--ignore-missing", servedRef, "--glob=refs/heads/register/*"];
	const args = ["rev-list", "--no-commit-header", "--format=%H%x00%cn%x00%ce", to, ...known];
	const output = await runGit(repository, args);
	for (const line of output.toString("utf8").split("\n")) {
		const [commit = "", name = "", mail = ""] = line.split("\0");
		const isOwn = [name, mail].map((text) => text.trim().toLowerCase());
		if (isOwn[0] === serviceName || isOwn[1] === authorMail(serviceName)) return commit;
	}
	return null;
}

function refusal(lines: readonly string[]): Verdict {
	return { isAccepted: false, lines: shown(["refused, and nothing was changed:", ...lines]) };
}

/** Problems as lines; the last one says how many are not shown. */
function linesOf(findings: Findings, most = Number.POSITIVE_INFINITY): string[] {
	const lines = findings.list().map(problemLine).slice(0, most);
	const hidden = findings.count - lines.length;
	if (hidden > 0) lines.push(`and ${hidden} more, in ${counted(findings.files, "file")} in all`);
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
