import { GitProcess, lineAt } from "./process.ts";

/** A commit as git fast-import is given it. */
export interface ImportedCommit {
	/** `name <mail> <seconds since 1970> +0000`. */
	author: string;
	committer: string;
	message: string;
	/** Files to write or, with a text of null, to remove. */
	edits: readonly { path: string; text: string | null }[];
}

/**
 * The branch that commits are built on inside the process. It is reset before each checkpoint, so that git writes no
 * ref for it: the commits are on the disk before any ref names them.
 */
const pending = "refs/pending";

/** Characters in one piece of commands: the texts of a batch together may be longer than a text can be. */
const pieceLength = 1 << 20;

/** A long-lived `git fast-import` that stores commits, in one pack for each group. */
export class FastImport {
	readonly #process: GitProcess<string>;

	/** @param silenceMs longest silence while an answer is awaited, in milliseconds */
	constructor(repository: string, silenceMs?: number) {
		// With unpackLimit 0 each checkpoint leaves a pack that git has synced; --done: a cut stream changes nothing.
		// Little compression: a repack replaces most of it by deltas.
		const config = ["-c", "fastimport.unpackLimit=0", "-c", "pack.compression=1"];
		const args = ["fast-import", "--quiet", "--done"] as const;
		this.#process = new GitProcess(repository, args, lineAt, silenceMs, config);
	}

	/**
	 * Makes a commit on top of `from`; without it, of the last one since `store`, or the first of a repository.
	 * @returns its id
	 * @throws {GitFailure} where the process ends
	 */
	commit(from: string | null, commit: ImportedCommit): Promise<string> {
		return this.#process.ask(commandsOf(from, commit));
	}

	/** Puts the pack of everything since the last call on the disk, but for the name of its file. */
	async store(): Promise<void> {
		await this.#process.ask([`reset ${pending}\n\ncheckpoint\nprogress stored\n`]);
	}

	/** Asks for a sign of life. @throws {GitTimeout} where there is none */
	async ping(): Promise<void> {
		await this.#process.ask(["progress alive\n"]);
	}

	/** Ends the process once everything is stored: a repack then includes its packs, too. */
	close(): Promise<void> {
		return this.#process.close(`reset ${pending}\n\ndone\n`);
	}

	/** Ends the process at once; what is not stored is lost. */
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
