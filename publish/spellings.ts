import type { PathChange } from "../git/tree.ts";
import type { LayerFile } from "../registry/judge.ts";
import { parseLayerPath } from "../registry/smallkey.ts";
import { streamEntries } from "./collect.ts";
import type { StoredLayer } from "./served.ts";

/** The files of all spellings of one smallkey, as listed. */
export interface Spellings<File extends { path: string }> {
	/** Sorted by path; nearly always one. */
	registrations: File[];
	/** By smallkey. */
	descriptions: Map<string, File>;
}

/**
 * Listed files by their smallkey in lower case.
 * @param listed sorted by path
 * @param wanted smallkeys in lower case; null: all
 */
export function groupSpellings<File extends { path: string }>(
	listed: readonly File[],
	wanted: ReadonlySet<string> | null,
): Map<string, Spellings<File>> {
	const groups = new Map<string, Spellings<File>>();
	for (const file of listed) {
		const name = parseLayerPath(file.path);
		if (!name) continue;
		const lower = name.smallkey.toLowerCase();
		if (wanted && !wanted.has(lower)) continue;
		const group: Spellings<File> = groups.get(lower) ?? { registrations: [], descriptions: new Map() };
		if (name.kind === "registration") group.registrations.push(file);
		else group.descriptions.set(name.smallkey, file);
		groups.set(lower, group);
	}
	// A description without a registration is nobody's.
	for (const [lower, { registrations }] of groups) if (registrations.length === 0) groups.delete(lower);
	return groups;
}

/** Reads groups of a commit in their order, in portions as they come: of each layer all spellings. */
export async function* streamSpellings(
	repository: string,
	grouped: ReadonlyMap<string, Spellings<PathChange>>,
): AsyncGenerator<StoredLayer[][]> {
	const groups = [...grouped.values()];
	const entries = groups.flatMap(({ registrations, descriptions }) => [
		...registrations,
		...descriptions.values(),
	]);
	let group = 0;
	let files = new Map<string, LayerFile>();
	for await (const some of streamEntries(repository, entries)) {
		const layers: StoredLayer[][] = [];
		for (const file of some) {
			files.set(file.path, file);
			const { registrations, descriptions } = groups[group] as Spellings<PathChange>;
			if (files.size < registrations.length + descriptions.size) continue;
			layers.push(storedLayers(groups[group] as Spellings<PathChange>, files));
			files = new Map();
			group += 1;
		}
		if (layers.length > 0) yield layers;
	}
}

/** A group with the content of its files. */
export function storedLayers(
	{ registrations, descriptions }: Spellings<{ path: string }>,
	files: ReadonlyMap<string, LayerFile>,
): StoredLayer[] {
	return registrations.map(({ path }) => {
		const name = parseLayerPath(path);
		const smallkey = name?.smallkey ?? "";
		const description = descriptions.get(smallkey);
		return {
			smallkey,
			file: files.get(path) ?? null,
			description: description ? (files.get(description.path) ?? null) : null,
		};
	});
}
