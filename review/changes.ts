import { readSizes } from "../git/blobs.ts";
import { CatFile } from "../git/cat-file.ts";
import { runGit } from "../git/run.ts";
import { diffTree, findTooMany, kindOfMode, listTree, readBlob } from "../git/tree.ts";
import { limitOf, resolveCommit } from "../publish/collect.ts";
import type { LayerFile } from "../registry/judge.ts";

/** A file in a commit: its mode, such as `100644`, and the id of its content. */
export interface Entry {
	mode: string;
	id: string;
}

/** A path that differs, with its content on the base and on the head; null where there is none. */
export interface Change {
	path: string;
	before: Entry | null;
	after: Entry | null;
}

/** What merging a head into a base changes. */
export interface Changes {
	/** Under `layers/`, in git's order. */
	layers: Change[];
	/** Paths of all other files, in git's order. */
	outside: string[];
	/** Each file under `layers/` on the base. */
	catalogue: ReadonlyMap<string, Entry>;
}

/**
 * Reads what a head changes, as GitHub shows it: from where it parted from the base. Nothing is checked out.
 * @param base a commit of the repository, as git names it; so is `head`
 * @throws {Error} where there is no such commit, or the two have none in common
 */
export async function readChanges(repository: string, base: string, head: string): Promise<Changes> {
	const [baseId, headId] = [await resolveCommit(repository, base), await resolveCommit(repository, head)];
	const fork = await runGit(repository, ["merge-base", baseId, headId]).catch(() => {
		throw new Error(`${repository}: ${base} and ${head} have no commit in common`);
	});
	const tooMany = await findTooMany(repository, headId);
	if (tooMany !== null) throw new Error(tooMany);
	const catalogue = new Map<string, Entry>();
	for (const { path, mode, id } of await listTree(repository, baseId, "layers/")) {
		if (mode !== null && id !== null) catalogue.set(path, { mode, id });
	}
	const changes: Changes = { layers: [], outside: [], catalogue };
	for (const { path, mode, id } of await diffTree(repository, fork.toString("latin1").trim(), headId, ":/")) {
		const after = mode !== null && id !== null ? { mode, id } : null;
		if (path !== "layers" && !path.startsWith("layers/")) changes.outside.push(path);
		else changes.layers.push({ path, before: catalogue.get(path) ?? null, after });
	}
	return changes;
}

/** Reads files of a repository by the id of their content. */
export class FileReader {
	readonly #catFile: CatFile;
	/** Size of each content, in bytes: none is read whole that is larger than the checks allow. */
	readonly #sizes: ReadonlyMap<string, number>;

	private constructor(repository: string, sizes: ReadonlyMap<string, number>) {
		this.#catFile = new CatFile(repository);
		this.#sizes = sizes;
	}

	/** @param entries all that will be read */
	static async open(repository: string, entries: Iterable<Entry>): Promise<FileReader> {
		const ids = Array.from(entries, ({ id }) => id);
		return new FileReader(repository, await readSizes(repository, ids));
	}

	/** The file of an entry; one over the limit comes as so many zero bytes. */
	async read(path: string, { mode, id }: Entry): Promise<LayerFile> {
		const kind = kindOfMode(mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		const limit = limitOf(path);
		const isWithin = (this.#sizes.get(id) ?? 0) < limit;
		return { path, kind, bytes: isWithin ? await readBlob(this.#catFile, id) : new Uint8Array(limit) };
	}

	/** Ends git's process. */
	close(): void {
		void this.#catFile.close();
	}
}
