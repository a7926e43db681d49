import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { GitFailure, GitKilled, GitTimeout, killGroup, ordinarySilenceMs, startGit } from "./run.ts";

/**
 * Reads what git prints at a place.
 * @returns what it says, and where that ends; where it is not whole yet, how many bytes of `data` there have to be
 */
export type ReadAnswer<T> = (data: Buffer, start: number) => { answer: T; end: number } | { needed: number };

/** Reads a line. */
export const lineAt: ReadAnswer<string> = (data, start) => {
	const end = data.indexOf("\n", start);
	return end < 0
		? { needed: data.length + 1 }
		: { answer: data.toString("latin1", start, end), end: end + 1 };
};

/** What git prints, in answers as they become whole. */
export class Answers<T> {
	readonly #read: ReadAnswer<T>;
	#chunks: Buffer[] = [];
	#bytes = 0;
	/** Bytes that have to be there before the next look at what has come. */
	#neededBytes = 1;

	constructor(read: ReadAnswer<T>) {
		this.#read = read;
	}

	/** The answers that are whole with what has come now; they may share its memory. */
	take(data: Buffer): T[] {
		this.#chunks.push(data);
		this.#bytes += data.length;
		if (this.#bytes < this.#neededBytes) return [];
		const whole = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
		const answers: T[] = [];
		let start = 0;
		let next = this.#read(whole, start);
		for (; "end" in next; next = this.#read(whole, start)) {
			answers.push(next.answer);
			start = next.end;
		}
		const rest = whole.subarray(start);
		this.#chunks = rest.length > 0 ? [rest] : [];
		this.#bytes = rest.length;
		this.#neededBytes = next.needed - start;
		return answers;
	}
}

interface Waiting<T> {
	isAnswer: (said: T) => boolean;
	resolve: (answer: T) => void;
	reject: (error: Error) => void;
}

/**
 * A long-lived git process that answers over its pipes, in the order in which it was asked. One that is silent while an
 * answer is awaited is ended: otherwise a stopped process, or one that waits for a disk, would block all changes.
 */
export class GitProcess<T> {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #name: string;
	readonly #answers: Answers<T>;
	/** Fires once the process was silent for too long; that is a fault only while an answer is awaited. */
	readonly #silence: NodeJS.Timeout;
	/** When the timer was last set, by the monotonic clock: Node may call one that was set again a moment ago. */
	#heardMs = performance.now();
	#waiting: Waiting<T>[] = [];
	#ended: Error | null = null;

	/**
	 * @param args the command; its first word names it in errors
	 * @param read reads what it answers
	 * @param silenceMs longest time without output or input while an answer is awaited, in milliseconds
	 * @param config arguments before the command
	 * @throws {GitFailure} where it cannot be started
	 */
	constructor(
		repository: string,
		args: readonly [name: string, ...string[]],
		read: ReadAnswer<T>,
		silenceMs = ordinarySilenceMs,
		config: readonly string[] = [],
	) {
		const [name] = args;
		this.#name = name;
		this.#answers = new Answers(read);
		this.#child = startGit(repository, [...config, ...args]);
		this.#silence = setTimeout(() => {
			const isSilent = performance.now() - this.#heardMs > silenceMs / 2;
			if (isSilent && this.#waiting.length > 0) this.kill(new GitTimeout(name, silenceMs));
		}, silenceMs).unref();
		this.#watch(this.#child);
	}

	/**
	 * Asks it. What is asked in one iteration of the event loop is written together: a write of its own for each of a
	 * hundred questions would cost more than the answers.
	 * @param isAnswer whether something that it says is the answer; what it says before is skipped
	 * @throws {GitFailure} where it has ended, or does not answer
	 */
	ask(pieces: Iterable<string>, isAnswer: (said: T) => boolean = () => true): Promise<T> {
		if (this.#ended) return Promise.reject(this.#ended);
		const { stdin } = this.#child;
		if (this.#waiting.length === 0) this.#hear();
		if (stdin.writableCorked === 0) {
			stdin.cork();
			setImmediate(() => stdin.uncork());
		}
		return new Promise((resolve, reject) => {
			this.#waiting.push({ isAnswer, resolve, reject });
			for (const piece of pieces) stdin.write(piece, () => this.#hear());
		});
	}

	/** Ends it after everything that was asked for and a last command; waits for its end. */
	async close(last = ""): Promise<void> {
		if (this.#ended) return;
		this.#hear();
		const end = new Promise<void>((resolve) => {
			this.#waiting.push({ isAnswer: () => false, resolve: () => undefined, reject: () => resolve() });
		});
		this.#child.stdin.end(last);
		await end;
	}

	/** Ends it at once. @param error what those who wait get */
	kill(error: Error = new GitFailure(`git ${this.#name}: was ended`)): void {
		if (this.#ended) return;
		killGroup(this.#child);
		this.#end(error);
	}

	#watch(child: ChildProcessWithoutNullStreams): void {
		let complaint = "";
		child.stderr.on("data", (data: Buffer) => {
			complaint = (complaint + data).slice(-4000);
		});
		child.stdin.on("error", () => undefined);
		child.stdout.on("data", (data: Buffer) => {
			this.#hear();
			for (const said of this.#answers.take(data))
				if (this.#waiting[0]?.isAnswer(said)) this.#waiting.shift()?.resolve(said);
		});
		child.on("error", (error) => this.#end(new GitFailure(`git ${this.#name}: ${error.message}`)));
		child.on("close", (code, signal) => {
			if (signal) return this.#end(new GitKilled(`git ${this.#name} was ended by ${signal}`));
			this.#end(new GitFailure(`git ${this.#name} ended: ${complaint.trim() || `with ${code}`}`));
		});
	}

	/** Notes a sign of life. */
	#hear(): void {
		this.#heardMs = performance.now();
		this.#silence.refresh();
	}

	#end(error: Error): void {
		if (this.#ended) return;
		this.#ended = error;
		clearTimeout(this.#silence);
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}
}
