import { maxClockSkewMs, parseTimestamp } from "../../registry/sender.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import {
	type LoggedCommit,
	type Person,
	personText,
	subjectOf,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { repairedTrailer } from "../../store/git/review-branches.ts";
import { authorMail, serviceAuthor } from "../../store/store.ts";

/** How a commit arrived, as lines of text for a person. */
export interface Provenance {
	/** Whether the commit names a sender whose request it cannot be: the person who pushed it wrote that. */
	isForged: boolean;
	lines: string[];
}

/** From a request's timestamp to its commit. */
const maxWaitMs = 5 * 60_000;

/**
 * Git alone cannot prove that a request was signed; this finds the commits that the service would never have written.
 * @param firstOf request id → the first commit of the served branch that has it in a trailer
 */
export function judgeProvenance(commit: LoggedCommit, firstOf: ReadonlyMap<string, string>): Provenance {
	const { message, author } = commit;
	const subject = subjectOf(message);
	// The trailers of a signed request (`api/write.ts`).
	const [senders = [], ...rest] = ["Sender", "TimeStamp", "Request"].map((name) => trailersOf(message, name));
	const isBatch = rest.flat().length === 0;
	if (senders.length === 0 && isBatch) return personProvenance(commit, subject);
	const sender = senders.join(", ");
	const [name, ...others] = new Set(senders);
	if (isByGithub(commit) && others.length === 0 && (author.name === name || isApp(author)))
		return genuine(
			`by the sender ${name}, merged at GitHub, which has who merged it: ${subject}`,
			"GitHub signs such commits: git log --show-signature tells one that is not its own",
		);
	const why = whyNotOf(commit, senders) ?? (isBatch ? null : whyNoRequest(commit, rest, firstOf));
	if (why !== null) return forged(commit, sender || "a sender", why);
	if (isBatch) return genuine(`by the sender ${sender}, with npx fragment-publisher register: ${subject}`);
	const [[timestamp] = [], [request] = []] = rest;
	return genuine(`by the sender ${sender}, with a signed request of ${timestamp}`, `request ${request}`);
}

function personProvenance(commit: LoggedCommit, subject: string): Provenance {
	const { parents, author, committer } = commit;
	if (isOf(author) && isOf(committer)) return serviceProvenance(commit, subject);
	if (parents.length > 1) return genuine(`merged by ${personText(committer)}: ${subject}`);
	return genuine(
		`by ${personText(author)}, with a push or a pull request: ${subject}`,
		...(author.mail === committer.mail ? [] : [`committed by ${personText(committer)}`]),
	);
}

function genuine(...lines: string[]): Provenance {
	return { isForged: false, lines };
}

function forged({ author, committer, message }: LoggedCommit, sender: string, why: string): Provenance {
	const lines = [
		`FORGED: it says that it is a request of ${sender}, and is not: ${why}`,
		`by ${personText(author)}, committed by ${personText(committer)}: ${subjectOf(message)}`,
	];
	return { isForged: true, lines };
}

/** Whether GitHub made a commit from a pull request (GitHub, "About commit signature verification"). */
function isByGithub({ committer: { name, mail }, parents }: LoggedCommit): boolean {
	return name === "GitHub" && mail === "noreply@github.com" && parents.length === 1;
}

/** Whether GitHub wrote an App as the author: the one that opened a pull request is the author of its squash. */
function isApp({ name, mail }: Person): boolean {
	return name.endsWith("[bot]") && mail.endsWith("[bot]@users.noreply.github.com");
}

/**
 * Except for the first commit, which seeds the branch, the service changes no registration but those that it proposes as a
 * repair (`store/git/review-branches.ts`).
 */
function serviceProvenance(commit: LoggedCommit, subject: string): Provenance {
	const repaired = trailersOf(commit.message, repairedTrailer);
	const changesLayers = commit.files.some(({ path }) => {
		const name = parseLayerPath(path);
		return name?.kind === "registration" && !repaired.includes(name.smallkey);
	});
	if (commit.parents.length > 0 && changesLayers)
		return forged(commit, "the service itself", "the service changes no registration");
	return genuine(`by the service itself: ${subject}`);
}

/** Whether a person is the service, or a sender. */
function isOf({ name, mail }: Person, sender = serviceAuthor): boolean {
	return name === sender && mail === authorMail(sender);
}

/** Why the service cannot have made a commit for the named senders; null if it can have. */
function whyNotOf({ author, committer, parents }: LoggedCommit, senders: readonly string[]): string | null {
	const [sender, ...others] = senders;
	if (sender === undefined) return "it names no sender";
	if (others.length > 0) return "it names more than one sender";
	if (!isOf(committer)) return `its committer is ${personText(committer)}, and not the service`;
	if (!isOf(author, sender)) return `its author is ${personText(author)}, and not the sender`;
	return parents.length > 1 ? "it is a merge" : null;
}

/** Why a commit cannot be of a signed request; null if it can be. */
function whyNoRequest(
	{ author, committer, files, id, message }: LoggedCommit,
	[[timestamp = "", ...later] = [], [request = "", ...others] = []]: readonly string[][],
	firstOf: ReadonlyMap<string, string>,
): string | null {
	const laterMs = committer.timeMs - author.timeMs;
	// A commit's times are whole seconds.
	if (laterMs < -maxClockSkewMs - 1_000) return "it was committed before its timestamp";
	if (laterMs > maxWaitMs) return "it was committed long after its timestamp";
	if (!timestamp || !request || later.length + others.length > 0)
		return "a request has one TimeStamp and one Request";
	if (!/^[0-9a-f]{64}$/.test(request)) return "its Request is no SHA-256";
	const timeMs = parseTimestamp(timestamp);
	if (timeMs === null || Math.floor(timeMs / 1_000) * 1_000 !== author.timeMs) {
		return "its author's time is not its TimeStamp";
	}
	const names = files.map(({ path }) => parseLayerPath(path));
	const smallkeys = new Set(names.map((name) => name?.smallkey ?? null));
	if (smallkeys.size > 1 || smallkeys.has(null))
		return "a request changes one layer, and this changes others";
	const [smallkey] = smallkeys;
	if (smallkey && !subjectOf(message).split(" ").includes(smallkey)) return "its subject names another layer";
	const first = firstOf.get(request);
	return first === undefined || first === id ? null : `its Request is copied from ${first.slice(0, 12)}`;
}
