import { GitProcess, lineAt } from "./process.ts";

/** A commit to store with git fast-import. */
export interface ImportedCommit {
	/** `name <mail> <seconds since 1970> +0000`. */
	author: string;
	committer: string;
	message: string;
	/** Files to write or, with a text of null, to remove. */
	edits: readonly { path: string; text: string | null }[];
}

/**
 * The branch of the commits inside the process. It is reset before each checkpoint, so that git writes no ref for it:
 * commits are on the disk before a ref names them.
 */
const pending = "refs/pending";

/** Characters in one piece of commands: the commands of a batch may be longer than the longest possible string. */
const pieceLength = 1 << 20;

/** A long-lived `git fast-import` that stores commits, in one pack for each group. */
export class FastImport {
	readonly #process: GitProcess<string>;

	/** @param silenceMs longest silence while an answer is awaited, in milliseconds */
	constructor(repository: string, silenceMs?: number) {
		// unpackLimit=0: each checkpoint writes a pack, which git syncs. --done: an incomplete stream changes nothing.
		// compression=1: better compression is not worth its time, since a repack replaces most objects by deltas.
		const config = ["-c", "fastimport.unpackLimit=0", "-c", "pack.compression=1"];
		const args = ["fast-import", "--quiet", "--done"] as const;
		this.#process = new GitProcess(repository, args, lineAt, silenceMs, config);
	}

	/**
	 * Makes a commit.
	 * @param from its parent; null: the last commit since `store`, or no parent if there is none
	 * @returns the id of the commit
	 * @throws {GitFailure} if the process ends
	 */
	commit(from: string | null, commit: ImportedCommit): Promise<string> {
		return this.#process.ask(commandsOf(from, commit));
	}

	/** Writes and syncs a pack of all commits since the last call. The name of its file in the folder is not synced. */
	async store(): Promise<void> {
		await this.#process.ask([`reset ${pending}\n\ncheckpoint\nprogress stored\n`]);
	}

	/** Checks that the process answers. @throws {GitTimeout} if it does not */
	async ping(): Promise<void> {
		await this.#process.ask(["progress alive\n"]);
	}

	/** Ends the process once everything is stored, so that a repack can include its packs. */
	close(): Promise<void> {
		return this.#process.close(`reset ${pending}\n\ndone\n`);
	}

	/** Ends the process immediately. Commits that are not stored are lost. */
	kill(): void {
		this.#process.kill();
	}
}

/** The commands that make one commit and ask for its id, in pieces. */
function* commandsOf(
	from: string | null,
	{ author, committer, message, edits }: ImportedCommit,
): Generator<string> {
	let piece = `commit ${pending}\nmark :1\nauthor ${author}\ncommitter ${committer}\n${data(message)}`;
	if (from !== null) piece += `from ${from}\n`;
	for (const { path, text } of edits) {
		const quoted = `"${path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
		piece += text === null ? `D ${quoted}\n` : `M 100644 inline ${quoted}\n${data(text)}`;
		if (piece.length < pieceLength) continue;
		yield piece;
		piece = "";
	}
	yield `${piece}\nget-mark :1\n`;
}

/** The length in bytes, then the bytes (git-fast-import(1), "data"). */
function data(text: string): string {
	return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
