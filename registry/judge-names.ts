import { judgeKey } from "./key-rules.ts";
import { descriptionPath, fileName, folderOf, layerPath, parseLayerPath } from "./smallkey.ts";
import { type BrokenRule, broken, type TextCode } from "./texts.ts";

export interface Remark {
	/** Path from the repository's root: `layers/23/23ax5t.json`. */
	file: string;
	/** `<place>: <what is wrong>`, where the place is a JSON pointer or `smallkey`; without a place for the whole file. */
	text: string;
}

/** A rule that a change breaks. Every way to make the change reports it with the same text. */
export interface Problem extends Remark {
	/** Identifies the rule, independent of the language of its text. */
	code: TextCode;
}

export interface NameEdit {
	path: string;
	isRemoved: boolean;
}

/** The names of the files in a folder under `layers/` before a change, in any order. */
export type NamesBefore = (folder: string) => Iterable<string>;

/** The problem of a stored layer whose smallkey differs only in case from that of a layer that is served. */
export function twinProblem(smallkey: string, served: string): Problem {
	return aboutKey(layerPath(smallkey), broken("case-twin", smallkey, served));
}

/** A broken rule of a smallkey, as the problem of a file. */
export function aboutKey(file: string, { code, text }: BrokenRule): Problem {
	return { code, file, text: `smallkey: ${text}` };
}

export function orphanProblem(smallkey: string): Problem {
	return { file: descriptionPath(smallkey), ...broken("orphan", layerPath(smallkey)) };
}

/**
 * Judges the names of files against each other and against the stored ones: smallkeys, and descriptions without a
 * registration. Misplaced files are skipped: `judgePlace` reports them.
 */
export function judgeNames(edits: Iterable<NameEdit>, before: NamesBefore): Problem[] {
	const judged = [...edits].flatMap((edit) => {
		const name = parseLayerPath(edit.path);
		return name ? [{ ...edit, ...name }] : [];
	});
	const wanted = new Set(judged.map(({ smallkey }) => smallkey.toLowerCase()));
	/** Path → whether the file was stored before, for every spelling of the edited smallkeys. */
	const files = new Map<string, boolean>();
	for (const folder of new Set(judged.map(({ smallkey }) => folderOf(smallkey)))) {
		for (const name of before(folder)) {
			// A smallkey has no dot.
			if (wanted.has(name.slice(0, name.indexOf(".")).toLowerCase()))
				files.set(`layers/${folder}/${name}`, true);
		}
	}
	for (const { path, isRemoved } of judged) {
		if (isRemoved) files.delete(path);
		else if (!files.has(path)) files.set(path, false);
	}
	const isStored = (smallkey: string) => files.get(layerPath(smallkey)) === true;
	/** Lower-case smallkey → the spelling that is kept: the first one that is stored, else the first one that is added. */
	const kept = new Map<string, string>();
	for (const path of [...files.keys()].sort()) {
		const { smallkey, kind } = parseLayerPath(path) ?? {};
		if (smallkey === undefined || kind !== "registration") continue;
		const first = kept.get(smallkey.toLowerCase());
		if (first === undefined || (isStored(smallkey) && !isStored(first)))
			kept.set(smallkey.toLowerCase(), smallkey);
	}
	const problems = judged.flatMap(({ path, isRemoved, smallkey, kind }) => {
		if (kind !== "registration" || isRemoved) return [];
		const rule = judgeKey(smallkey, isStored, kept.get(smallkey.toLowerCase()) ?? smallkey);
		return rule ? [aboutKey(path, broken(...rule))] : [];
	});
	const isOrphan = (key: string) => files.has(descriptionPath(key)) && !files.has(layerPath(key));
	const smallkeys = new Set(judged.map(({ smallkey }) => smallkey));
	return [...problems, ...[...smallkeys].filter(isOrphan).map(orphanProblem)];
}

export function namesOf(paths: Iterable<string>): NamesBefore {
	const folders = new Map<string, string[]>();
	for (const path of paths) {
		const folder = path.split("/")[1] ?? "";
		const names = folders.get(folder);
		if (names) names.push(fileName(path));
		else folders.set(folder, [fileName(path)]);
	}
	return (folder) => folders.get(folder) ?? [];
}
