import { answersFrom, type GitProcess, type ReadAnswer, startProcess } from "./process.ts";
import { defaultSilenceMs, GitDamage, GitFailure, GitKilled, GitTimeout, gitOutput, runGit } from "./run.ts";

/** An object of a repository. */
export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

/**
 * Reads one answer of `git cat-file --batch`: `<id> <type> <size>`, line break, content, line break. Any other line, such
 * as `<name> missing`, is null.
 */
const objectAt: ReadAnswer<GitObject | null> = (data, start) => {
	const lineEnd = data.indexOf("\n", start);
	if (lineEnd < 0) return { needed: data.length + 1 };
	const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(data.toString("latin1", start, lineEnd));
	if (!header) return { answer: null, end: lineEnd + 1 };
	const [, id = "", type = "", size = ""] = header;
	const bodyEnd = lineEnd + 1 + Number(size);
	if (data.length <= bodyEnd) return { needed: bodyEnd + 1 };
	return { answer: { id, type, body: data.subarray(lineEnd + 1, bodyEnd) }, end: bodyEnd + 1 };
};

/** Otherwise a process keeps up to 96 MB of objects in memory. */
const batchConfig = ["core.deltaBaseCacheLimit=16m"];

/** A long-lived `git cat-file --batch`. */
export type CatFile = ReturnType<typeof openCatFile>;

/**
 * Opens a long-lived `git cat-file --batch`, which starts with the first read.
 * @param silenceMs longest silence while an answer is awaited, in milliseconds
 */
export function openCatFile(repository: string, silenceMs = defaultSilenceMs) {
	let current: GitProcess<GitObject | null> | null = null;
	/** Whether `close` or `kill` was called: no new process starts. */
	let hasEnded = false;

	/**
	 * Reads the object of an id, a ref or `<commit>:<path>`, in the order of the calls; null if there is none. A name must
	 * not have a line break.
	 * @throws {GitTimeout} if git is silent for too long; the next read starts another process
	 */
	async function read(name: string): Promise<GitObject | null> {
		for (let isRepeated = false; ; isRepeated = true) {
			if (hasEnded) throw new GitFailure("git cat-file: has ended");
			current ??= startProcess(repository, ["cat-file", "--batch"], objectAt, silenceMs, batchConfig);
			const git = current;
			try {
				const object = await git.ask([`${name}\n`]);
				// A copy: a view of the received data would keep all of it in memory.
				return object && { ...object, body: Buffer.from(object.body) };
			} catch (error) {
				// Git ends at a broken object. Only the first read that fails is at fault; the reads after it are repeated.
				const isAtFault = current === git;
				if (isAtFault) current = null;
				if (hasEnded || error instanceof GitTimeout) throw error;
				if (isAtFault && (isRepeated || !(error instanceof GitKilled))) throw error;
			}
		}
	}

	/**
	 * Replaces the process. Git never retries an object that it has found to be broken, and keeps packs open that a repack
	 * has removed. Waiting reads are still answered.
	 */
	function renew(): void {
		current?.finish().catch(() => undefined);
		current = null;
	}

	/** Ends reading. Waiting reads are answered first, unless the process fails. */
	async function close(): Promise<void> {
		hasEnded = true;
		await current?.finish().catch(() => undefined);
	}

	/** Ends reading immediately. Waiting reads are rejected. */
	function kill(): void {
		hasEnded = true;
		current?.kill();
	}

	return { read, renew, close, kill };
}

/** The sizes of objects in bytes: id → size, without reading their content. Missing objects are left out. */
export async function readSizes(
	repository: string,
	ids: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
	const unique = [...new Set(ids)];
	if (unique.length === 0) return new Map();
	const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
	const output = await runGit(repository, args, { input: `${unique.join("\n")}\n` });
	// `<id> missing` has no size.
	const found = output.toString("latin1").matchAll(/^(\w+) (\d+)$/gm);
	return new Map(Array.from(found, ([, id = "", size]) => [id, Number(size)]));
}

/**
 * Reads objects of one type by their ids, in that order, in portions as they arrive. For many objects this takes a
 * fraction of the time of single reads: git writes its answers in large blocks (`git cat-file --batch --buffer`).
 * @throws {GitFailure} if the repository does not have one of the objects, or git ends early
 */
export async function* readObjects(
	repository: string,
	type: "blob" | "commit",
	ids: readonly string[],
): AsyncGenerator<GitObject[]> {
	if (ids.length === 0) return;
	const answersIn = answersFrom(objectAt);
	let read = 0;
	const input = `${ids.join("\n")}\n`;
	for await (const data of gitOutput(repository, ["cat-file", "--batch", "--buffer"], { input })) {
		const objects = answersIn(data).map((object) => {
			if (object?.type !== type) throw new GitDamage(`object ${ids[read]} is missing, or no ${type}`);
			read += 1;
			return object;
		});
		if (objects.length > 0) yield objects;
	}
}
