import { code } from "../../registry/markdown.ts";
import type { ApprovalGroup, Judgement } from "./judge.ts";

/** The line that a comment on approvals starts with, by which it is found again; GitHub does not show it. */
export const approvalsMarker = "<!-- fragment-publisher: approvals -->";

const maxGroups = 50;
const maxPaths = 3;
const maxPeople = 20;

/** Who has approved and who still can, as Markdown. */
export function renderApprovals({ state, description, groups }: Judgement): string {
	const title = state === "success" ? "The owners have approved" : "An approval is missing";
	const shown = groups.slice(0, maxGroups).map(groupLine);
	const hidden = groups.length - shown.length;
	const lines = shown.length > 0 ? shown : [`- ${code(description)}`];
	return [
		approvalsMarker,
		`### ${title}`,
		"",
		...lines,
		...(hidden > 0 ? [`- and ${hidden} more groups of files`] : []),
		"",
		"One owner of each group is enough. A new push needs a new approval. Who opened the pull request, or is author or committer of one of its commits, cannot approve it.",
		"",
	].join("\n");
}

function groupLine({ paths, approvedBy, canApprove, unknownTeams }: ApprovalGroup): string {
	const files = listed(paths, maxPaths);
	if (approvedBy.length > 0) return `- ${files}: approved by ${listed(approvedBy, maxPeople)}`;
	const unknown =
		unknownTeams.length > 0 ? `; no members are known of ${listed(unknownTeams, maxPeople)}` : "";
	if (canApprove.length === 0) return `- ${files}: no one can approve${unknown}`;
	return `- ${files}: can approve ${listed(canApprove, maxPeople)}${unknown}`;
}

function listed(names: readonly string[], most: number): string {
	const more = names.length > most ? ` and ${names.length - most} more` : "";
	return `${names.slice(0, most).map(code).join(", ")}${more}`;
}
