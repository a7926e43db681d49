import { GitDamage, GitFailure, GitTimeout } from "../../git/run.ts";
import { DiskTimeout } from "../../git/write-pack.ts";
import { StoreBusy } from "../store.ts";

/** Seconds after which a publisher may try again where something is broken. */
const retryAfterSeconds = 5;

const noRoom = "there is no room on the disk";
const readOnly = "the disk is read-only";
const damagedReason = "the repository is damaged";

/** What systems and git say, and what it means to somebody outside. */
const reasons: readonly [pattern: RegExp, reason: string][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace/, noRoom],
	[/EROFS|Read-only file system|read-only file system/, readOnly],
	[/EMFILE|ENFILE|could not be started/, "git could not be started"],
	[/EACCES|EPERM|Permission denied/, "the repository may not be written"],
	[
		/ is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|not a valid object|bad object|not a tree object/,
		damagedReason,
	],
];

/** Why something failed, in a few words that tell no path. */
export function reasonOf(error: unknown): string {
	if (error instanceof StoreBusy) return error.message;
	if (error instanceof DiskTimeout) return "the disk does not answer";
	if (error instanceof GitTimeout) return "git does not answer";
	if (error instanceof GitDamage) return damagedReason;
	const text = String(error);
	const known = reasons.find(([pattern]) => pattern.test(text));
	if (known) return known[1];
	return error instanceof GitFailure ? "git failed" : "the repository cannot be written";
}

/** Why the disk cannot be written, in a few words; null where something else failed. */
export function diskReasonOf(error: unknown): string | null {
	const reason = reasonOf(error);
	return reason === noRoom || reason === readOnly ? reason : null;
}

/** Who is told how changes go. */
export interface ConditionOptions {
	/** Told of each failure, once while it goes on. */
	report: (error: unknown) => void;
	/** Told, in a line for the log, that changes can be made again. */
	tell: (line: string) => void;
	/** Told each time that the repository was found to be damaged: it may be mended by the next time. */
	damaged: () => void;
}

/** Whether changes can be made now, by how the last ones went. */
export class Condition {
	readonly report: (error: unknown) => void;
	readonly tell: (line: string) => void;
	readonly #damaged: () => void;
	#reason: string | null = null;
	#lastSaid: string | null = null;

	constructor({ report, tell, damaged }: ConditionOptions) {
		this.report = report;
		this.tell = tell;
		this.#damaged = damaged;
	}

	/** Why changes cannot be made now, in a few words; null where they can. */
	get reason(): string | null {
		return this.#reason;
	}

	/** Takes note of a failure; what to say to whoever waited. */
	failed(error: unknown): StoreBusy {
		// Others were faster: nothing is broken.
		if (error instanceof StoreBusy) return error;
		this.#reason = reasonOf(error);
		if (this.#reason === damagedReason) this.#damaged();
		const said = String(error);
		// What goes on failing is tried several times a second.
		if (said !== this.#lastSaid) this.report(error);
		this.#lastSaid = said;
		return new StoreBusy(this.#reason, retryAfterSeconds);
	}

	/** Takes note that a change could be made. */
	recovered(): void {
		if (this.#reason !== null) this.tell(`layers can be changed again, after: ${this.#reason}`);
		this.#reason = null;
		this.#lastSaid = null;
	}
}
