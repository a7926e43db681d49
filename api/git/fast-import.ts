import { authorMail, commitMessage, type Edit, type Meta } from "../store.ts";
import { GitProcess } from "./process.ts";
import { ordinarySilenceMs } from "./run.ts";

/** One commit to write. */
export interface NewCommit {
	edits: Edit[];
	meta: Meta;
	/** Time of the commit itself, in milliseconds since 1970. */
	committed: number;
}

/** Name of the service in what it commits by itself. */
export const serviceName = "fragment-publisher";

/** The committer of every commit that the service makes, and of no other. */
export const serviceIdentity = `${serviceName} <${authorMail(serviceName)}>`;

function person(name: string, time: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(time / 1000)} +0000`;
}

/** `data` of git fast-import: the length in bytes, then the bytes. */
function data(text: string): string {
	return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function editLines(edit: Edit): string {
	return edit.text === null ? `D ${edit.path}\n` : `M 100644 inline ${edit.path}\n${data(edit.text)}`;
}

/** Characters that are handed over at once: the texts of a batch together may be longer than a text can be. */
const pieceLength = 1 << 20;

/** The commands of git fast-import that make one commit on `branch` and ask for its id, in pieces. */
function* commitCommands(branch: string, from: string | null, commit: NewCommit): Generator<string> {
	const { meta, committed, edits } = commit;
	let piece = `commit refs/heads/${branch}\nmark :1\n`;
	piece += `author ${person(meta.author, meta.time)}\ncommitter ${person(serviceName, committed)}\n`;
	piece += data(commitMessage(meta));
	if (from !== null) piece += `from ${from}\n`;
	for (const edit of edits) {
		piece += editLines(edit);
		if (piece.length < pieceLength) continue;
		yield piece;
		piece = "";
	}
	yield `${piece}\nget-mark :1\n`;
}

/** Somebody who waits for one line. */
interface Waiting {
	resolve: (line: string) => void;
	reject: (error: Error) => void;
}

/**
 * One `git fast-import` that writes commits to one branch. What it has written is durable and on the branch after
 * a checkpoint, unless somebody else has moved the branch: it then leaves the branch alone.
 */
export class FastImport {
	readonly #process: GitProcess;
	readonly #branch: string;
	/** The commit that the next one is built on, where it is not the last one written here. */
	#from: string | null;
	#waiting: Waiting[] = [];
	#partial = "";
	#ended: Error | null = null;
	#commits = 0;
	#bytes = 0;

	/** @param tip the commit to build on, or null for the first commit of the branch */
	constructor(repository: string, branch: string, tip: string | null, silenceMs = ordinarySilenceMs) {
		this.#branch = branch;
		this.#from = tip;
		// With unpackLimit 0 each checkpoint leaves a pack that was synced to disk; --done: a cut stream changes nothing.
		// Little compression: a repack reuses what it finds, and mostly finds deltas.
		const config = ["-c", "fastimport.unpackLimit=0", "-c", "pack.compression=1"];
		const args = [...config, "fast-import", "--quiet", "--done"];
		this.#process = new GitProcess(repository, args, "fast-import", {
			take: (data) => this.#take(data.toString("latin1")),
			ended: (error) => this.#fail(error),
			silenceMs,
		});
	}

	/** Number of commits that were written, and the bytes that they took to say. */
	get written(): { commits: number; bytes: number } {
		return { commits: this.#commits, bytes: this.#bytes };
	}

	/** Writes one commit on top of the last; its id comes before the next checkpoint's end. */
	commit(commit: NewCommit): Promise<string> {
		const commands = commitCommands(this.#branch, this.#from, commit);
		this.#from = null;
		this.#commits += 1;
		return this.#ask(commands);
	}

	/** Makes everything written so far durable, and moves the branch unless somebody else has. */
	async checkpoint(): Promise<void> {
		await this.#ask(["checkpoint\nprogress checked\n"]);
	}

	/** Asks for a sign of life. @throws {GitTimeout} where there is none */
	async ping(): Promise<void> {
		await this.#ask(["progress alive\n"]);
	}

	/** Ends the process at once; what has not reached a checkpoint is gone. */
	kill(): void {
		this.#process.kill();
	}

	/** Ends the process after everything written; the repository may then be repacked. */
	async close(): Promise<void> {
		await this.#process.close("done\n");
	}

	#ask(commands: Iterable<string>): Promise<string> {
		if (this.#ended) return Promise.reject(this.#ended);
		return new Promise((resolve, reject) => {
			this.#waiting.push({ resolve, reject });
			this.#process.isAwaited = true;
			for (const piece of commands) {
				this.#bytes += piece.length;
				this.#process.write(piece);
			}
		});
	}

	#fail(error: Error): void {
		this.#ended = error;
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}

	#take(text: string): void {
		const lines = (this.#partial + text).split("\n");
		this.#partial = lines.pop() ?? "";
		for (const line of lines) this.#waiting.shift()?.resolve(line);
		if (this.#waiting.length === 0) this.#process.isAwaited = false;
	}
}

/** Makes one commit on a branch that is written seldom. @returns its id; the branch has it unless others moved it */
export async function commitOnce(
	repository: string,
	branch: string,
	tip: string | null,
	commit: NewCommit,
	silenceMs?: number,
): Promise<string> {
	const writer = new FastImport(repository, branch, tip, silenceMs);
	const [id] = await Promise.all([writer.commit(commit), writer.checkpoint(), writer.close()]);
	return id;
}
