import { dirname, join } from "node:path";
import { type Text, type TextCode, textIn, textOf } from "../../registry/texts.ts";
import type { Log } from "../log.ts";
import { StoreBusy } from "../store.ts";
import { DiskTimeout } from "./base.ts";
import { GitDamage, GitFailure, GitTimeout, NotDescendant } from "./commands/run.ts";
import { FileDamaged } from "./damage.ts";

/** Seconds after which a publisher may retry after a failure. */
const retryAfterSeconds = 5;

/** Messages of the system and of git, each with the reason that a publisher gets. */
const reasons: readonly [pattern: RegExp, reason: TextCode][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace/, "disk-full"],
	[/EROFS|Read-only file system|read-only file system/, "disk-read-only"],
	[/EMFILE|ENFILE|could not be started/, "git-start"],
	[/EACCES|EPERM|Permission denied/, "not-writable"],
	[
		/ is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|not a valid object|[Nn]ot a valid commit|bad object|not a tree object/,
		"damaged",
	],
];

/** Why something failed, in a few words without a path. */
function causeOf(error: unknown): Text {
	if (error instanceof StoreBusy) return error.text;
	if (error instanceof NotDescendant)
		return textOf("branch-aside", error.found.slice(0, 12), error.served.slice(0, 12));
	if (error instanceof DiskTimeout) return textOf("disk-silent");
	if (error instanceof GitTimeout) return textOf("git-silent");
	if (error instanceof GitDamage) return textOf("damaged");
	const text = String(error);
	const known = reasons.find(([pattern]) => pattern.test(text));
	if (known) return textOf(known[1]);
	return textOf(error instanceof GitFailure ? "git-failed" : "unwritten");
}

/** Why something failed, in a few English words without a path. */
export function reasonOf(error: unknown): string {
	return textIn("en", causeOf(error));
}

function isOfDisk({ code }: Text): boolean {
	return code === "disk-full" || code === "disk-read-only";
}

/** Why the disk cannot be written, in a few words; null for any other failure. */
export function diskReasonOf(error: unknown): string | null {
	const cause = causeOf(error);
	if (error instanceof FileDamaged) return error.message;
	return isOfDisk(cause) ? textIn("en", cause) : null;
}

/** The labels of failures whose reason differs each time. */
const movedAside = "the branch has gone back or aside";

/** A line for the log about a failure that needs no stack trace; null for any other. */
function plainLineOf(error: unknown, cause: Text, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "fragments")}, and start it`,
		].join(" ");
	if (error instanceof FileDamaged) return error.message;
	return isOfDisk(cause) ? `layers cannot be changed: ${textIn("en", cause)}` : null;
}

/** Tracks whether changes can be made now, from the results of the last ones. */
export type WriteHealth = ReturnType<typeof createHealth>;

/**
 * @param repository its path, for the log
 * @param log gets each failure; a repeated failure only once
 * @param onDamage runs each time that the repository is found damaged, so that a repair takes effect
 */
export function createHealth(repository: string, log: Log, onDamage: () => void) {
	let cause: Text | null = null;
	let lastReported: string | null = null;
	return {
		/** Why changes cannot be made now; null if they can. */
		get cause() {
			return cause;
		},

		/** The same in a few English words. */
		get reason() {
			return cause && textIn("en", cause);
		},

		/** Records a failure. @returns the error for the waiting changes */
		failed(error: unknown): StoreBusy {
			// Another process has changed the branch first: nothing is broken.
			if (error instanceof StoreBusy) return error;
			const found = causeOf(error);
			// On a full disk, a retry of git does not always name the reason again.
			if (cause === null || found.code !== "git-failed") cause = found;
			if (cause.code === "damaged") onDamage();
			const line = plainLineOf(error, cause, repository);
			const text = line ?? String(error);
			// A lasting failure may repeat several times a second.
			if (text !== lastReported) line === null ? log.error(error) : log.warn(line);
			lastReported = text;
			const label = error instanceof NotDescendant ? movedAside : textIn("en", cause);
			return new StoreBusy(cause, retryAfterSeconds, label);
		},

		/** Records that a change was made. */
		recovered(): void {
			if (cause !== null) log.warn(`layers can be changed again, after: ${textIn("en", cause)}`);
			cause = null;
			lastReported = null;
		},
	};
}
