import { readSizes } from "../git/cat-file.ts";
import { runGit } from "../git/run.ts";
import { diffTree, findTooMany, kindOfMode, listTree, type PathChange } from "../git/tree.ts";
import { limitOf, readEntries, resolveCommit } from "../publish/collect.ts";
import type { LayerFile } from "../registry/judge.ts";
import { type NamesBefore, namesOf } from "../registry/judge-names.ts";
import { ownersPath } from "../registry/owners.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";

/** Path → file. */
export type Files = ReadonlyMap<string, LayerFile>;

/** The changes of merging a head into a base. */
export interface Changes {
	/** Paths under `layers/`, in git's order. */
	layers: string[];
	/** Paths of all other files, in git's order. */
	outside: string[];
	/** The names of all layers' files on the base. */
	names: NamesBefore;
	/** The owners file and the files of the changed layers: `before` on the base, `after` with the head merged. */
	before: Files;
	after: Files;
}

/**
 * Reads the changes of a head since its merge base, as GitHub shows them. Nothing is checked out.
 * @param base a commit in any form that git accepts, like `head`
 * @throws {Error} if there is no such commit, or the two have no commit in common
 */
export async function readChanges(repository: string, base: string, head: string): Promise<Changes> {
	const [baseId, headId] = [await resolveCommit(repository, base), await resolveCommit(repository, head)];
	const fork = await runGit(repository, ["merge-base", baseId, headId]).catch(() => {
		throw new Error(`${repository}: ${base} and ${head} have no commit in common`);
	});
	const tooMany = await findTooMany(repository, headId);
	if (tooMany !== null) throw new Error(tooMany);
	const changed = await diffTree(repository, fork.toString("latin1").trim(), headId, ":/");
	const isLayers = ({ path }: PathChange) => path === "layers" || path.startsWith("layers/");
	const layers = changed.filter(isLayers);
	const wanted = new Set([ownersPath, ...layers.flatMap(({ path }) => [path, ...pathsBeside(path)])]);
	const listed = await listTree(repository, baseId, "layers/");
	const before = await readFiles(
		repository,
		listed.filter(({ path }) => wanted.has(path)),
	);
	const after = new Map(before);
	for (const { path } of layers) after.delete(path);
	const written = layers.filter(({ mode }) => mode !== null);
	for (const [path, file] of await readFiles(repository, written)) after.set(path, file);
	return {
		layers: layers.map(({ path }) => path),
		outside: changed.filter((one) => !isLayers(one)).map(({ path }) => path),
		names: namesOf(listed.map(({ path }) => path)),
		before,
		after,
	};
}

function pathsBeside(path: string): string[] {
	const name = parseLayerPath(path);
	return name ? [layerPath(name.smallkey), descriptionPath(name.smallkey)] : [];
}

/** Reads files of a commit. A file over its size limit is not read: its bytes are zeros, as many as the limit. */
async function readFiles(repository: string, listed: readonly PathChange[]): Promise<Map<string, LayerFile>> {
	const plain = listed.filter(({ mode }) => kindOfMode(mode as string) === "file");
	const sizes = await readSizes(
		repository,
		plain.map(({ id }) => id as string),
	);
	const isLarge = ({ path, id }: PathChange) => (sizes.get(id as string) ?? 0) >= limitOf(path);
	const read = await readEntries(
		repository,
		listed.filter((one) => !isLarge(one)),
	);
	const large = listed.filter(isLarge).map(({ path }): LayerFile => {
		return { path, kind: "file", bytes: new Uint8Array(limitOf(path)) };
	});
	return new Map([...read, ...large].map((file) => [file.path, file]));
}
