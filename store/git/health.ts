import { dirname, join } from "node:path";
import { type BusyCode, type Log, StoreBusy } from "../store.ts";
import { NotDescendant } from "./commands/run.ts";

const retryAfterSeconds = 5;

/** `reason`: a few English words without a path. */
type Cause = readonly [code: BusyCode, reason: string];

const gitFailed: Cause = ["busy", "git failed"];

/** Of errors as texts, which begin with the error's name. */
const causes: readonly [pattern: RegExp, cause: Cause][] = [
	[/^DiskTimeout/, ["busy", "the disk does not answer"]],
	[/^GitTimeout/, ["busy", "git does not answer"]],
	[
		/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace|failed to write new configuration file/,
		["disk-full", "there is no room on the disk"],
	],
	[/EROFS|Read-only file system|read-only file system/, ["read-only", "the disk is read-only"]],
	[
		/^GitDamage| is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|[Nn]ot a valid (object|commit)|bad object|not a tree object|not a git repository|bad config/,
		["read-only", "the repository is damaged"],
	],
	[/^Git|^BranchHeld/, gitFailed],
];

function causeOf(error: unknown): Cause {
	if (error instanceof NotDescendant) return ["read-only", error.message];
	const [, cause] = causes.find(([pattern]) => pattern.test(String(error))) ?? [];
	return cause ?? ["read-only", "the repository cannot be written"];
}

/** @returns null if the disk is neither full nor read-only */
export function diskReasonOf(error: unknown): string | null {
	const [, reason] = causeOf(error);
	return /no room|disk is read-only/.test(reason) ? reason : null;
}

function lineOf(error: unknown, repository: string): string | null {
	if (error instanceof NotDescendant)
		return [
			`${repository}: ${error.message}. What was served stays served, and nothing is written.`,
			`"git -C ${repository} update-ref refs/heads/main ${error.served}" goes back to it. To serve the branch as it is, end the`,
			`service, remove ${join(dirname(repository), "dist.served")}, and start it`,
		].join(" ");
	const disk = diskReasonOf(error);
	return disk === null ? null : `layers cannot be changed: ${disk}`;
}

export type WriteHealth = ReturnType<typeof createHealth>;

/**
 * Why changes cannot be made. A repeated failure is logged once: it may come several times a second.
 * @param failureMs how long a failure is named if no change succeeds meanwhile
 */
export function createHealth(repository: string, log: Log, failureMs: number) {
	let logged = "";
	let failedMs = 0;
	const health = {
		/** Of a failure after which no change has succeeded. */
		cause: null as Cause | null,
		/** Null if the last change or look at the branch did not fail, or long ago. */
		reason: () => (health.cause && performance.now() - failedMs < failureMs ? health.cause[1] : null),
		failed(error: unknown): StoreBusy {
			// A single change cannot be made: nothing is broken.
			if (error instanceof StoreBusy) return error;
			const next = causeOf(error);
			const line = lineOf(error, repository);
			const text = line ?? String(error);
			if (text !== logged) line === null ? log.error(error) : log.warn(line);
			// On a full disk, a retry of git does not always name the reason again.
			const cause = health.cause && health.reason() !== null && next === gitFailed ? health.cause : next;
			health.cause = cause;
			[logged, failedMs] = [text, performance.now()];
			return new StoreBusy(cause[0], retryAfterSeconds, cause[1]);
		},
		recovered(): void {
			log.warn(`layers can be changed again, after: ${health.cause?.[1]}`);
			[health.cause, logged] = [null, ""];
		},
	};
	return health;
}
