import type { LayerFile } from "../../../registry/judge.ts";
import { type FileEntry, type Folder, kindOfMode, readerOf } from "../../reader.ts";
import {
	defaultSilenceMs,
	GitDamage,
	GitFailure,
	GitKilled,
	GitTimeout,
	gitOutput,
	runGit,
	startGit,
} from "./run.ts";

export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

/**
 * Returns a function that adds output of `git cat-file --batch`, and returns the objects that are complete now, as views of
 * it: `<id> <type> <size>`, line break, content, line break. Any other line, such as `<name> missing`, is null.
 */
function objectsFrom(): (data: Buffer) => (GitObject | null)[] {
	let chunks: Buffer[] = [];
	let bytes = 0;
	let neededBytes = 1;
	return (data) => {
		chunks.push(data);
		bytes += data.length;
		if (bytes < neededBytes) return [];
		const whole = chunks.length === 1 ? data : Buffer.concat(chunks);
		const objects: (GitObject | null)[] = [];
		let start = 0;
		for (;;) {
			const lineEnd = whole.indexOf("\n", start);
			const line = whole.toString("latin1", start, Math.max(start, lineEnd));
			const [isObject, id = "", type = "", size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
			const bodyEnd = lineEnd + 1 + Number(size);
			const end = isObject ? bodyEnd + 1 : lineEnd + 1;
			neededBytes = (lineEnd < 0 ? whole.length + 1 : end) - start;
			if (lineEnd < 0 || whole.length < end) break;
			objects.push(isObject ? { id, type, body: whole.subarray(lineEnd + 1, bodyEnd) } : null);
			start = end;
		}
		const rest = whole.subarray(start);
		chunks = rest.length > 0 ? [rest] : [];
		bytes = rest.length;
		return objects;
	};
}

/** Otherwise a process keeps up to 96 MB of objects in memory. */
const batchConfig = ["core.deltaBaseCacheLimit=16m"];

/** A long-lived `git cat-file --batch`: starting git for each read would take 6 ms (row `put-alone`). */
export type CatFile = ReturnType<typeof openCatFile>;

/**
 * Opens a `git cat-file --batch`, which starts with the first read, and again where it has ended. It reads one object at a
 * time, so that a broken object, at which git ends, fails no other read.
 * @param silenceMs longest time until an answer continues, in milliseconds
 */
export function openCatFile(repository: string, silenceMs = defaultSilenceMs) {
	let git: ReturnType<typeof startGit> | null = null;
	let last: Promise<unknown> = Promise.resolve();
	let isClosed = false;

	async function ask(name: string): Promise<GitObject | null> {
		if (isClosed) throw new GitFailure("git cat-file: has ended");
		git ??= startGit(repository, ["cat-file", "--batch"], { config: batchConfig });
		const { stdin, stdout, ended, kill } = git;
		let isLate = false;
		const timer = setTimeout(() => {
			isLate = true;
			kill();
		}, silenceMs);
		const objectsIn = objectsFrom();
		try {
			stdin.write(`${name}\n`);
			for await (const data of stdout.iterator({ destroyOnReturn: false })) {
				timer.refresh();
				const [object] = objectsIn(data);
				// A copy: a view of the received data would keep all of it in memory.
				if (object !== undefined) return object && { ...object, body: Buffer.from(object.body) };
			}
		} catch {
			// The output was closed: git has ended.
		} finally {
			clearTimeout(timer);
		}
		git = null;
		const reason = await ended;
		throw isLate
			? new GitTimeout("cat-file", silenceMs)
			: (reason ?? new GitFailure("git cat-file: has ended"));
	}

	function inOrder<T>(task: () => Promise<T>): Promise<T> {
		const result = last.then(task);
		last = result.catch(() => undefined);
		return result;
	}

	/**
	 * Ends the process. Git never retries an object that it has found to be broken, and keeps packs open that a repack has
	 * removed.
	 */
	async function renew(): Promise<void> {
		git?.kill();
		await git?.ended;
		git = null;
	}

	return {
		/**
		 * Reads the object of an id, a ref or `<commit>:<path>`, in the order of the calls; null if there is none. A name must
		 * not have a line break.
		 * @throws {GitTimeout} if git is silent for too long; the next read starts another process
		 */
		read: (name: string) =>
			inOrder(() =>
				ask(name).catch((error) => {
					if (error instanceof GitKilled) return ask(name);
					throw error;
				}),
			),
		renew: () => inOrder(renew),
		close: () =>
			inOrder(async () => {
				isClosed = true;
				await renew();
			}),
	};
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
	const sizes = output.toString("latin1").matchAll(/^(\w+) (\d+)$/gm);
	return new Map(Array.from(sizes, ([, id = "", size]) => [id, Number(size)]));
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
	const objectsIn = objectsFrom();
	let read = 0;
	const input = `${ids.join("\n")}\n`;
	for await (const data of gitOutput(repository, ["cat-file", "--batch", "--buffer"], { input })) {
		const objects = objectsIn(data).map((object) => {
			if (object?.type !== type) throw new GitDamage(`object ${ids[read]} is missing, or no ${type}`);
			read += 1;
			return object;
		});
		if (objects.length > 0) yield objects;
	}
}

/** Reads the state at one commit, with later edits that are not committed yet. Each folder is read once. */
export type CommitReader = ReturnType<typeof openReader>;

export function openReader(catFile: Pick<CatFile, "read">, commitId: string) {
	let layers: Promise<Folder> | null = null;
	const folders = new Map<string, Promise<Folder>>();
	const textOf = async (id: string, path: string) => (await object(id, "blob", path)).body.toString("utf8");
	const reader = readerOf({ folder, text: textOf });

	async function file(path: string): Promise<LayerFile | null> {
		const found = await reader.find(path);
		if (found === null) return null;
		if (typeof found === "string") return { path, kind: "file", bytes: Buffer.from(found) };
		const kind = kindOfMode(found.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		return { path, kind, bytes: (await object(found.id, "blob", path)).body };
	}

	function folder(name: string): Promise<Folder> {
		const known = folders.get(name);
		if (known) return known;
		layers ??= readLayers();
		const reading = layers.then((all) => readTree(all.get(name), `layers/${name}`));
		folders.set(name, reading);
		// After a failure the next call reads again: the repository may have been repaired.
		reading.catch(() => {
			folders.delete(name);
			layers = null;
		});
		return reading;
	}

	async function readLayers(): Promise<Folder> {
		const commit = await object(commitId, "commit", "the branch");
		const root = /^tree ([0-9a-f]{40,64})\n/.exec(commit.body.toString("latin1"))?.[1] ?? "";
		const all = parseTree(await object(root, "tree", "the layers"));
		return readTree(all.get("layers"), "layers");
	}

	async function readTree(entry: FileEntry | undefined, path: string): Promise<Folder> {
		return entry?.mode === folderMode ? parseTree(await object(entry.id, "tree", path)) : new Map();
	}

	async function object(id: string, type: string, path: string): Promise<GitObject> {
		const found = await catFile.read(id);
		if (found?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return found;
	}

	return { ...reader, folder, file };
}

const folderMode = "40000";

/**
 * Parses a tree object: name → entry, in its order. Each entry is `<mode> <name>\0<id>`, with the id in bytes
 * (Pro Git, "Git Objects").
 */
function parseTree({ id, body }: GitObject): Map<string, { mode: string; id: string }> {
	const entries = new Map<string, { mode: string; id: string }>();
	for (let start = 0; start < body.length; ) {
		const space = body.indexOf(0x20, start);
		const end = body.indexOf(0, space);
		// All ids of a repository have the same length.
		const next = end + 1 + id.length / 2;
		const mode = body.toString("latin1", start, space);
		entries.set(body.toString("utf8", space + 1, end), { mode, id: body.toString("hex", end + 1, next) });
		start = next;
	}
	return entries;
}
