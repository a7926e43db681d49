import { dirname, join } from "node:path";
import { GitDamage, GitFailure, GitTimeout, NotDescendant } from "../../system/git/run.ts";
import type { Log } from "../log.ts";
import { StoreBusy } from "../store.ts";
import { DiskTimeout } from "./base.ts";

/** Seconds after which a publisher may retry after a failure. */
const retryAfterSeconds = 5;

const noRoom = "there is no room on the disk";
const readOnly = "the disk is read-only";
const damaged = "the repository is damaged";
const unknownFailure = "git failed";

/** Messages of the system and of git, each with the reason that a publisher gets. */
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
	if (error instanceof StoreBusy || error instanceof NotDescendant) return error.message;
	if (error instanceof DiskTimeout) return "the disk does not answer";
	if (error instanceof GitTimeout) return "git does not answer";
	if (error instanceof GitDamage) return damaged;
	const text = String(error);
	const known = reasons.find(([pattern]) => pattern.test(text));
	if (known) return known[1];
	return error instanceof GitFailure ? unknownFailure : "the repository cannot be written";
}

/** Why the disk cannot be written, in a few words; null for any other failure. */
export function diskReasonOf(error: unknown): string | null {
	const reason = reasonOf(error);
	return reason === noRoom || reason === readOnly ? reason : null;
}

/** The labels of failures whose reason differs each time. */
const movedAside = "the branch has gone back or aside";

/** A line for the log about a failure that needs no stack trace; null for any other. */
function plainLineOf(error: unknown, reason: string, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "fragments")}, and start it`,
		].join(" ");
	return reason === noRoom || reason === readOnly ? `layers cannot be changed: ${reason}` : null;
}

/** Tracks whether changes can be made now, from the results of the last ones. */
export type WriteHealth = ReturnType<typeof createHealth>;

/**
 * @param repository its path, for the log
 * @param log gets each failure; a repeated failure only once
 * @param onDamage runs each time that the repository is found damaged, so that a repair takes effect
 */
export function createHealth(repository: string, log: Log, onDamage: () => void) {
	let reason: string | null = null;
	let lastReported: string | null = null;
	return {
		/** Why changes cannot be made now, in a few words; null if they can. */
		get reason() {
			return reason;
		},

		/** Records a failure. @returns the error for the waiting changes */
		failed(error: unknown): StoreBusy {
			// Another process has changed the branch first: nothing is broken.
			if (error instanceof StoreBusy) return error;
			const found = reasonOf(error);
			// On a full disk, a retry of git does not always name the reason again.
			if (reason === null || found !== unknownFailure) reason = found;
			if (reason === damaged) onDamage();
			const line = plainLineOf(error, reason, repository);
			const text = line ?? String(error);
			// A lasting failure may repeat several times a second.
			if (text !== lastReported) line === null ? log.error(error) : log.warn(line);
			lastReported = text;
			const label = error instanceof NotDescendant ? movedAside : reason;
			return new StoreBusy(reason, retryAfterSeconds, label);
		},

		/** Records that a change was made. */
		recovered(): void {
			if (reason !== null) log.warn(`layers can be changed again, after: ${reason}`);
			reason = null;
			lastReported = null;
		},
	};
}
