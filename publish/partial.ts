import type { PathChange } from "../git/tree.ts";
import { judgeFile, type Problem } from "../registry/judge.ts";
import { parseLayerPath } from "../registry/smallkey.ts";
import { earlierContents } from "./earlier.ts";

/** Wrong files up to which each is looked for in the history: more are no mishap, and nothing is built then. */
export const mostWrong = 200;

/** A commit, and the files under `layers/` that are built of it. */
export interface CommitFiles {
	repository: string;
	commit: string;
	files: readonly PathChange[];
}

/**
 * The files with each wrong one in the last form in which it was in order; one that never was is left out.
 * @param hasHistory whether earlier forms are looked for: not where those are what is wrong
 */
export async function withoutWrong(
	{ repository, commit, files }: CommitFiles,
	problems: readonly Problem[],
	hasHistory: boolean,
): Promise<PathChange[]> {
	const wrong = new Set(problems.map(({ file }) => file));
	const kept: PathChange[] = [];
	for (const file of files) {
		if (!wrong.has(file.path)) kept.push(file);
		else {
			const id = hasHistory ? await findEarlierId(repository, commit, file.path) : null;
			if (id !== null && id !== file.id) kept.push({ path: file.path, mode: "100644", id });
		}
	}
	return kept;
}

/** The id of the newest earlier content of a layer's file that is in order; null where there is none. */
async function findEarlierId(repository: string, commit: string, path: string): Promise<string | null> {
	if (!parseLayerPath(path)) return null;
	for await (const { id, bytes } of earlierContents(repository, commit, path)) {
		if (judgeFile({ path, kind: "file", bytes }, "stored").problems.length === 0) return id;
	}
	return null;
}
