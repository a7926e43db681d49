import { type LayerName, parseLayerPath } from "../../registry/smallkey.ts";
import { maxClockSkewMs, parseTimestamp } from "../../registry/timestamp.ts";
import { type LoggedCommit, type Person, personText, trailersOf } from "../../store/git/commands/commits.ts";
import { authorMail, repairedTrailer, serviceAuthor } from "../../store/naming.ts";

export interface Provenance {
	/** The commit names a sender whose request it cannot be. */
	isForged: boolean;
	lines: string[];
}

const maxWaitMs = 5 * 60_000;

/**
 * Git alone cannot prove that a request was signed; this finds commits that the service never writes.
 * @param firstOf request id → the first commit of the served branch that has it in a trailer
 */
export function judgeProvenance(commit: LoggedCommit, firstOf: ReadonlyMap<string, string>): Provenance {
	const { message, author } = commit;
	const subject = subjectOf(message);
	// The trailers of a signed request (`api/write.ts`).
	const valuesOf = (name: string) => trailersOf(message, name);
	const [senders, times, requests] = [valuesOf("Sender"), valuesOf("TimeStamp"), valuesOf("Request")];
	const isBatch = times.length + requests.length === 0;
	if (senders.length === 0 && isBatch) return personProvenance(commit, subject);
	const [sender, ...others] = new Set(senders);
	// A squash has the sender as its author, or the App that opened the pull request.
	const isSquash = author.name === sender || isApp(author);
	if (isByGithub(commit) && others.length === 0 && isSquash)
		return genuine(`by the sender ${sender}, merged at GitHub, which has who merged it: ${subject}`);
	const why =
		whyNotOfService(commit, senders) ?? (isBatch ? null : whyNoRequest(commit, times, requests, firstOf));
	if (why !== null) return forgeryOf(commit, senders.join(", ") || "a sender", why);
	if (isBatch) return genuine(`by the sender ${sender}, with npx fragment-publisher register: ${subject}`);
	const signed = `by the sender ${sender}, with a signed request of ${times.join()}`;
	return genuine(signed, `checksum of the request ${requests.join()}`);
}

function whyNotOfService({ author, committer, parents }: LoggedCommit, senders: string[]) {
	if (senders.length !== 1) return "it does not name one sender";
	if (!isOf(committer) || !isOf(author, senders[0]))
		return "its author and committer are not the sender and the service";
	return parents.length > 1 ? "it is a merge" : null;
}

function whyNoRequest(
	{ id, message, author, committer, files }: LoggedCommit,
	times: string[],
	requests: string[],
	firstOf: ReadonlyMap<string, string>,
): string | null {
	if (times.length > requests.length || !requests.every((request) => /^[0-9a-f]{64}$/.test(request)))
		return "a request has one TimeStamp and one Request, a SHA-256";
	// A commit's times are whole seconds.
	const waitsMs = times.map(
		(time) => committer.timeMs - Math.floor((parseTimestamp(time) ?? Number.NaN) / 1_000) * 1_000,
	);
	const isOnTime = waitsMs.every((waitMs) => waitMs >= -maxClockSkewMs - 1_000 && waitMs <= maxWaitMs);
	if (waitsMs[0] !== committer.timeMs - author.timeMs || !isOnTime)
		return "its TimeStamp is not the time of its author and committer";
	const smallkeys = new Set(files.map(({ path }) => parseLayerPath(path)?.smallkey ?? ""));
	const words = subjectOf(message).split(" ");
	// The GitHub store makes one commit of a sender's waiting changes.
	const isOfRequests =
		requests.length > 1 ? !smallkeys.has("") : [...smallkeys].every((key) => words.includes(key));
	if (smallkeys.size > requests.length || !isOfRequests)
		return "its subject does not name the one layer that it changes";
	const first = requests.map((request) => firstOf.get(request) ?? id).find((first) => first !== id);
	return first === undefined ? null : `its Request is copied from ${first.slice(0, 12)}`;
}

function personProvenance(commit: LoggedCommit, subject: string): Provenance {
	const { parents, author, committer, files, message } = commit;
	if (isOf(author) && isOf(committer)) {
		// Except for the first commit, the service changes only the registrations that it proposes as a repair.
		const repaired = trailersOf(message, repairedTrailer);
		const names = files.flatMap(({ path }) => parseLayerPath(path) ?? []);
		const isOther = (name: LayerName) => name.part === "registration" && !repaired.includes(name.smallkey);
		if (parents.length > 0 && names.some(isOther))
			return forgeryOf(commit, "the service itself", "the service changes no registration");
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

function forgeryOf({ author, committer, message }: LoggedCommit, sender: string, why: string): Provenance {
	const lines = [
		`FORGED: it says that it is a request of ${sender}, and is not: ${why}`,
		`by ${personText(author)}, committed by ${personText(committer)}: ${subjectOf(message)}`,
	];
	return { isForged: true, lines };
}

/** A pull request's commit (GitHub, "About commit signature verification"). */
function isByGithub({ committer: { name, mail }, parents }: LoggedCommit) {
	return name === "GitHub" && mail === "noreply@github.com" && parents.length === 1;
}

function isApp({ name, mail }: Person) {
	return name.endsWith("[bot]") && mail.endsWith("[bot]@users.noreply.github.com");
}

function isOf({ name, mail }: Person, sender = serviceAuthor) {
	return name === sender && mail === authorMail(sender);
}

export function subjectOf(message: string): string {
	const lines = message.trimStart().split("\n");
	const end = lines.findIndex((line) => line.trim() === "");
	return (end < 0 ? lines : lines.slice(0, end)).map((line) => line.trim()).join(" ");
}
