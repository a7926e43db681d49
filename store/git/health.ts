import { type BusyCode, StoreBusy } from "../store.ts";
import type { StoreBase } from "./base.ts";

const retryAfterSeconds = 5;

interface Cause {
	code: BusyCode;
	/** In English, without a path. */
	reason: string;
}

const gitFailed: Cause = { code: "busy", reason: "git failed" };

/** Patterns match `String(error)`. */
const causes: readonly [pattern: RegExp, cause: Cause][] = [
	[/^DiskTimeout/, { code: "busy", reason: "the disk does not answer" }],
	[/^GitTimeout/, { code: "busy", reason: "git does not answer" }],
	[
		/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Out of diskspace|failed to write new configuration file/,
		{ code: "disk-full", reason: "there is no room on the disk" },
	],
	[/EROFS|[Rr]ead-only file system/, { code: "read-only", reason: "the disk is read-only" }],
	[
		/[Pp]ermission denied|insufficient permission/,
		{ code: "read-only", reason: "the repository has files that this user may not write" },
	],
	[
		/^GitDamage| is corrupt|does not match index|unable to (unpack|read)|[Cc]an't load|[Nn]ot a valid (object|commit)|bad object|not a tree object|not a git repository|bad config/,
		{ code: "read-only", reason: "the repository is damaged" },
	],
	[/^Git|^BranchHeld/, gitFailed],
];

const notWritable: Cause = { code: "read-only", reason: "the repository cannot be written" };

function causeOf(error: unknown): Cause {
	const text = String(error);
	return causes.find(([pattern]) => pattern.test(text))?.[1] ?? notWritable;
}

/** @returns null if the disk is neither full nor read-only */
export function diskReasonOf(error: unknown): string | null {
	const { reason } = causeOf(error);
	return /no room|disk is read-only/.test(reason) ? reason : null;
}

export class WriteHealth {
	#logged = "";
	#failedMs = 0;
	/** Null after a successful change. */
	cause: Cause | null = null;

	constructor(readonly base: StoreBase) {}

	/** Null also some time after the last failure. */
	get reason(): string | null {
		return performance.now() - this.#failedMs < this.base.limits.failureMs
			? (this.cause?.reason ?? null)
			: null;
	}

	/** Logs a repeated failure once: it may come several times a second. */
	noteFailure(error: unknown): StoreBusy {
		// It concerns one change only.
		if (error instanceof StoreBusy) return error;
		const { log } = this.base;
		const disk = diskReasonOf(error);
		const text = disk === null ? String(error) : `layers cannot be changed: ${disk}`;
		const isRepeated = text === this.#logged;
		if (!isRepeated && disk === null) log.error(error);
		else if (!isRepeated) log.warn(text);
		const cause = causeOf(error);
		// On a full disk, git does not always give the reason again.
		if (cause !== gitFailed || this.reason === null) this.cause = cause;
		this.#logged = text;
		this.#failedMs = performance.now();
		const { code, reason } = this.cause ?? cause;
		return new StoreBusy(code, retryAfterSeconds, reason);
	}

	noteRecovery(): void {
		this.base.log.warn(`layers can be changed again, after: ${this.cause?.reason}`);
		this.cause = null;
		this.#logged = "";
	}
}
