import { personText, type RawCommit } from "../../git/commits.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { authorMail, clockSkew, parseTimestamp, serviceAuthor } from "../../store/store.ts";

/** The trailers of a signed request (`api/write.ts`). */
export const trailerNames = ["Sender", "TimeStamp", "Request"] as const;

/** A commit that changes layers: a user who may push can write anything into it. */
export interface ReadCommit extends Omit<RawCommit, "message"> {
	subject: string;
	/** The values of the trailers that a signed request leaves; both values of one that occurs twice. */
	trailers: Record<(typeof trailerNames)[number], string[]>;
	/** Paths under `layers/` that differ from the first parent, sorted. */
	paths: string[];
}

/** The way by which a commit came, as lines for a person. */
export interface Door {
	/** Whether it names a sender, but cannot be the sender's: its pusher has written that. */
	isForged: boolean;
	lines: string[];
}

/** How long the service may take at most from a request's timestamp to its commit, in milliseconds. */
const longestWaitMs = 5 * 60_000;

/**
 * The way by which a commit came, read from its content. Git alone cannot prove that a request was signed; what the
 * service would never have written is found.
 * @param firstOf request → the first commit of the served branch that carries it
 */
export function doorOf(commit: ReadCommit, firstOf: ReadonlyMap<string, string>): Door {
	const { trailers, parents, subject, author, committer } = commit;
	const claims = Object.values(trailers).some((values) => values.length > 0);
	if (!claims && isOwn(commit)) return ownDoor(commit);
	if (!claims && parents.length > 1) return honest(`merged by ${personText(committer)}: ${subject}`);
	if (!claims) {
		const isOther = author.mail !== committer.mail;
		return honest(
			`by ${personText(author)}, with a push or a pull request: ${subject}`,
			...(isOther ? [`committed by ${personText(committer)}`] : []),
		);
	}
	const sender = trailers.Sender.join(", ");
	if (isByGithub(commit) && trailers.Sender.length === 1)
		return honest(
			`by the sender ${sender}, merged at GitHub, which has who merged it: ${subject}`,
			"GitHub signs such commits: git log --show-signature tells one that is not its own",
		);
	const isBatch = trailers.Request.length === 0 && trailers.TimeStamp.length === 0;
	const why = whyForged(commit, isBatch) ?? (isBatch ? null : whyNoRequest(commit, firstOf));
	if (why !== null) return forged(commit, sender || "a sender", why);
	if (isBatch) return honest(`by the sender ${sender}, with npx fragments register: ${subject}`);
	return honest(
		`by the sender ${sender}, with a signed request of ${trailers.TimeStamp[0]}`,
		`request ${trailers.Request[0]}`,
	);
}

function honest(...lines: string[]): Door {
	return { isForged: false, lines };
}

function forged({ author, committer, subject }: ReadCommit, sender: string, why: string): Door {
	const lines = [
		`FORGED: it says that it is a request of ${sender}, and is not: ${why}`,
		`by ${personText(author)}, committed by ${personText(committer)}: ${subject}`,
	];
	return { isForged: true, lines };
}

/** Whether GitHub has made a commit out of a pull request: its page, "About commit signature verification". */
function isByGithub({ committer, parents, author, trailers }: ReadCommit): boolean {
	const isGithub = committer.name === "GitHub" && committer.mail === "noreply@github.com";
	return isGithub && parents.length === 1 && author.name === trailers.Sender[0];
}

/** Beside the first commit, which seeds the branch, the service changes what it has found out, and no registration. */
function ownDoor(commit: ReadCommit): Door {
	const changesLayers = commit.paths.some((path) => parseLayerPath(path)?.kind === "registration");
	if (commit.parents.length > 0 && changesLayers)
		return forged(commit, "the service itself", "the service changes no registration");
	return honest(`by the service itself: ${commit.subject}`);
}

function isOwn({ author, committer }: ReadCommit): boolean {
	return [author, committer].every(
		({ name, mail }) => name === serviceAuthor && mail === authorMail(serviceAuthor),
	);
}

/** Why a commit is none that the service has made for a sender; null where it may be. */
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
	if (laterMs < -clockSkew - 1_000) return "it was committed before its timestamp";
	return laterMs > longestWaitMs ? "it was committed long after its timestamp" : null;
}

/** Why a commit is none of a signed request. */
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
