import type { Problem } from "../registry/texts.ts";

export interface Log {
	info(fields: object): void;
	warn(text: string): void;
	error(error: unknown): void;
}

export interface Layer {
	/** Text of `layers/<ab>/<smallkey>.json`. */
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
	/** SHA-256 of the signature's text in hex, also the trailer `Request`; null if not signed. */
	request: string | null;
	/** The signature does not cover it. */
	method?: string;
	review: boolean;
	/** With `review`: all changes of the author with this name wait on one branch. */
	reviewName?: string;
}

export interface Commit {
	/** Contains the requested state; `""` in a repository without commits. */
	commit: string;
	changed: boolean;
	/** Whether the change can be read; false if the files are behind. Absent: a build publishes it. */
	published?: boolean;
	branch?: string;
	pullRequest?: string;
}

export interface Refusal {
	status: number;
	errors: readonly Problem[];
	/** In seconds. */
	retryAfter?: number | undefined;
	/** The stored state is what the change would have made. */
	isDone?: boolean;
}

/** The stored layers at one moment. */
export interface Reader {
	read(smallkey: string): Promise<Layer | null>;
	/** Git's blob ids (SHA-1 in hex) in place of the texts: equal ids are equal texts. */
	ids(smallkey: string): Promise<Layer | null>;
	/** Stored smallkeys that differ at most in case, sorted. */
	spellings(smallkey: string): Promise<string[]>;
}

/** Called again if another change was made in the meantime. */
export type Decide = (now: Reader) => Promise<Edit[] | Refusal>;

export interface UsedRequest extends Pick<Meta, "time"> {
	request: string;
	/** `?` if only its commit is known. */
	method: string;
	/** The commit, or the status of an answer without one. */
	outcome: string | number;
}

export interface Store {
	served(): Promise<Reader>;
	/**
	 * Makes one commit, on GitHub with other waiting changes of the sender, durable when the promise resolves;
	 * without edits, none.
	 * @returns the commit; the refusal of `decide`; or 401 for a used request that would change something again
	 * @throws {StoreBusy} if the change was not made
	 */
	change(decide: Decide, meta: Meta): Promise<Commit | Refusal>;
	/**
	 * Remembers a signed request without a commit: durably on this machine, in memory with GitHub.
	 * @returns false if it was used before
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
