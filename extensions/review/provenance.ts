import { maxClockSkewMs, parseTimestamp } from "../../registry/sender.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { authorMail, repairedTrailer, serviceAuthor } from "../../store/authorship.ts";
import {
	type LoggedCommit,
	type Person,
	personText,
	subjectOf,
	trailersOf,
} from "../../store/git/commands/commits.ts";

/** How a commit arrived. */
export interface Provenance {
	/** Whether the commit names a sender whose request it cannot be: the person who pushed it wrote that. */
	isForged: boolean;
	lines: string[];
}

const maxWaitMs = 5 * 60_000;

/**
 * Git alone cannot prove that a request was signed; this finds the commits that the service would never have written.
 * @param firstOf request id → the first commit of the served branch that has it in a trailer
 */
export function judgeProvenance(commit: LoggedCommit, firstOf: ReadonlyMap<string, string>): Provenance {
	const { id, message, author, committer, parents, files } = commit;
	const subject = subjectOf(message);
	// The trailers of a signed request (`api/write.ts`).
	const values = (name: string) => trailersOf(message, name);
	const [senders, timestamps, requests] = [values("Sender"), values("TimeStamp"), values("Request")];
	const isBatch = timestamps.length + requests.length === 0;
	if (senders.length === 0 && isBatch) return personProvenance(commit, subject);
	const [sender, ...others] = new Set(senders);
	// A squash has the sender as its author, or the App that opened the pull request.
	const isSquash = author.name === sender || isApp(author);
	if (isByGithub(commit) && others.length === 0 && isSquash)
		return genuine(`by the sender ${sender}, merged at GitHub, which has who merged it: ${subject}`);
	const [timestamp = ""] = timestamps;
	const [request = ""] = requests;
	const timeMs = parseTimestamp(timestamp) ?? Number.NaN;
	const waitMs = committer.timeMs - author.timeMs;
	const smallkeys = [...new Set(files.map(({ path }) => parseLayerPath(path)?.smallkey ?? ""))];
	const first = firstOf.get(request);
	const whyNoRequest = [
		(timestamps.length !== 1 || !/^[0-9a-f]{64}$/.test(requests.join())) &&
			"a request has one TimeStamp and one Request, a SHA-256",
		// A commit's times are whole seconds.
		(Math.floor(timeMs / 1_000) * 1_000 !== author.timeMs ||
			waitMs < -maxClockSkewMs - 1_000 ||
			waitMs > maxWaitMs) &&
			"its TimeStamp is not the time of its author and committer",
		smallkeys.length > 0 &&
			(smallkeys.length > 1 || !subject.split(" ").includes(smallkeys.join())) &&
			"its subject does not name the one layer that it changes",
		first !== undefined && first !== id && `its Request is copied from ${first.slice(0, 12)}`,
	];
	const why = [
		senders.length !== 1 && "it does not name one sender",
		!(isOf(committer) && isOf(author, sender)) &&
			"its author and committer are not the sender and the service",
		parents.length > 1 && "it is a merge",
		...(isBatch ? [] : whyNoRequest),
	].find((reason) => typeof reason === "string");
	if (why) return forged(commit, senders.join(", ") || "a sender", why);
	if (isBatch) return genuine(`by the sender ${sender}, with npx fragment-publisher register: ${subject}`);
	return genuine(
		`by the sender ${sender}, with a signed request of ${timestamp}`,
		`checksum of the request ${request}`,
	);
}

function personProvenance(commit: LoggedCommit, subject: string): Provenance {
	const { parents, author, committer, files, message } = commit;
	if (isOf(author) && isOf(committer)) {
		// Except for the first commit, the service changes only the registrations that it proposes as a repair.
		const repaired = trailersOf(message, repairedTrailer);
		const names = files.map(({ path }) => parseLayerPath(path));
		const changesOther = names.some(
			(name) => name?.part === "registration" && !repaired.includes(name.smallkey),
		);
		if (parents.length > 0 && changesOther)
			return forged(commit, "the service itself", "the service changes no registration");
		return genuine(`by the service itself: ${subject}`);
	}
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

function isApp({ name, mail }: Person): boolean {
	return name.endsWith("[bot]") && mail.endsWith("[bot]@users.noreply.github.com");
}

function isOf({ name, mail }: Person, sender = serviceAuthor): boolean {
	return name === sender && mail === authorMail(sender);
}
