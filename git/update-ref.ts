import { GitProcess } from "./process.ts";
import { GitFailure, ordinarySilenceMs } from "./run.ts";

/** A branch is somewhere else than was thought, or somebody holds it. */
export class BranchHeld extends GitFailure {
	constructor(message: string) {
		super(message);
		this.name = "BranchHeld";
	}
}

/** Somebody who waits for the line that ends what he asked for. */
interface Waiting {
	last: string;
	resolve: () => void;
	reject: (error: Error) => void;
}

/**
 * A long-lived `git update-ref --stdin`: one transaction after the other. It ends where one cannot be made; the next
 * is another process's.
 */
export class RefUpdates {
	readonly #process: GitProcess;
	#waiting: Waiting[] = [];
	#partial = "";
	#ended: Error | null = null;
	#transactions = 0;

	/** @param silenceMs longest silence while somebody waits, in milliseconds */
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
	 * Moves a branch, and has that on the disk but for its folder.
	 * @param from where it has to be now; null: it must not be there
	 * @throws {BranchHeld} where it is somewhere else, or is locked by others
	 * @throws {GitTimeout} where git does not answer
	 */
	move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const step = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		return this.#ask(`start\n${step}\nprepare\ncommit\n`, "commit: ok");
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
		// "cannot lock ref" is what git says of a branch that has moved, too (files_transaction_prepare).
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
