import { defaultSilenceMs, GitFailure, GitTimeout, startGit } from "./run.ts";

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

/** Returns a function that adds output of git, and returns the answers that are complete now: perhaps views of it. */
export function answersFrom<T>(read: ReadAnswer<T>): (data: Buffer) => T[] {
	let chunks: Buffer[] = [];
	let bytes = 0;
	/** Number of bytes before the next attempt to read an answer. */
	let neededBytes = 1;
	return (data) => {
		chunks.push(data);
		bytes += data.length;
		if (bytes < neededBytes) return [];
		const whole = chunks.length === 1 ? data : Buffer.concat(chunks);
		const answers: T[] = [];
		let start = 0;
		let next = read(whole, start);
		for (; "end" in next; next = read(whole, start)) {
			answers.push(next.answer);
			start = next.end;
		}
		const rest = whole.subarray(start);
		chunks = rest.length > 0 ? [rest] : [];
		bytes = rest.length;
		neededBytes = next.needed - start;
		return answers;
	};
}

/** A long-lived git process that answers over its pipes, in the order of the questions. */
export type GitProcess<T> = ReturnType<typeof startProcess<T>>;

/**
 * Starts a long-lived git process. If it is silent for too long while an answer is awaited, it is ended: a stopped
 * process, or one that waits for a disk, would block all changes.
 * @param args the command; errors name its first word
 * @param read reads one answer from the output
 * @param silenceMs longest time without output or input while an answer is awaited, in milliseconds
 * @param config settings for the process
 * @throws {GitFailure} if the process cannot be started
 */
export function startProcess<T>(
	repository: string,
	args: readonly string[],
	read: ReadAnswer<T>,
	silenceMs = defaultSilenceMs,
	config: readonly string[] = [],
) {
	const git = startGit(repository, args, { config });
	const answersIn = answersFrom(read);
	const failure = (what: string) => new GitFailure(`git ${args[0]}: ${what}`);
	/** The questions without an answer yet. */
	const waiting: { resolve: (answer: T) => void; reject: (error: Error) => void }[] = [];
	let silence: NodeJS.Timeout | undefined;
	const normalEnd = failure("has ended");
	let ended: Error | null = null;

	/** Restarts the timer of the silence, which runs only while an answer is awaited. */
	function watch(): void {
		clearTimeout(silence);
		if (waiting.length === 0) return;
		silence = setTimeout(() => kill(new GitTimeout(args[0] ?? "", silenceMs)), silenceMs).unref();
	}

	function add(question: (typeof waiting)[number]): void {
		waiting.push(question);
		// Further questions do not show that the process works.
		if (waiting.length === 1) watch();
	}

	function end(error: Error): void {
		ended ??= error;
		clearTimeout(silence);
		for (const { reject } of waiting.splice(0)) reject(ended);
	}

	/**
	 * Asks a question. The questions of one iteration of the event loop are written together: a hundred separate writes
	 * would take longer than the answers.
	 * @throws {GitFailure} if the process has ended, or does not answer
	 */
	function ask(pieces: Iterable<string>): Promise<T> {
		if (ended) return Promise.reject(ended);
		const { stdin } = git;
		if (stdin.writableCorked === 0) {
			stdin.cork();
			setImmediate(() => stdin.uncork());
		}
		return new Promise((resolve, reject) => {
			add({ resolve, reject });
			for (const piece of pieces) stdin.write(piece, watch);
		});
	}

	/** Ends the process after all questions and a last command, and waits for its end. @throws {GitFailure} if it fails */
	async function finish(last = ""): Promise<void> {
		if (ended) throw ended;
		const closed = new Promise<Error>((resolve) => add({ resolve: () => undefined, reject: resolve }));
		git.stdin.end(last);
		const reason = await closed;
		if (reason !== normalEnd) throw reason;
	}

	/** Ends the process immediately. @param error rejects the questions that have no answer yet */
	function kill(error: Error = failure("was ended")): void {
		if (!ended) git.kill();
		end(error);
	}

	git.stdout.on("data", (data: Buffer) => {
		for (const answer of answersIn(data)) waiting.shift()?.resolve(answer);
		watch();
	});
	void git.ended.then((reason) => end(reason ?? normalEnd));
	return { ask, finish, kill };
}
