import { GitProcess } from "./process.ts";
import { GitFailure, ordinarySilenceMs } from "./run.ts";

/** A branch is at another commit than expected, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	constructor(message: string) {
		super(message);
		this.name = "BranchHeld";
	}
}

interface Waiting {
	/** The line that answers it. */
	last: string;
	resolve: () => void;
	reject: (error: Error) => void;
}

/** A long-lived `git update-ref --stdin`. It ends with the first transaction that fails. */
export class RefUpdates {
	readonly #process: GitProcess;
	#waiting: Waiting[] = [];
	#partial = "";
	#ended: Error | null = null;
	#transactions = 0;

	/** @param silenceMs longest silence while an answer is awaited, in milliseconds */
	constructor(repository: string, silenceMs = ordinarySilenceMs) {
		this.#process = new GitProcess(repository, ["update-ref", "--stdin"], "update-ref", {
			take: (data) => this.#take(data.toString("latin1")),
			ended: (error) => this.#fail(error),
			silenceMs,
		});
	}

	/** Number of transactions that it was asked for. */
	get transactions(): number {
		return this.#transactions;
	}

	/**
	 * Compares and swaps: moves a branch, which is then on the disk but for the name of its file.
	 * @param from where it has to be now; null: it must not exist
	 * @throws {BranchHeld} where it is somewhere else, or another process holds its lock
	 * @throws {GitTimeout} where git does not answer
	 */
	move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const command = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		return this.#ask(`start\n${command}\nprepare\ncommit\n`, "commit: ok");
	}

	/** Asks for a sign of life. @throws {GitTimeout} where there is none */
	ping(): Promise<void> {
		return this.#ask("start\nabort\n", "abort: ok");
	}

	/** Ends it after everything asked for. */
	close(): Promise<void> {
		return this.#process.close();
	}

	/** Ends it at once. */
	kill(): void {
		this.#process.kill();
	}

	#ask(text: string, last: string): Promise<void> {
		if (this.#ended) return Promise.reject(this.#ended);
		this.#transactions += 1;
		return new Promise((resolve, reject) => {
			this.#waiting.push({ last, resolve, reject });
			this.#process.isAwaited = true;
			this.#process.write(text);
		});
	}

	#fail(error: Error): void {
		// Git says the same of a branch that has moved (files_transaction_prepare of git's refs/files-backend.c).
		const isHeld = /cannot lock ref/.test(error.message);
		this.#ended = isHeld ? new BranchHeld(error.message) : error;
		for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
	}

	#take(text: string): void {
		const lines = (this.#partial + text).split("\n");
		this.#partial = lines.pop() ?? "";
		for (const line of lines) if (line === this.#waiting[0]?.last) this.#waiting.shift()?.resolve();
		if (this.#waiting.length === 0) this.#process.isAwaited = false;
	}
}
