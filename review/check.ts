import { lineAt, linesOf } from "../registry/json.ts";
import { type CheckedLayer, judgeFile, judgePlace, type LayerFile } from "../registry/judge.ts";
import { judgeNames, namesOf, type Problem, type Remark } from "../registry/judge-names.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Changes, Entry } from "./changes.ts";

/** A problem at its place in a file; its text begins with the JSON pointer, where it is about a member. */
export interface Located extends Remark {
	/** From 1. */
	line: number;
}

/**
 * Finds the line that a problem is about.
 * @param lines of the file's members, as `linesOf` finds them; none where the problem is not about its content
 */
export function locate({ file, text }: Remark, lines: ReadonlyMap<string, number> = new Map()): Located {
	if (!text.startsWith("/")) {
		const line = /^the document must be JSON: line (\d+),/.exec(text)?.[1] ?? 1;
		return { file, line: Number(line), text };
	}
	// A member's name may itself hold `: `, so the longest pointer that exists is used.
	const pointers = Array.from(text.matchAll(/: /g), ({ index }) => text.slice(0, index));
	const pointer = pointers.findLast((one) => lines.has(one)) ?? pointers[0] ?? "";
	return { file, line: lineAt(lines, pointer), text };
}

/** A layer that a head changes, as it is on the base and as it will be; null where there is none, or it is wrong. */
export interface ChangedLayer {
	smallkey: string;
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	/** Paths of its files that differ. */
	paths: string[];
	/** Whether the registration is removed. */
	removed: boolean;
	/** Text of the registration on the head, to find the lines of its problems. */
	text: string;
}

/** What is in order and what is not. */
export interface Checked {
	/** Sorted by smallkey. */
	layers: ChangedLayer[];
	/** In the order of the paths. */
	problems: Located[];
	/** What is accepted, but probably not meant. */
	warnings: Located[];
}

/**
 * Checks what a head changes under `layers/`, and nothing else: each file by itself, and its name against those of
 * the whole catalogue as it will be.
 */
export function checkChanges(changes: Changes): Checked {
	const merged = new Map(changes.catalogue);
	for (const { path, after } of changes.layers) {
		if (after) merged.set(path, after);
		else merged.delete(path);
	}
	const edits = changes.layers.map(({ path, after }) => ({ path, isRemoved: after === null }));
	const wrongNames = judgeNames(edits, namesOf(changes.catalogue.keys()));
	const misnamed = new Set(wrongNames.map(({ file }) => parseLayerPath(file)?.smallkey));
	const problems = wrongNames.map((problem) => locate(problem));
	const warnings: Located[] = [];
	const groups = new Map<string, string[]>();
	for (const { path, after } of changes.layers) {
		const name = parseLayerPath(path);
		if (name) groups.set(name.smallkey, [...(groups.get(name.smallkey) ?? []), path]);
		else problems.push(...checkOther(path, after && changes.fileOf(path, after)));
	}
	const layers = [...groups]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([smallkey, paths]): ChangedLayer => {
			const own = layerPath(smallkey);
			const before = readLayer(smallkey, changes.catalogue, changes, []);
			const after = readLayer(smallkey, merged, changes, paths);
			problems.push(...after.problems);
			const isWrong = after.problems.length > 0;
			const texts =
				!isWrong && after.layer && paths.includes(own) ? warningsOf(after.layer.registration) : [];
			const lines = linesOf(after.text);
			warnings.push(...texts.map((text) => locate({ file: own, text }, lines)));
			return {
				smallkey,
				before: before.layer,
				after: isWrong || misnamed.has(smallkey) ? null : after.layer,
				paths,
				removed: changes.catalogue.has(own) && !merged.has(own),
				text: after.text,
			};
		});
	for (const found of [problems, warnings])
		found.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	return { layers, problems, warnings };
}

/** A file that is no layer's: the owners, or what has no place here. @param file null where it is removed */
function checkOther(path: string, file: LayerFile | null): Located[] {
	const misplaced = judgePlace({ path, isRemoved: file === null });
	if (misplaced) return [locate(misplaced)];
	return file ? locateAll(judgeFile(file, "written").problems, file) : [];
}

/** Problems of one file at their lines. */
function locateAll(problems: readonly Problem[], { bytes }: LayerFile): Located[] {
	const lines = problems.length > 0 ? linesOf(new TextDecoder().decode(bytes)) : undefined;
	return problems.map((problem) => locate(problem, lines));
}

/**
 * One layer in one state of the catalogue.
 * @param state path → file
 * @param written the paths whose files are judged as what is written; what is wrong in others is not the author's
 */
function readLayer(
	smallkey: string,
	state: ReadonlyMap<string, Entry>,
	{ fileOf }: Changes,
	written: readonly string[],
) {
	const problems: Located[] = [];
	const judge = (path: string) => {
		const entry = state.get(path);
		if (!entry) return null;
		const file = fileOf(path, entry);
		const isWritten = written.includes(path);
		const judged = judgeFile(file, isWritten ? "written" : "stored");
		if (isWritten) problems.push(...locateAll(judged.problems, file));
		return { ...judged, bytes: file.bytes };
	};
	const own = judge(layerPath(smallkey));
	const description = judge(descriptionPath(smallkey))?.description ?? null;
	const layer: CheckedLayer | null = own?.registration
		? { smallkey, registration: own.registration, description }
		: null;
	return { layer, problems, text: own ? new TextDecoder().decode(own.bytes) : "" };
}
