import { LineProcess } from "./line-process.ts";
import { GitFailure, ordinarySilenceMs } from "./run.ts";

/** A branch is at another commit than expected, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	constructor(message: string) {
		super(message);
		this.name = "BranchHeld";
	}
}

/** A long-lived `git update-ref --stdin`. It ends with the first transaction that fails. */
export class RefUpdates {
	readonly #process: LineProcess;
	#transactions = 0;

	/** @param silenceMs longest silence while an answer is awaited, in milliseconds */
	constructor(repository: string, silenceMs = ordinarySilenceMs) {
		// Git says the same of a branch that has moved (files_transaction_prepare of git's refs/files-backend.c).
		const failed = (error: Error) =>
			/cannot lock ref/.test(error.message) ? new BranchHeld(error.message) : error;
		this.#process = new LineProcess(repository, ["update-ref", "--stdin"], silenceMs, { failed });
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

	async #ask(text: string, answer: string): Promise<void> {
		this.#transactions += 1;
		await this.#process.ask([text], answer);
	}
}
