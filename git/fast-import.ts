import { runGit } from "./run.ts";

/** A commit to store with git fast-import. */
interface ImportedCommit {
	/** `name <mail> <seconds since 1970> +0000`. */
	author: string;
	committer: string;
	message: string;
	/** Files to write or, with a text of null, to remove. */
	edits: readonly { path: string; text: string | null }[];
}

/** --done: an incomplete stream changes nothing. */
export const importArgs = ["fast-import", "--quiet", "--done"] as const;

/**
 * unpackLimit=0: each checkpoint writes a pack, which git syncs. compression=1: better compression is not worth its time,
 * since a repack replaces most objects by deltas.
 */
export const importConfig = ["fastimport.unpackLimit=0", "pack.compression=1"];

/** The branch of the commits inside the process. */
const pending = "refs/pending";

/** Forgets the branch of the process, so that git writes no ref for it: commits are on the disk before a ref names them. */
const forgetBranch = `reset ${pending}\n\n`;

/** Writes and syncs a pack of all commits since the last one, and then prints a line. The pack's name is not synced. */
export const storeCommand = `${forgetBranch}checkpoint\nprogress stored\n`;

/** Ends the process once everything is stored, so that a repack can include its packs. */
export const endCommand = `${forgetBranch}done\n`;

/**
 * The commands that make one commit and print its id, in pieces: all commands of a batch may be longer than the longest
 * possible string.
 * @param from its parent; null: the last commit since `storeCommand`, or no parent if there is none
 */
export function commitCommands(
	from: string | null,
	{ author, committer, message, edits }: ImportedCommit,
): string[] {
	const head = `commit ${pending}\nmark :1\nauthor ${author}\ncommitter ${committer}\n${data(message)}`;
	const files = edits.map(({ path, text }) => {
		const quoted = `"${path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
		return text === null ? `D ${quoted}\n` : `M 100644 inline ${quoted}\n${data(text)}`;
	});
	return [head + (from === null ? "" : `from ${from}\n`), ...files, "\nget-mark :1\n"];
}

/** The length in bytes, then the bytes (git-fast-import(1), "data"). */
function data(text: string): string {
	return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** Stores one commit that no ref names. The name of its pack is not synced. @returns its id */
export async function importCommit(
	repository: string,
	from: string | null,
	commit: ImportedCommit,
): Promise<string> {
	const input = [...commitCommands(from, commit), endCommand].join("");
	const output = await runGit(repository, [...importArgs], { input, config: importConfig });
	return output.toString("latin1").trim();
}
