import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { authorMail, commitMessage, type Edit, type Meta } from "../store.ts";
import { startGit } from "./run.ts";

/** One commit to write. */
export interface NewCommit {
	edits: Edit[];
	meta: Meta;
	/** Time of the commit itself, in milliseconds since 1970. */
	committed: number;
}

/** Name of the service in what it commits by itself. */
export const serviceName = "fragment-publisher";

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

/** The commands of git fast-import that make one commit on `branch` and ask for its id. */
function commitCommands(branch: string, from: string | null, commit: NewCommit): string {
	const { meta, committed, edits } = commit;
	return [
		`commit refs/heads/${branch}\nmark :1\n`,
		`author ${person(meta.author, meta.time)}\ncommitter ${person(serviceName, committed)}\n`,
		data(commitMessage(meta)),
		from === null ? "" : `from ${from}\n`,
		...edits.map(editLines),
		"\nget-mark :1\n",
	].join("");
}

/**
 * One `git fast-import` that writes commits to one branch. What it has written is durable and on the branch after
 * a checkpoint, unless somebody else has moved the branch: it then leaves the branch alone.
 */
export class FastImport {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #branch: string;
	/** The commit that the next one is built on, where it is not the last one written here. */
	#from: string | null;
	#lines: ((line: string) => void)[] = [];
	#rejects: ((error: Error) => void)[] = [];
	#partial = "";
	#ended: Error | null = null;
	readonly #closed: Promise<void>;

	/** @param tip the commit to build on, or null for the first commit of the branch */
	constructor(repository: string, branch: string, tip: string | null) {
		this.#branch = branch;
		this.#from = tip;
		// With unpackLimit 0 each checkpoint leaves a pack that was synced to disk; --done: a cut stream changes nothing.
		// Little compression: a repack reuses what it finds, and mostly finds deltas.
		const config = ["-c", "fastimport.unpackLimit=0", "-c", "pack.compression=1"];
		const args = [...config, "fast-import", "--quiet", "--done"];
		this.#child = startGit(repository, args);
		this.#child.stdout.on("data", (chunk: Buffer) => this.#take(chunk.toString("latin1")));
		this.#child.stdin.on("error", () => undefined);
		let complaint = "";
		this.#child.stderr.on("data", (chunk: Buffer) => {
			complaint = (complaint + chunk).slice(-4000);
		});
		this.#closed = new Promise((resolve) => {
			const end = (error: Error) => {
				this.#ended = error;
				for (const reject of this.#rejects) reject(error);
				resolve();
			};
			this.#child.on("error", end);
			this.#child.on("close", () => end(new Error(`git fast-import ended: ${complaint.trim()}`)));
		});
	}

	/** Writes one commit on top of the last; its id comes before the next checkpoint's end. */
	commit(commit: NewCommit): Promise<string> {
		const commands = commitCommands(this.#branch, this.#from, commit);
		this.#from = null;
		return this.#ask(commands);
	}

	/** Makes everything written so far durable, and moves the branch unless somebody else has. */
	async checkpoint(): Promise<void> {
		await this.#ask("checkpoint\nprogress checked\n");
	}

	/** Ends the process after everything written; the repository may then be repacked. */
	async close(): Promise<void> {
		if (!this.#ended) this.#child.stdin.end("done\n");
		await this.#closed;
	}

	#ask(commands: string): Promise<string> {
		if (this.#ended) return Promise.reject(this.#ended);
		return new Promise((resolve, reject) => {
			this.#lines.push(resolve);
			this.#rejects.push(reject);
			this.#child.stdin.write(commands);
		});
	}

	#take(text: string): void {
		const lines = (this.#partial + text).split("\n");
		this.#partial = lines.pop() ?? "";
		for (const line of lines) {
			this.#rejects.shift();
			this.#lines.shift()?.(line);
		}
	}
}

/** Makes one commit on a branch that is written seldom. @returns its id; the branch has it unless others moved it */
export async function commitOnce(
	repository: string,
	branch: string,
	tip: string | null,
	commit: NewCommit,
): Promise<string> {
	const writer = new FastImport(repository, branch, tip);
	const [id] = await Promise.all([writer.commit(commit), writer.checkpoint(), writer.close()]);
	return id;
}
