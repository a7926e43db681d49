import { isOwnBranch } from "../pulls.ts";

/** The line that a comment on a conflict starts with, by which it is found again; GitHub does not show it. */
export const conflictMarker = "<!-- fragment-publisher: conflict -->";

/** The comment once there is no conflict any more. */
export const conflictIsOver = `${conflictMarker}\nThe conflict is over.\n`;

/**
 * The comment on a merge conflict.
 * @param base the branch that the pull request is for
 * @param ownBranch its branch where that is one of this repository; null: a fork's
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
