import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { defaultSilenceMs, GitFailure, GitKilled, GitTimeout, killGroup, startGit } from "./run.ts";

/**
 * Reads one answer from git's output, at an offset.
 * @returns the answer and the offset of its end; for an incomplete answer, the length that `data` has to have
 */
export type ReadAnswer<T> = (data: Buffer, start: number) => { answer: T; end: number } | { needed: number };

/** Reads a line. */
export const lineAt: ReadAnswer<string> = (data, start) => {
	const end = data.indexOf("\n", start);
	return end < 0
		? { needed: data.length + 1 }
		: { answer: data.toString("latin1", start, end), end: end + 1 };
};

/** Splits git's output into answers. */
export class Answers<T> {
	readonly #read: ReadAnswer<T>;
	#chunks: Buffer[] = [];
	#bytes = 0;
	/** Number of bytes before the next attempt to read an answer. */
	#neededBytes = 1;

	constructor(read: ReadAnswer<T>) {
		this.#read = read;
	}

	/** Adds output. @returns the answers that are complete now; they may be views of `data` */
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

/** A question without an answer yet. */
interface Waiting<T> {
	isAnswer: (printed: T) => boolean;
	resolve: (answer: T) => void;
	reject: (error: Error) => void;
}

/**
 * A long-lived git process that answers over its pipes, in the order of the questions. If the process is silent for too
 * long while an answer is awaited, it is ended: a stopped process, or one that waits for a disk, would block all changes.
 */
export class GitProcess<T> {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #name: string;
	readonly #answers: Answers<T>;
	/** Fires after a long silence, which is a fault only while an answer is awaited. */
	readonly #silence: NodeJS.Timeout;
	/** When the timer was last set, by the monotonic clock: Node may still fire a timer that was just refreshed. */
	#heardMs = performance.now();
	#waiting: Waiting<T>[] = [];
	#ended: Error | null = null;

	/**
	 * @param args the command; errors name its first word
	 * @param read reads one answer from the output
	 * @param silenceMs longest time without output or input while an answer is awaited, in milliseconds
	 * @param config arguments before the command
	 * @throws {GitFailure} if the process cannot be started
	 */
	constructor(
		repository: string,
		args: readonly [name: string, ...string[]],
		read: ReadAnswer<T>,
		silenceMs = defaultSilenceMs,
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
	 * Asks a question. The questions of one iteration of the event loop are written together: a hundred separate writes
	 * would take longer than the answers.
	 * @param isAnswer whether an output is the answer; outputs before it are skipped
	 * @throws {GitFailure} if the process has ended, or does not answer
	 */
	ask(pieces: Iterable<string>, isAnswer: (printed: T) => boolean = () => true): Promise<T> {
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

	/** Ends the process after all questions and a last command, and waits for its end. */
	async close(last = ""): Promise<void> {
		if (this.#ended) return;
		this.#hear();
		const end = new Promise<void>((resolve) => {
			this.#waiting.push({ isAnswer: () => false, resolve: () => undefined, reject: () => resolve() });
		});
		this.#child.stdin.end(last);
		await end;
	}

	/** Ends the process immediately. @param error rejects the questions that have no answer yet */
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
			for (const printed of this.#answers.take(data))
				if (this.#waiting[0]?.isAnswer(printed)) this.#waiting.shift()?.resolve(printed);
		});
		child.on("error", (error) => this.#end(new GitFailure(`git ${this.#name}: ${error.message}`)));
		child.on("close", (code, signal) => {
			if (signal) return this.#end(new GitKilled(`git ${this.#name} was ended by ${signal}`));
			this.#end(new GitFailure(`git ${this.#name} ended: ${complaint.trim() || `with ${code}`}`));
		});
	}

	/** Restarts the timer of the silence. */
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
