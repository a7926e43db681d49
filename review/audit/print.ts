import { personText } from "../../git/commits.ts";
import { servedRef } from "../../service/find-repository.ts";
import { plain } from "../../terminal/plain.ts";
import { viewerLines } from "../report.ts";
import { type AuditEntry, smallkeysOf } from "./entries.ts";
import { type Commit, History } from "./history.ts";

const maxKeys = 5;

/** One change, in a few lines. All text of a commit is shown without its control characters. */
export function entryLines(entry: AuditEntry): string[] {
	const { commit, change, merged } = entry;
	const isDeclined = commit.door.kind === "declined";
	const what = isDeclined ? "declined" : change ? change.verb : `changed ${keysText(smallkeysOf(commit))}`;
	const lines = [
		`${timeText(commit.committer.timeMs)}  ${commit.id.slice(0, 12)}  ${what}`,
		...doorLines(commit),
	];
	lines.push(...merged.flatMap((one) => bringLines(isDeclined ? "proposed" : "brought", one)));
	return [...lines, ...(change ? changeLines(change) : [])].map(plain);
}

/** The commits of a waiting review, with their authors. */
export async function proposalLines(repository: string, commit: string): Promise<string[]> {
	const history = await History.open(repository);
	const proposed = await history.commits({ range: `${servedRef}..${commit}` });
	return proposed.flatMap((one) => bringLines("proposed", one));
}

function bringLines(verb: string, commit: Commit): string[] {
	return [
		`  ${verb} ${commit.id.slice(0, 12)} of ${timeText(commit.committer.timeMs)}`,
		...doorLines(commit).map((line) => `  ${line}`),
	];
}

function doorLines({ author, committer, subject, door }: Commit): string[] {
	switch (door.kind) {
		case "request":
			return [
				`  by the sender ${door.sender}, with a signed request of ${door.timestamp}`,
				`  request ${door.request}`,
			];
		case "batch":
			return [`  by the sender ${door.sender}, with npx fragments register: ${subject}`];
		case "service":
			return [`  by the service itself: ${subject}`];
		case "merge":
			return [`  merged by ${personText(committer)}: ${subject}`];
		case "declined":
			return [`  by ${personText(committer)}: ${door.reason}`];
		case "push":
			return [
				`  by ${personText(author)}, with a push or a pull request: ${subject}`,
				...(author.mail === committer.mail ? [] : [`  committed by ${personText(committer)}`]),
			];
		case "squashed":
			return [
				`  by the sender ${door.sender}, merged at GitHub, which has who merged it: ${subject}`,
				"  GitHub signs such commits: git log --show-signature tells one that is not its own",
			];
		case "forged":
			return [
				`  FORGED: it says that it is a request of ${door.sender || "a sender"}, and is not: ${door.why}`,
				`  by ${personText(author)}, committed by ${personText(committer)}: ${subject}`,
			];
	}
}

function changeLines({ verb, fragments }: NonNullable<AuditEntry["change"]>): string[] {
	if (verb === "broken") return ["  the file is not in order: viewers read on what was served before"];
	if (fragments.every(({ lines }) => lines.length === 0)) return ["  nothing changed for viewers"];
	return viewerLines(fragments);
}

function keysText(keys: readonly string[]): string {
	const rest = keys.length - maxKeys;
	if (keys.length === 0) return "no layer";
	return `${keys.slice(0, maxKeys).join(" ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** `2026-03-04 12:00:00` in UTC */
function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}
