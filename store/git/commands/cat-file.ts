import pLimit from "p-limit";
import type { LayerFile } from "../../../registry/judge.ts";
import { type FileEntry, type Folder, kindOfMode, memoize, readerOf } from "../../reader.ts";
import { GitDamage, GitFailure, GitKilled, type GitProcess, GitTimeout, gitOutput, startGit } from "./run.ts";

export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

/**
 * Parses the output of `git cat-file --batch`: `<id> <type> <size>`, line break, content, line break. Bodies
 * are views of it. Any other line, such as `<name> missing`, is null.
 */
async function* objectsIn(output: AsyncIterable<Buffer>): AsyncGenerator<GitObject | null> {
	let chunks: Buffer[] = [];
	let neededBytes = 1;
	for await (const data of output) {
		chunks.push(data);
		if (chunks.reduce((bytes, { length }) => bytes + length, 0) < neededBytes) continue;
		const whole = chunks.length === 1 ? data : Buffer.concat(chunks);
		let start = 0;
		for (;;) {
			const lineEnd = whole.indexOf("\n", start);
			const line = whole.toString("latin1", start, Math.max(start, lineEnd));
			const [isObject, id = "", type = "", size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
			const bodyEnd = lineEnd + 1 + Number(size);
			const end = isObject ? bodyEnd + 1 : lineEnd + 1;
			neededBytes = (lineEnd < 0 ? whole.length + 1 : end) - start;
			if (lineEnd < 0 || whole.length < end) break;
			yield isObject ? { id, type, body: whole.subarray(lineEnd + 1, bodyEnd) } : null;
			start = end;
		}
		chunks = start < whole.length ? [whole.subarray(start)] : [];
	}
}

/** Otherwise a process keeps up to 96 MB of objects in memory. */
const batchConfig = ["core.deltaBaseCacheLimit=16m"];

/**
 * A long-lived process: starting git for each read would take 6 ms (row `put-alone`). It reads one object at
 * a time, so that a broken object, at which git ends, fails no other read.
 */
export class CatFile {
	readonly #inOrder = pLimit(1);
	#git: GitProcess | null = null;
	#isClosed = false;

	constructor(
		readonly repository: string,
		readonly limitMs: number,
	) {}

	/**
	 * @param name an id, a ref or `<commit>:<path>`, without a line break
	 * @throws {GitTimeout} the next read starts another process
	 */
	read(name: string): Promise<GitObject | null> {
		return this.#inOrder(() =>
			this.#ask(name).catch((error) => {
				if (error instanceof GitKilled) return this.#ask(name);
				throw error;
			}),
		);
	}

	/** Git never retries a broken object, and keeps packs open that a repack has removed. */
	renew(): Promise<void> {
		return this.#inOrder(() => this.#end());
	}

	close(): Promise<void> {
		return this.#inOrder(() => {
			this.#isClosed = true;
			return this.#end();
		});
	}

	async #end(): Promise<void> {
		this.#git?.kill();
		await this.#git?.ended;
		this.#git = null;
	}

	async #ask(name: string): Promise<GitObject | null> {
		if (this.#isClosed) throw new GitFailure("git cat-file: has ended");
		this.#git ??= startGit(this.repository, ["cat-file", "--batch"], { config: batchConfig });
		const { stdin, stdout, ended, kill } = this.#git;
		const timer = setTimeout(() => kill(new GitTimeout("cat-file", this.limitMs)), this.limitMs);
		try {
			stdin.write(`${name}\n`);
			// A view would keep all received data in memory.
			for await (const object of objectsIn(stdout.iterator({ destroyOnReturn: false })))
				return object && { ...object, body: Buffer.from(object.body) };
		} catch {
			// Git has ended.
		} finally {
			clearTimeout(timer);
		}
		this.#git = null;
		throw (await ended) ?? new GitFailure("git cat-file: has ended");
	}
}

/** In the order of the ids. @throws {GitFailure} if an object is missing */
export async function* readObjects(
	repository: string,
	type: "blob" | "commit",
	ids: readonly string[],
): AsyncGenerator<GitObject> {
	if (ids.length === 0) return;
	let read = 0;
	const input = `${ids.join("\n")}\n`;
	const output = gitOutput(repository, ["cat-file", "--batch", "--buffer"], { input });
	for await (const object of objectsIn(output)) {
		if (object?.type !== type) throw new GitDamage(`object ${ids[read]} is missing, or no ${type}`);
		read += 1;
		yield object;
	}
}

export type CommitReader = ReturnType<typeof openReader>;

export function openReader(catFile: Pick<CatFile, "read">, commitId: string) {
	const treeAt = memoize(readTree);
	const folder = (name: string) => treeAt(`layers/${name}`);
	const text = async (id: string, path: string) => (await readObject(id, "blob", path)).body.toString("utf8");
	const reader = readerOf({ folder, text });

	async function file(path: string): Promise<LayerFile | null> {
		const entry = await reader.find(path);
		if (entry === null) return null;
		if (typeof entry === "string") return { path, kind: "file", bytes: Buffer.from(entry) };
		const kind = kindOfMode(entry.mode);
		return {
			path,
			kind,
			bytes: kind === "file" ? (await readObject(entry.id, "blob", path)).body : Buffer.of(),
		};
	}

	async function readTree(path: string): Promise<Folder> {
		if (path === "") return parseTree(await readObject(`${commitId}^{tree}`, "tree", "the branch"));
		const slash = path.lastIndexOf("/");
		const entry = (await treeAt(path.slice(0, Math.max(slash, 0)))).get(path.slice(slash + 1));
		return entry?.mode === folderMode ? parseTree(await readObject(entry.id, "tree", path)) : new Map();
	}

	async function readObject(id: string, type: string, path: string): Promise<GitObject> {
		const object = await catFile.read(id);
		if (object?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return object;
	}

	return { ...reader, folder, file };
}

const folderMode = "40000";

/** Each entry is `<mode> <name>\0<id>`, with the id in bytes (Pro Git, "Git Objects"). */
function parseTree({ id, body }: GitObject): Folder {
	const entries = new Map<string, FileEntry>();
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
