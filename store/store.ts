import type { Problem, Text } from "../registry/texts.ts";

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

export interface Store {
	/** Whether a change can be read as a fragment as soon as `change` resolves. */
	readonly publishesAtOnce: boolean;
	served(): Promise<Reader>;
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
