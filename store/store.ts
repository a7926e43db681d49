import { maxClockSkewMs } from "../registry/sender.ts";
import { type Problem, problemAt, type Text } from "../registry/texts.ts";

export interface Log {
	info(fields: object): void;
	warn(text: string): void;
	error(error: unknown): void;
}

export interface Layer {
	/** Text of `layers/<ab>/<smallkey>.json`, written by the service or by hand. */
	registration: string;
	/** Text of `<smallkey>.service.json`: the result of the last harvest. */
	description: string | null;
}

export interface Edit {
	path: string;
	text: string | null;
}

export interface Meta {
	smallkey: string | null;
	/** A sender's id, or `serviceAuthor`. */
	author: string;
	/** In milliseconds since 1970. */
	time: number;
	subject: string;
	trailers: readonly (readonly [string, string])[];
	/** SHA-256 of the signature's text in hex, which is also the trailer `Request`; null if the change is not signed. */
	request: string | null;
	/** `PUT`, which the signature does not cover. */
	method?: string;
	review: boolean;
	/** With `review`: all changes of the author with this name wait on one branch. */
	reviewName?: string;
}

export interface Commit {
	/** Id of the commit that contains the requested state; `""` in a repository without commits. */
	commit: string;
	changed: boolean;
	/** False if the files do not have the change yet. */
	published?: boolean;
	branch?: string;
	pullRequest?: string;
	warnings?: Problem[];
}

export interface Refusal {
	status: number;
	errors: readonly Problem[];
	/** In a word or two, if it differs from the status's usual one (`refusalReasons` in api/reply.ts). */
	reason?: string;
	hint?: Text;
	/** In seconds. */
	retryAfter?: number | undefined;
	/** Whether what is stored is already as the refused change would have left it. */
	isDone?: boolean;
}

/** Reads the stored layers as they are at one moment. */
export interface Reader {
	read(smallkey: string): Promise<Layer | null>;
	/** Git's blob ids (SHA-1 in hex) in place of the texts: equal ids are equal texts. */
	ids(smallkey: string): Promise<Layer | null>;
	/** The stored smallkeys that differ from this one at most in case, sorted. */
	spellings(smallkey: string): Promise<string[]>;
}

/** Decides what a change does. The store calls it again if another change was made in the meantime. */
export type Decide = (now: Reader) => Promise<Edit[] | Refusal>;

export interface UsedRequest extends Pick<Meta, "time"> {
	request: string;
	/** `?` if only the request's commit is known. */
	method: string;
	/** The commit in its answer, or the status of an answer without a commit. */
	outcome: string | number;
}

export interface Store extends Reader {
	/** Whether a change can be read as a fragment as soon as `change` resolves. */
	readonly publishesAtOnce: boolean;
	/**
	 * Makes one commit, which is durable when the promise resolves; without edits, no commit.
	 * @returns the commit; the refusal of `decide`; or a refusal with status 401 if the same request was used before, and
	 * this change would change something again
	 * @throws {StoreBusy} if the change was not made
	 */
	change(decide: Decide, meta: Meta): Promise<Commit | Refusal>;
	/**
	 * Remembers a signed request that was refused, or that changed no layer. On this machine the record is durable when the
	 * promise resolves; with the layers on GitHub it ends with the process.
	 * @returns false if the request was used before
	 * @throws {StoreBusy}
	 */
	remember(used: UsedRequest): Promise<boolean>;
}

export function usesOf({ request, method = "-", time }: Meta, outcome: string | number): UsedRequest[] {
	return request === null ? [] : [{ request, method, time, outcome }];
}

/** How long a request is remembered for its key, in milliseconds: longer than a signature is valid. */
export const requestMemoryMs = 300_000;

export const usedBefore: Refusal = {
	status: 401,
	reason: "used before",
	errors: [/* @__PURE__ */ problemAt("Authorization", "signature-used")],
};

export function waitsOf(sender: string): Refusal {
	const errors = [problemAt("smallkey", "waits-of-other", sender)];
	return { status: 409, reason: "waits for review", errors };
}

export function isRefusal<T extends object>(outcome: T): outcome is Extract<T, { errors: unknown }> {
	return "errors" in outcome;
}

/** What a client reads, and a label of the metrics. */
export type BusyCode = "busy" | "read-only" | "disk-full" | "github" | "branch-moved";

export class StoreBusy extends Error {
	override name = "StoreBusy";

	/** @param retryAfter in seconds @param reason in English, for the log and `/readyz` */
	constructor(
		readonly code: BusyCode,
		readonly retryAfter: number,
		reason: string,
	) {
		super(reason);
	}
}

export function commitMessage(meta: Meta): string {
	const trailers = meta.trailers.map(([name, text]) => `${name}: ${text}`);
	return [meta.subject, ...(trailers.length > 0 ? ["", ...trailers] : [])].join("\n");
}

/** A domain under `.invalid` never receives mail (RFC 2606). */
const mailDomain = "@sender.invalid";

export function authorMail(author: string): string {
	return `${author}${mailDomain}`;
}

export function authorOf(mail: string): string | null {
	return mail.endsWith(mailDomain) ? mail.slice(0, -mailDomain.length) : null;
}

/** `register` for senders, `repair` for proposed repairs. */
export const reviewFolders = ["register", "repair"] as const;

/** `declined/register/<smallkey>/<commit>` keeps a declined change. */
export const declinedFolder = "declined";

export const mainTrailer = "Main";

/**
 * No smallkey has a full stop, and neither the id of a sender nor the name of a review has a plus. Git has either a branch `a`
 * or a branch `a/b`.
 */
export function reviewBranch({ smallkey, author, reviewName }: Meta): string {
	// Git refuses a full stop at the start of a name, and two of them beside each other (git-check-ref-format(1)).
	const sender = author.replace(/(?<=^|\.)\./g, "+");
	if (reviewName !== undefined) return `register/${sender}+review.${reviewName}`;
	return `register/${smallkey ?? `${sender}.batch`}`;
}

/** Changes of one group go to one branch together: a review has one sender. Empty for the served branch. */
export function groupOf(meta: Meta): string {
	return meta.review ? `${reviewBranch(meta)} ${meta.author}` : "";
}

/** Whether a branch has a name of `reviewBranch` or `repairBranch`. */
export function isReviewBranch(branch: string): boolean {
	return /^(?:register|repair)\/[^/]+$/.test(branch);
}

/** The committer of every commit that the service makes, and of no other. */
export const serviceAuthor = "fragment-publisher";

export const serviceIdentity = `${serviceAuthor} <${/* @__PURE__ */ authorMail(serviceAuthor)}>`;

export function repairBranch(smallkey: string): string {
	return `repair/${smallkey}`;
}

const minuteMs = 60_000;
/** For a clock that is set back by some hours. */
const maxForgotten = 500;

/**
 * Signed requests that were answered. Each is kept for longer than a signature is valid, also where the clock was ahead. If
 * it is set back, requests of a minute of which others were forgotten may have been used.
 * @param now the clock, by which signatures are judged @param monotonicMs it is never set
 */
export class UsedRequests {
	readonly #uses = new Map<string, UsedRequest & { untilMs: number }>();
	readonly #forgotten = new Set<number>();

	constructor(
		readonly now: () => number,
		readonly monotonicMs = () => performance.now(),
	) {}

	find(request: string | null): UsedRequest | undefined {
		return this.#uses.get(request ?? "");
	}

	/** @param time of the request's signature */
	mayHave(time: number): boolean {
		return this.#forgotten.has(Math.floor(time / minuteMs));
	}

	/** @returns false if the request was used before */
	note(use: UsedRequest): boolean {
		const nowMs = this.monotonicMs();
		for (const [request, { untilMs, time }] of this.#uses) {
			if (untilMs > nowMs) break;
			if (time + maxClockSkewMs + minuteMs > this.now()) continue;
			this.#uses.delete(request);
			this.#forgotten.add(Math.floor(time / minuteMs));
		}
		for (const minute of this.#forgotten)
			if (this.#forgotten.size > maxForgotten) this.#forgotten.delete(minute);
		const isFirst = !this.#uses.has(use.request);
		if (isFirst) this.#uses.set(use.request, { ...use, untilMs: nowMs + requestMemoryMs });
		return isFirst;
	}

	all(): UsedRequest[] {
		return [...this.#uses.values()];
	}
}
