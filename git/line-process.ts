import { GitProcess } from "./process.ts";

interface Waiting {
	/** The line that answers it; null: the next line. */
	answer: string | null;
	resolve: (line: string) => void;
	reject: (error: Error) => void;
}

/** A long-lived git process that answers in lines, in the order in which it was asked. */
export class LineProcess {
	readonly #process: GitProcess;
	#waiting: Waiting[] = [];
	#partial = "";
	#ended: Error | null = null;

	/**
	 * @param args the command; its first word names it in errors
	 * @param silenceMs longest silence while an answer is awaited, in milliseconds
	 * @param failed makes what callers get of the error with which the process ends
	 */
	constructor(
		repository: string,
		args: readonly [command: string, ...string[]],
		silenceMs: number,
		{ config = [], failed = (error) => error }: { config?: string[]; failed?: (error: Error) => Error } = {},
	) {
		this.#process = new GitProcess(repository, [...config, ...args], args[0], {
			take: (data) => this.#take(data.toString("latin1")),
			ended: (error) => this.#fail(failed(error)),
			silenceMs,
		});
	}

	/**
	 * Writes commands.
	 * @param answer the line that answers them; lines before it are skipped. Null: the next line
	 * @returns the line that answers
	 * @throws {GitFailure} where the process has ended, or does not answer
	 */
	ask(commands: Iterable<string>, answer: string | null = null): Promise<string> {
		if (this.#ended) return Promise.reject(this.#ended);
		return new Promise((resolve, reject) => {
			this.#waiting.push({ answer, resolve, reject });
			this.#process.isAwaited = true;
			for (const piece of commands) this.#process.write(piece);
		});
	}

	/** Ends it after everything asked for, and a last command. */
	close(last = ""): Promise<void> {
		return this.#process.close(last);
	}

	/** Ends it at once. */
	kill(): void {
		this.#process.kill();
	}

	#fail(error: Error): void {
		this.#ended = error;
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}

	#take(text: string): void {
		const lines = (this.#partial + text).split("\n");
		this.#partial = lines.pop() ?? "";
		for (const line of lines) {
			const { answer = "" } = this.#waiting[0] ?? {};
			if (answer === null || answer === line) this.#waiting.shift()?.resolve(line);
		}
		if (this.#waiting.length === 0) this.#process.isAwaited = false;
	}
}
