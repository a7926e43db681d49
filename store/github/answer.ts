import type { Octokit } from "@octokit/rest";

/** GitHub's routes, typed: `github.rest.git.getTree({ ...github.repo, tree_sha })`. */
export interface Github extends Pick<Octokit, "rest" | "paginate"> {
	/** The repository, as a part of each request's parameters. */
	repo: { owner: string; repo: string };
}

/** The members of octokit's error that it has only if GitHub has answered. */
interface Answered {
	status: number;
	response: { data: unknown };
}

/** Whether an error is GitHub's answer 404, 409 or 422, which the caller has to judge. */
export function isAnswered(error: unknown): error is Answered {
	return typeof error === "object" && error !== null && "response" in error && "status" in error;
}

/** GitHub's own words in an error, at most 300 characters. */
export function messageOf(data: unknown): string {
	const message = (data as { message?: unknown } | null | undefined)?.message;
	return typeof message === "string" ? message.slice(0, 300) : "no reason given";
}

/**
 * Another writer was faster, or GitHub does not return yet what was written. "Reference cannot be updated": the branch was
 * moved several times in quick succession. "No commit found", "not a valid tree oid": a replica lags behind.
 */
const raceWords =
	/fast.?forward|reference cannot be updated|already exists|does not exist|no commit found|not a valid tree oid|but expected/i;

/** A rule of the repository does not allow the service to write: a retry does not help. */
const ruleWords =
	/protected (?:branch|ref)|rule violation|through a pull request|required status check|approving review|reference update failed|being restricted/i;

/** GitHub timed out on a large tree. */
const timeoutWords = /request timed out/i;

/** A 409 of a repository without commits; any other 409 is a race. */
const emptyWords = /^GitHub answers 409 .*repository is empty/i;

/** A request that GitHub refused, most often because another writer was faster. The caller retries from a fresh read. */
export class Conflict extends Error {
	override name = "Conflict";

	/** @param isRace whether GitHub's words say that another writer was faster */
	constructor(
		message: string,
		readonly isRace: boolean,
	) {
		super(message);
	}

	/** Whether GitHub says that the repository has no commit yet. */
	get isOfEmptyRepository(): boolean {
		return emptyWords.test(this.message);
	}
}

/** The request was too large for GitHub. */
export class TooLarge extends Error {}

/**
 * The data of an answer.
 * @param what the request as a verb and its object, for the error's text: `move the branch main`
 * @throws {Conflict} if GitHub refused; TooLarge if it timed out; Error if a rule of the repository forbids it
 */
export async function dataOf<T>(answer: Promise<{ data: T }>, what: string): Promise<T> {
	return (await listOf(answer, what)).data;
}

/** The items of all pages of a list; octokit turns a 409 into an empty list. @throws {Error} as `dataOf` does */
export async function listOf<T>(pages: Promise<T>, what: string): Promise<T> {
	return pages.catch((error: unknown) => {
		throw toRefusal(error, what);
	});
}

/** The data of an answer, or null if it is 404. @throws {Error} as `dataOf` does */
export async function dataOrNull<T>(answer: Promise<{ data: T }>, what: string): Promise<T | null> {
	return answer.then(
		({ data }) => data,
		(error: unknown) => {
			const isMissing = isAnswered(error) && error.status === 404;
			if (isMissing && !raceWords.test(messageOf(error.response.data))) return null;
			throw toRefusal(error, what);
		},
	);
}

/** Converts GitHub's refusal to an error of this module, with GitHub's own words; returns any other error unchanged. */
function toRefusal(error: unknown, what: string): unknown {
	if (!isAnswered(error)) return error;
	const { status, response } = error;
	const message = messageOf(response.data);
	if (ruleWords.test(message)) return new Error(`GitHub does not let the service ${what}: ${message}`);
	if (timeoutWords.test(message)) return new TooLarge(`GitHub answers ${status} to ${what}: ${message}`);
	const isRace = status === 409 || raceWords.test(message);
	return new Conflict(`GitHub answers ${status} to ${what}: ${message}`, isRace);
}
