import { readBlobs, readSizes } from "../git/blobs.ts";
import { runGit } from "../git/run.ts";
import { diffTree, findTooMany, kindOfMode, listTree } from "../git/tree.ts";
import { limitOf, resolveCommit } from "../publish/collect.ts";
import type { LayerFile } from "../registry/judge.ts";
import { ownersPath } from "../registry/owners.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";

/** A file in a commit: its mode, such as `100644`, and the id of its content. */
export interface Entry {
	mode: string;
	id: string;
}

/** A path that differs, with its content on the head; null where there is none. */
export interface Change {
	path: string;
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
	/** The file of an entry; one over the limit comes as so many zero bytes. */
	fileOf: (path: string, entry: Entry) => LayerFile;
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
	const layers: Change[] = [];
	const outside: string[] = [];
	for (const { path, mode, id } of await diffTree(repository, fork.toString("latin1").trim(), headId, ":/")) {
		const after = mode !== null && id !== null ? { mode, id } : null;
		if (path !== "layers" && !path.startsWith("layers/")) outside.push(path);
		else layers.push({ path, after });
	}
	const contents = await readContents(repository, layers, catalogue);
	const fileOf = (path: string, { mode, id }: Entry) => {
		const kind = kindOfMode(mode);
		const bytes = contents.get(id) ?? new Uint8Array(kind === "file" ? limitOf(path) : 0);
		return { path, kind, bytes };
	};
	return { layers, outside, catalogue, fileOf };
}

/** The contents that a review needs, by their ids: of the changed files, and of the layers that these belong to. */
async function readContents(
	repository: string,
	changed: readonly Change[],
	catalogue: ReadonlyMap<string, Entry>,
): Promise<ReadonlyMap<string, Uint8Array>> {
	const limits = new Map<string, number>();
	const want = (path: string, entry: Entry | null | undefined) => {
		if (entry && kindOfMode(entry.mode) === "file")
			limits.set(entry.id, Math.max(limitOf(path), limits.get(entry.id) ?? 0));
	};
	want(ownersPath, catalogue.get(ownersPath));
	for (const { path, after } of changed) {
		want(path, after);
		const name = parseLayerPath(path);
		const own = name ? [layerPath(name.smallkey), descriptionPath(name.smallkey)] : [];
		for (const one of own) want(one, catalogue.get(one));
	}
	const sizes = await readSizes(repository, [...limits.keys()]);
	// What is larger than the checks allow is not read.
	const ids = [...limits].filter(([id, limit]) => (sizes.get(id) ?? 0) < limit).map(([id]) => id);
	const contents = new Map<string, Uint8Array>();
	let next = 0;
	for await (const blobs of readBlobs(repository, ids))
		for (const bytes of blobs) contents.set(ids[next++] as string, bytes);
	return contents;
}
