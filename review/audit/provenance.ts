import { personText, type RawCommit } from "../../git/commits.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { authorMail, maxClockSkewMs, parseTimestamp, serviceAuthor } from "../../store/store.ts";

/** The trailers of a signed request (`api/write.ts`). */
export const trailerNames = ["Sender", "TimeStamp", "Request"] as const;

/** A commit that changes layers. A user who may push can write anything into its texts. */
export interface ReadCommit extends Omit<RawCommit, "message"> {
	subject: string;
	/** All values of each trailer of a signed request: a trailer that occurs twice has both. */
	trailers: Record<(typeof trailerNames)[number], string[]>;
	/** Smallkeys of the layers for which it says that it is a repair (`repair/branches.ts`). */
	repaired: string[];
	/** Paths under `layers/` that differ from the first parent, sorted. */
	paths: string[];
}

/** How a commit arrived (signed request, push, merge), as lines of text for a person. */
export interface Provenance {
	/** Whether the commit names a sender whose request it cannot be: the person who pushed it wrote that. */
	isForged: boolean;
	lines: string[];
}

/** Longest time from a request's timestamp to its commit, in milliseconds. */
const maxWaitMs = 5 * 60_000;

/**
 * Judges from a commit's content how it arrived. Git alone cannot prove that a request was signed; this function finds
 * the commits that the service would never have written.
 * @param firstOf request id → the first commit of the served branch that has it in a trailer
 */
export function judgeProvenance(commit: ReadCommit, firstOf: ReadonlyMap<string, string>): Provenance {
	const { trailers, parents, subject, author, committer } = commit;
	const claims = Object.values(trailers).some((values) => values.length > 0);
	if (!claims && isOwn(commit)) return ownProvenance(commit);
	if (!claims && parents.length > 1) return genuine(`merged by ${personText(committer)}: ${subject}`);
	if (!claims) {
		const isOther = author.mail !== committer.mail;
		return genuine(
			`by ${personText(author)}, with a push or a pull request: ${subject}`,
			...(isOther ? [`committed by ${personText(committer)}`] : []),
		);
	}
	const sender = trailers.Sender.join(", ");
	if (isByGithub(commit) && trailers.Sender.length === 1)
		return genuine(
			`by the sender ${sender}, merged at GitHub, which has who merged it: ${subject}`,
			"GitHub signs such commits: git log --show-signature tells one that is not its own",
		);
	const isBatch = trailers.Request.length === 0 && trailers.TimeStamp.length === 0;
	const why = whyForged(commit, isBatch) ?? (isBatch ? null : whyNoRequest(commit, firstOf));
	if (why !== null) return forged(commit, sender || "a sender", why);
	if (isBatch) return genuine(`by the sender ${sender}, with npx fragments register: ${subject}`);
	return genuine(
		`by the sender ${sender}, with a signed request of ${trailers.TimeStamp[0]}`,
		`request ${trailers.Request[0]}`,
	);
}

function genuine(...lines: string[]): Provenance {
	return { isForged: false, lines };
}

function forged({ author, committer, subject }: ReadCommit, sender: string, why: string): Provenance {
	const lines = [
		`FORGED: it says that it is a request of ${sender}, and is not: ${why}`,
		`by ${personText(author)}, committed by ${personText(committer)}: ${subject}`,
	];
	return { isForged: true, lines };
}

/** Whether GitHub made a commit from a pull request (GitHub, "About commit signature verification"). */
function isByGithub({ committer, parents, author, trailers }: ReadCommit): boolean {
	const isGithub = committer.name === "GitHub" && committer.mail === "noreply@github.com";
	return isGithub && parents.length === 1 && author.name === trailers.Sender[0];
}

/**
 * A commit of the service itself: except for the first one, which seeds the branch, it changes no registration but those
 * that it proposes as a repair.
 */
function ownProvenance(commit: ReadCommit): Provenance {
	const changesLayers = commit.paths.some((path) => {
		const name = parseLayerPath(path);
		return name?.kind === "registration" && !commit.repaired.includes(name.smallkey);
	});
	if (commit.parents.length > 0 && changesLayers)
		return forged(commit, "the service itself", "the service changes no registration");
	return genuine(`by the service itself: ${commit.subject}`);
}

function isOwn({ author, committer }: ReadCommit): boolean {
	return [author, committer].every(
		({ name, mail }) => name === serviceAuthor && mail === authorMail(serviceAuthor),
	);
}

/** Why the service cannot have made a commit for a sender; null if it can have. */
function whyForged({ trailers, author, committer, parents }: ReadCommit, isBatch: boolean): string | null {
	const [sender, ...others] = trailers.Sender;
	if (sender === undefined) return "it names no sender";
	if (others.length > 0) return "it names more than one sender";
	if (committer.name !== serviceAuthor || committer.mail !== authorMail(serviceAuthor)) {
		return `its committer is ${committer.name} <${committer.mail}>, and not the service`;
	}
	if (author.name !== sender || author.mail !== authorMail(sender)) {
		return `its author is ${author.name} <${author.mail}>, and not the sender`;
	}
	if (parents.length > 1) return "it is a merge";
	if (isBatch) return null;
	const laterMs = committer.timeMs - author.timeMs;
	// A commit's times are whole seconds.
	if (laterMs < -maxClockSkewMs - 1_000) return "it was committed before its timestamp";
	return laterMs > maxWaitMs ? "it was committed long after its timestamp" : null;
}

/** Why a commit cannot be of a signed request; null if it can be. */
function whyNoRequest(commit: ReadCommit, firstOf: ReadonlyMap<string, string>): string | null {
	const { trailers, author, paths, id, subject } = commit;
	if (trailers.TimeStamp.length !== 1 || trailers.Request.length !== 1) {
		return "a request has one TimeStamp and one Request";
	}
	const [timestamp, request] = [trailers.TimeStamp[0] as string, trailers.Request[0] as string];
	if (!/^[0-9a-f]{64}$/.test(request)) return "its Request is no SHA-256";
	const timeMs = parseTimestamp(timestamp);
	if (timeMs === null || Math.floor(timeMs / 1_000) * 1_000 !== author.timeMs) {
		return "its author's time is not its TimeStamp";
	}
	const names = paths.map(parseLayerPath);
	const smallkeys = new Set(names.map((name) => name?.smallkey ?? null));
	if (smallkeys.size > 1 || smallkeys.has(null))
		return "a request changes one layer, and this changes others";
	const [smallkey] = smallkeys;
	if (smallkey && !subject.split(" ").includes(smallkey)) return "its subject names another layer";
	const first = firstOf.get(request);
	return first === undefined || first === id ? null : `its Request is copied from ${first.slice(0, 12)}`;
}
