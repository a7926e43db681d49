import { GitDamage, GitFailure, GitTimeout } from "../../git/run.ts";
import { DiskTimeout } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import { StoreBusy } from "../store.ts";

/** Seconds after which a publisher may try again where something is broken. */
const retryAfterSeconds = 5;

const noRoom = "there is no room on the disk";
const readOnly = "the disk is read-only";
const damaged = "the repository is damaged";
const unknownFailure = "git failed";

/** Messages of systems and of git, and the reason that a publisher gets. */
const reasons: readonly [pattern: RegExp, reason: string][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace/, noRoom],
	[/EROFS|Read-only file system|read-only file system/, readOnly],
	[/EMFILE|ENFILE|could not be started/, "git could not be started"],
	[/EACCES|EPERM|Permission denied/, "the repository may not be written"],
	[
		/ is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|not a valid object|[Nn]ot a valid commit|bad object|not a tree object/,
		damaged,
	],
];

/** Why something failed, in a few words without a path. */
export function reasonOf(error: unknown): string {
	if (error instanceof StoreBusy) return error.message;
	if (error instanceof DiskTimeout) return "the disk does not answer";
	if (error instanceof GitTimeout) return "git does not answer";
	if (error instanceof GitDamage) return damaged;
	const text = String(error);
	const known = reasons.find(([pattern]) => pattern.test(text));
	if (known) return known[1];
	return error instanceof GitFailure ? unknownFailure : "the repository cannot be written";
}

/** Why the disk cannot be written, in a few words; null where something else failed. */
export function diskReasonOf(error: unknown): string | null {
	const reason = reasonOf(error);
	return reason === noRoom || reason === readOnly ? reason : null;
}

/** Whether changes can be made now, by how the last ones went. */
export class WriteHealth {
	readonly #log: Log;
	readonly #onDamage: () => void;
	#reason: string | null = null;
	#lastReported: string | null = null;

	/**
	 * @param log gets each failure; one that repeats, once
	 * @param onDamage runs each time that the repository was found damaged: it may be repaired by the next time
	 */
	constructor(log: Log, onDamage: () => void) {
		this.#log = log;
		this.#onDamage = onDamage;
	}

	/** Why changes cannot be made now, in a few words; null where they can. */
	get reason(): string | null {
		return this.#reason;
	}

	/** Notes a failure; what to answer to those who waited. */
	failed(error: unknown): StoreBusy {
		// Others were faster: nothing is broken.
		if (error instanceof StoreBusy) return error;
		const reason = reasonOf(error);
		// Git that is tried again on a full disk does not always name the reason again.
		if (this.#reason === null || reason !== unknownFailure) this.#reason = reason;
		if (this.#reason === damaged) this.#onDamage();
		const text = String(error);
		// What keeps failing is tried several times a second.
		if (text !== this.#lastReported) this.#log.error(error);
		this.#lastReported = text;
		return new StoreBusy(this.#reason, retryAfterSeconds);
	}

	/** Notes that a change could be made. */
	recovered(): void {
		if (this.#reason !== null) this.#log.warn(`layers can be changed again, after: ${this.#reason}`);
		this.#reason = null;
		this.#lastReported = null;
	}
}
