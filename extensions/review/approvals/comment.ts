import { code, firstOf } from "../../../registry/untrusted-text.ts";
import { isOwnBranch } from "../pulls.ts";
import type { ApprovalGroup, Judgement } from "./approvals.ts";

/** First line of the comment on approvals. A later run finds the comment by it; GitHub does not show it. */
const approvalsMarker = "<!-- fragment-publisher: approvals -->";

const maxGroups = 50;
const maxPaths = 3;
const maxPeople = 20;

/** Who has approved and who still can, as Markdown. */
export function renderApprovals({ state, description, groups }: Judgement): string {
	const title = state === "success" ? "The owners have approved" : "An approval is missing";
	const shown = groups.slice(0, maxGroups).map(groupLine);
	const hidden = groups.length - shown.length;
	return [
		...[approvalsMarker, `### ${title}`, ""],
		...(shown.length > 0 ? shown : [`- ${code(description)}`]),
		...(hidden > 0 ? [`- and ${hidden} more groups of files`] : []),
		"",
		"One owner of each group is enough. A new push needs a new approval. Who opened the pull request, pushed to its branch, or is author or committer of one of its commits, cannot approve it.",
		"",
	].join("\n");
}

function groupLine({ paths, approvedBy, canApprove, unknownTeams, withoutId }: ApprovalGroup): string {
	const files = listed(paths, maxPaths);
	const loginsOf = (accounts: typeof canApprove) =>
		listed(
			accounts.map(({ login }) => login),
			maxPeople,
		);
	if (approvedBy.length > 0) return `- ${files}: approved by ${loginsOf(approvedBy)}`;
	const teams = listed(unknownTeams, maxPeople);
	const people = canApprove.length > 0 ? `can approve ${loginsOf(canApprove)}` : "no one can approve";
	const logins = listed(withoutId, maxPeople);
	const noMembers = teams && `; no members are known of ${teams}`;
	return `- ${files}: ${people}${noMembers}${logins && `; ${logins} cannot approve without an id in layers/owners.json`}`;
}

function listed(names: readonly string[], max: number): string {
	return firstOf(names.map(code), max, ", ");
}

/** First line of a comment that asks owners for their approval. A later run finds it; GitHub does not show it. */
export const askedMarker = "<!-- fragment-publisher: asked -->";

/** The comment that asks owners by a mention, which reaches those without write access. @param logins as GitHub knows them */
export function askingText(logins: readonly string[]): string {
	const mentions = logins.map((login) => `@${login}`).join(" ");
	return `${askedMarker}\n${mentions}: you own files of this change. To approve it: *Files changed*, *Review changes*, *Approve*.\n`;
}

/** Logins in lower case that a comment of `askingText` mentions. */
export function askedIn(text: string): string[] {
	return [...text.matchAll(/@([\w-]+)/g)].map(([, login = ""]) => login.toLowerCase());
}

/** First line of the comment on a conflict. A later run finds the comment by it; GitHub does not show it. */
export const conflictMarker = "<!-- fragment-publisher: conflict -->";

/** The text that replaces the comment when the conflict is gone. */
export const conflictIsOver = `${conflictMarker}\nThe conflict is over.\n`;

/**
 * The comment on a merge conflict.
 * @param base the branch that the pull request is for
 * @param ownBranch branch of the pull request if it is in this repository; null if it is in a fork
 */
export function conflictText(base: string, ownBranch: string | null): string {
	return [
		conflictMarker,
		`### This cannot be merged: \`${base}\` has changed the same lines`,
		"",
		"GitHub runs no check of a pull request with a conflict, so the other comments are of an older state.",
		"",
		nextStep(base, ownBranch),
		"",
	].join("\n");
}

function nextStep(base: string, ownBranch: string | null): string {
	if (ownBranch === "refresh") return "**Next:** start the workflow `refresh`, or wait until Monday.";
	if (ownBranch !== null && isOwnBranch(ownBranch))
		return `**Next:** close this pull request. Its sender then sends the same request again, which starts from \`${base}\`.`;
	return `**Next:** press *Resolve conflicts* below, or merge \`${base}\` into your branch, and push.`;
}
