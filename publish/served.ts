import { type CheckedLayer, judgeFile, type LayerFile, type Remark, twinProblem } from "../registry/judge.ts";

/** The files of a layer, as stored at one commit. */
export interface StoredLayer {
	smallkey: string;
	file: LayerFile | null;
	description: LayerFile | null;
}

/** What was found while the layers that are served were picked. */
export interface Picked {
	/** Smallkey → null for each layer that is not served. */
	changes: Map<string, unknown>;
	/** What is wrong with files. */
	problems: Remark[];
	/** Smallkeys whose file is wrong: what is served of them stays, and where nothing is, an earlier text may do. */
	wrong: string[];
}

/**
 * The layer that is served of those that differ only in case: the first by path whose file is in order. A pull request
 * or a push can bring such; a checkout on a case-insensitive disk would lose all but one.
 * @param spellings sorted by path; nearly always one
 * @param picked is told of the others, and of what is wrong
 * @returns null where no file is in order: what is served of them stays
 */
export function pickServed(spellings: readonly StoredLayer[], picked: Picked): CheckedLayer | null {
	const checked = spellings.map(({ smallkey, file, description }) => {
		const { registration, problems } = file
			? judgeFile(file, "stored")
			: { registration: null, problems: [] };
		picked.problems.push(...problems);
		return { smallkey, registration, description };
	});
	const served = checked.find(({ registration }) => registration !== null);
	for (const { smallkey, registration } of checked) {
		if (smallkey === served?.smallkey) continue;
		if (registration) picked.problems.push(twinProblem(smallkey, served?.smallkey ?? ""));
		if (served) picked.changes.set(smallkey, null);
		else {
			picked.changes.delete(smallkey);
			picked.wrong.push(smallkey);
		}
	}
	if (!served?.registration) return null;
	const { smallkey, registration, description } = served;
	return { smallkey, registration, description: description && judgeFile(description, "stored").description };
}
