import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Text, type TextCode, textIn, textOf } from "../../registry/texts.ts";
import { type Log, StoreBusy } from "../store.ts";
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

export const branchName = "main";

/** Limits of a local store. Times are in milliseconds, by the monotonic clock. */
export const defaultLimits = {
	/** Longest time of a git process that writes a group, longest silence of one that reads, and longest sync. */
	silenceMs: 15_000,
	maintenanceMs: 600_000,
	/** How long git waits for the lock of a ref. */
	lockMs: 2_000,
	pollMs: 200,
	probeMs: 5_000,
	/** From so many packs on, an idle store repacks, and a busy one from four times as many on. */
	maxPacks: 50,
	/** A store is idle if its last change is so long ago. */
	restMs: 3_000,
};

export type StoreLimits = typeof defaultLimits;

/** Operations of git whose time is measured: making commits durable, publishing a push, maintenance. */
export type GitOperation = "checkpoint" | "push" | "repack";

export interface StoreBase {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	/** Gets repairs, pushed commits, and errors that no answer shows. */
	log: Log;
	now: () => number;
	/** Syncs a file, or the names in a folder, to the disk. @throws {DiskTimeout} if that takes too long */
	sync: (path: string) => Promise<void>;
	limits: StoreLimits;
	measure: (operation: GitOperation, ms: number) => void;
}

export async function measured<T>({ measure }: StoreBase, operation: GitOperation, task: () => Promise<T>) {
	const start = performance.now();
	const result = await task();
	measure(operation, performance.now() - start);
	return result;
}

/** Errors of folders that cannot be synced by themselves: network file systems, Windows, a parent of another user. */
const unsupported = ["EACCES", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Syncs a file, or the names in a folder, to the disk. Git syncs the files that it writes, but not the folders in which
 * it renames them. After a power cut, such a file may be missing (fsync(2)).
 */
export async function syncPath(path: string): Promise<void> {
	try {
		await using file = await open(path, "r");
		await file.sync();
	} catch (error) {
		if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}

export class DiskTimeout extends Error {
	override name = "DiskTimeout";
}

/** Returns a function that syncs a path. @throws {DiskTimeout} if that takes longer than `maxMs` milliseconds */
export function syncWithin(maxMs: number, sync: StoreBase["sync"]): StoreBase["sync"] {
	return (path) =>
		new Promise((resolve, reject) => {
			const late = new DiskTimeout(`${path}: was not on the disk within ${maxMs / 1000} s`);
			const timer = setTimeout(reject, maxMs, late);
			sync(path)
				.then(resolve, reject)
				.finally(() => clearTimeout(timer));
		});
}
