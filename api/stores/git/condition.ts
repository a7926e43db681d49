import { GitFailure, GitTimeout } from "../../git/run.ts";
import { StoreBusy } from "../../store.ts";

/** Seconds after which a publisher may try again where something is broken. */
const retryAfterSeconds = 5;

/** What systems and git say, and what it means to somebody outside. */
const reasons: readonly [pattern: RegExp, reason: string][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/, "there is no room on the disk"],
	[/EROFS|Read-only file system/, "the disk is read-only"],
	[/EMFILE|ENFILE|could not be started/, "git could not be started"],
	[/EACCES|EPERM|Permission denied/, "the repository may not be written"],
];

/** Why something failed, in a few words that tell no path. */
export function reasonOf(error: unknown): string {
	if (error instanceof StoreBusy) return error.message;
	if (error instanceof GitTimeout) return "git does not answer";
	const text = String(error);
	const known = reasons.find(([pattern]) => pattern.test(text));
	if (known) return known[1];
	return error instanceof GitFailure ? "git failed" : "the repository cannot be written";
}

/** Whether changes can be made now, by how the last ones went. */
export class Condition {
	/** Told of what the log should say. */
	readonly report: (error: unknown) => void;
	#reason: string | null = null;
	#lastError: unknown = null;

	/** @param report told of each failure once */
	constructor(report: (error: unknown) => void) {
		this.report = report;
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
		if (error !== this.#lastError) this.report(error);
		this.#lastError = error;
		return new StoreBusy(this.#reason, retryAfterSeconds);
	}

	/** Takes note that a change could be made. */
	recovered(): void {
		this.#reason = null;
	}
}
