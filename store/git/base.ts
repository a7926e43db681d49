import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BusyCode, type Log, StoreBusy } from "../store.ts";
import { GitDamage, GitFailure, GitTimeout, NotDescendant } from "./commands/run.ts";

const retryAfterSeconds = 5;

/** `reason`: a few English words without a path, for the log and `/readyz`. */
type Cause = readonly [code: BusyCode, reason: string];

const fullDisk: Cause = ["disk-full", "there is no room on the disk"];
const readOnlyDisk: Cause = ["read-only", "the disk is read-only"];
const damaged: Cause = ["read-only", "the repository is damaged"];
const gitFailed: Cause = ["busy", "git failed"];

/** By messages of the system and of git. */
const causes: readonly [pattern: RegExp, cause: Cause][] = [
	[/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace/, fullDisk],
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

/** Why something failed, in a few English words without a path. */
export function reasonOf(error: unknown): string {
	return causeOf(error)[1];
}

function isOfDisk(cause: Cause): boolean {
	return cause === fullDisk || cause === readOnlyDisk;
}

/** Why the disk cannot be written, in a few words; null for any other failure. */
export function diskReasonOf(error: unknown): string | null {
	const cause = causeOf(error);
	return isOfDisk(cause) ? cause[1] : null;
}

/** A line for the log about a failure that needs no stack trace; null for any other. */
function plainLineOf(error: unknown, cause: Cause, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "dist.served")}, and start it`,
		].join(" ");
	return isOfDisk(cause) ? `layers cannot be changed: ${cause[1]}` : null;
}

/** Tracks whether changes can be made now, from the results of the last ones. */
export type WriteHealth = ReturnType<typeof createHealth>;

/** @param log gets each failure; a repeated failure only once */
export function createHealth(repository: string, log: Log) {
	let cause: Cause | null = null;
	let lastReported = "";
	return {
		/** Why changes cannot be made now, in a few English words; null if they can. */
		get reason() {
			return cause?.[1];
		},

		/** Records a failure. @returns the error for the waiting changes */
		failed(error: unknown): StoreBusy {
			// A single change cannot be made: nothing is broken.
			if (error instanceof StoreBusy) {
				if (error.code === "read-only") log.warn(error.message);
				return error;
			}
			const next = causeOf(error);
			// On a full disk, a retry of git does not always name the reason again.
			if (cause === null || next !== gitFailed) cause = next;
			const line = plainLineOf(error, cause, repository);
			const text = line ?? String(error);
			// A lasting failure may repeat several times a second.
			if (text !== lastReported) line === null ? log.error(error) : log.warn(line);
			lastReported = text;
			return new StoreBusy(cause[0], retryAfterSeconds, cause[1]);
		},

		recovered(): void {
			if (cause !== null) log.warn(`layers can be changed again, after: ${cause[1]}`);
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
