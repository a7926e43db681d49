import { dirname, join } from "node:path";
import { type BusyCode, type Log, StoreBusy } from "../store.ts";
import { GitDamage, GitFailure, GitTimeout, NotDescendant } from "./commands/run.ts";

export class DiskTimeout extends Error {
	override name = "DiskTimeout";
}

const retryAfterSeconds = 5;

/** `reason`: a few English words without a path. */
type Cause = readonly [code: BusyCode, reason: string];

const fullDisk: Cause = ["disk-full", "there is no room on the disk"];
const readOnlyDisk: Cause = ["read-only", "the disk is read-only"];
const damaged: Cause = ["read-only", "the repository is damaged"];
const gitFailed: Cause = ["busy", "git failed"];

const causes: readonly [pattern: RegExp, cause: Cause][] = [
	[
		/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace|failed to write new configuration file/,
		fullDisk,
	],
	[/EROFS|Read-only file system|read-only file system/, readOnlyDisk],
	[/EMFILE|ENFILE|could not be started/, ["busy", "git could not be started"]],
	[/EACCES|EPERM|Permission denied/, ["read-only", "the repository may not be written"]],
	[
		/ is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|[Nn]ot a valid (object|commit)|bad object|not a tree object|not a git repository|bad config/,
		damaged,
	],
];

function causeOf(error: unknown): Cause {
	if (error instanceof StoreBusy) return [error.code, error.message];
	if (error instanceof NotDescendant) return ["read-only", error.message];
	if (error instanceof DiskTimeout) return ["busy", "the disk does not answer"];
	if (error instanceof GitTimeout) return ["busy", "git does not answer"];
	if (error instanceof GitDamage) return damaged;
	const [, cause] = causes.find(([pattern]) => pattern.test(String(error))) ?? [];
	return (
		cause ?? (error instanceof GitFailure ? gitFailed : ["read-only", "the repository cannot be written"])
	);
}

function isOfDisk(cause: Cause): boolean {
	return cause === fullDisk || cause === readOnlyDisk;
}

export function diskReasonOf(error: unknown): string | null {
	const cause = causeOf(error);
	return isOfDisk(cause) ? cause[1] : null;
}

function plainLineOf(error: unknown, cause: Cause, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "dist.served")}, and start it`,
		].join(" ");
	return isOfDisk(cause) ? `layers cannot be changed: ${cause[1]}` : null;
}

/** A repeated failure is logged once: it may come several times a second. */
export class WriteHealth {
	/** Of a failure after which no change has succeeded. */
	cause: Cause | null = null;
	#logged = "";
	#failedMs = 0;

	/** @param failureMs how long a failure is named if no change succeeds meanwhile */
	constructor(
		readonly repository: string,
		readonly log: Log,
		readonly failureMs: number,
	) {}

	/** Why the last change or look at the branch failed, in a few English words; null if it did not, or long ago. */
	get reason(): string | null {
		return this.cause && performance.now() - this.#failedMs < this.failureMs ? this.cause[1] : null;
	}

	failed(error: unknown): StoreBusy {
		// A single change cannot be made: nothing is broken.
		if (error instanceof StoreBusy) return error;
		const next = causeOf(error);
		// On a full disk, a retry of git does not always name the reason again.
		const cause = this.cause && this.reason !== null && next === gitFailed ? this.cause : next;
		const line = plainLineOf(error, cause, this.repository);
		const text = line ?? String(error);
		if (text !== this.#logged) line === null ? this.log.error(error) : this.log.warn(line);
		[this.cause, this.#logged, this.#failedMs] = [cause, text, performance.now()];
		return new StoreBusy(cause[0], retryAfterSeconds, cause[1]);
	}

	recovered(): void {
		this.log.warn(`layers can be changed again, after: ${this.cause?.[1]}`);
		[this.cause, this.#logged] = [null, ""];
	}
}
