import type { PathChange } from "../git/tree.ts";
import { type CheckedLayer, judgeFile, judgePlace, type LayerFile } from "../registry/judge.ts";
import { orphanProblem, type Remark, twinProblem } from "../registry/judge-names.ts";
import { parseLayerPath } from "../registry/smallkey.ts";

/** The files of a layer, as stored at one commit; at least one is not null. */
export interface StoredLayer {
	smallkey: string;
	file: LayerFile | null;
	description: LayerFile | null;
}

/**
 * Reads the files of all spellings of some smallkeys, sorted by path, and yields them in portions. A smallkey that is
 * not stored yields nothing.
 * @param wanted smallkeys in lower case
 */
export type ReadSpellings = (wanted: ReadonlySet<string>) => AsyncIterable<StoredLayer[][]>;

/** Everything that a commit range changes for readers, except the layers that are served at its end. */
export type RangeNotes = ReturnType<typeof emptyNotes>;

export function emptyNotes() {
	return {
		gone: new Set<string>(),
		problems: [] as Remark[],
		/** Smallkeys whose file is wrong: their last valid form is served. */
		wrong: [] as string[],
		registered: [] as string[],
	};
}

/**
 * Yields the layers that a commit range changes, as they are served at its end, in portions as they are read.
 * @param changed the paths that differ between the two commits
 * @param read reads layers at the end of the range
 * @param notes receives everything else; complete after the last layer
 */
export async function* changesOf(
	changed: Iterable<PathChange>,
	read: ReadSpellings,
	notes: RangeNotes,
): AsyncGenerator<CheckedLayer[]> {
	for await (const portion of read(noteChanges(changed, notes))) {
		yield portion.flatMap((spellings) => pickServed(spellings, notes) ?? []);
	}
}

/** Notes the removed and the written registrations. @returns the smallkeys to read, in lower case */
function noteChanges(changed: Iterable<PathChange>, { gone, problems, registered }: RangeNotes): Set<string> {
	const wanted = new Set<string>();
	for (const { path, mode } of changed) {
		const name = parseLayerPath(path);
		if (!name) {
			const problem = mode === null ? null : judgePlace({ path, isRemoved: false });
			if (problem) problems.push(problem);
			continue;
		}
		wanted.add(name.smallkey.toLowerCase());
		if (name.kind !== "registration") continue;
		// `pickServed` deletes it from `gone` if the end of the range has it.
		gone.add(name.smallkey);
		if (mode !== null) registered.push(name.smallkey);
	}
	return wanted;
}

/**
 * Picks the one layer to serve among layers whose smallkeys differ only in case: the first by path with a valid file.
 * A pull request or a push can bring such layers. A checkout on a case-insensitive disk would lose all but one.
 * @param spellings sorted by path; nearly always one
 * @param notes receives the other layers and the problems
 * @returns null if no file is valid: the layer that is served stays
 */
function pickServed(spellings: readonly StoredLayer[], notes: RangeNotes): CheckedLayer | null {
	let served: CheckedLayer | null = null;
	for (const { smallkey, file, description } of spellings) {
		if (!file) {
			notes.problems.push(orphanProblem(smallkey));
			continue;
		}
		const { registration, problems } = judgeFile(file, "stored");
		notes.problems.push(...problems);
		if (!registration) continue;
		if (served) notes.problems.push(twinProblem(smallkey, served.smallkey));
		const described = description && judgeFile(description, "stored");
		notes.problems.push(...(described?.problems ?? []));
		served ??= { smallkey, registration, description: described?.description ?? null };
	}
	for (const { smallkey, file } of spellings) {
		if (!file) continue;
		if (served && smallkey !== served.smallkey) notes.gone.add(smallkey);
		else notes.gone.delete(smallkey);
		if (!served) notes.wrong.push(smallkey);
	}
	return served;
}
