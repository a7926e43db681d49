import { dirname, join } from "node:path";
import { type Text, type TextCode, textIn, textOf } from "../../registry/texts.ts";
import type { Log } from "../store.ts";
import { StoreBusy } from "../store.ts";
import { DiskTimeout } from "./base.ts";
import { GitDamage, GitFailure, GitTimeout, NotDescendant } from "./commands/run.ts";

const retryAfterSeconds = 5;

/** Messages of the system and of git, each with the reason that a publisher gets. */
const reasons: readonly [pattern: RegExp, reason: TextCode][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace/, "disk-full"],
	[/EROFS|Read-only file system|read-only file system/, "disk-read-only"],
	[/EMFILE|ENFILE|could not be started/, "git-start"],
	[/EACCES|EPERM|Permission denied/, "not-writable"],
	[
		/ is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|[Nn]ot a valid (object|commit)|bad object|not a tree object|not a git repository|bad config/,
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
	const [, reason] = reasons.find(([pattern]) => pattern.test(String(error))) ?? [];
	return textOf(reason ?? (error instanceof GitFailure ? "git-failed" : "unwritten"));
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
	return isOfDisk(cause) ? textIn("en", cause) : null;
}

/** A line for the log about a failure that needs no stack trace; null for any other. */
function plainLineOf(error: unknown, cause: Text, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "dist.served")}, and start it`,
		].join(" ");
	return isOfDisk(cause) ? `layers cannot be changed: ${textIn("en", cause)}` : null;
}

/** Tracks whether changes can be made now, from the results of the last ones. */
export type WriteHealth = ReturnType<typeof createHealth>;

/** @param log gets each failure; a repeated failure only once */
export function createHealth(repository: string, log: Log) {
	let cause: Text | null = null;
	let lastReported = "";
	return {
		/** Why changes cannot be made now, in a few English words; null if they can. */
		get reason() {
			return cause && textIn("en", cause);
		},

		/** Records a failure. @returns the error for the waiting changes */
		failed(error: unknown): StoreBusy {
			// Another process has changed the branch first: nothing is broken.
			if (error instanceof StoreBusy) return error;
			const next = causeOf(error);
			// On a full disk, a retry of git does not always name the reason again.
			if (cause === null || next.code !== "git-failed") cause = next;
			const line = plainLineOf(error, cause, repository);
			const text = line ?? String(error);
			// A lasting failure may repeat several times a second.
			if (text !== lastReported) line === null ? log.error(error) : log.warn(line);
			lastReported = text;
			// The reason differs each time, and a label of the metrics must not.
			const label =
				error instanceof NotDescendant ? "the branch has gone back or aside" : textIn("en", cause);
			return new StoreBusy(cause, retryAfterSeconds, label);
		},

		recovered(): void {
			if (cause !== null) log.warn(`layers can be changed again, after: ${textIn("en", cause)}`);
			cause = null;
			lastReported = "";
		},
	};
}
