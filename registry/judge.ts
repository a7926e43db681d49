import { visible } from "../system/untrusted-text.ts";
import { type Description, parseDescription } from "./description.ts";
import { parseJson } from "./json.ts";
import { judgeKey } from "./key-rules.ts";
import { matchesGlob, ownersPath, parseOwners } from "./owners.ts";
import type { Rules } from "./problems.ts";
import { maxRegistrationBytes, parseRegistration, type Registration } from "./registration.ts";
import {
	descriptionPath,
	fileName,
	folderOf,
	isOtherFile,
	layerPath,
	parseLayerPath,
	parseSmallkey,
} from "./smallkey.ts";
import { type BrokenRule, broken, type TextCode, textAt } from "./texts.ts";

export interface Remark {
	/** Path from the repository's root: `layers/23/23ax5t.json`. */
	file: string;
	/** `<place>: <what is wrong>`, where the place is a JSON pointer or `smallkey`; without a place for the whole file. */
	text: string;
}

/** A rule that a change breaks. Every way to make the change reports it with the same text. */
export interface Problem extends Remark, BrokenRule {}

/** A problem as it is printed: `layers/23/23ax5t.json: /fr/service_url: must be an http or https address`. */
export function problemLine({ file, text }: Remark): string {
	return `${file}: ${text}`;
}

function problemOf(file: string, code: TextCode, ...values: readonly unknown[]): Problem {
	return { file, ...broken(code, ...values) };
}

/** A rule that the smallkey of a file breaks. */
function keyProblem(file: string, code: TextCode, ...values: readonly unknown[]): Problem {
	return { file, code, text: textAt("smallkey", code, ...values) };
}

/** The problem of a stored layer whose smallkey differs only in case from that of a layer that is served. */
export function twinProblem(smallkey: string, served: string): Problem {
	return keyProblem(layerPath(smallkey), "case-twin", smallkey, served);
}

export function orphanProblem(smallkey: string): Problem {
	return problemOf(descriptionPath(smallkey), "orphan", layerPath(smallkey));
}

/** The text about a value that is not a smallkey. */
export function smallkeyText(text: string): string {
	return textAt("smallkey", "smallkey", JSON.stringify(text.slice(0, 80)));
}

interface Sender {
	id: string;
	/** Globs of the smallkeys that the sender may change; null: all. */
	smallkeys: readonly string[] | null;
}

export function mayChange({ smallkeys }: Sender, smallkey: string): boolean {
	return smallkeys?.some((glob) => matchesGlob(glob, smallkey)) ?? true;
}

/** Judges whether a sender may change a smallkey; null where the sender may. */
export function judgeSender(sender: Sender, smallkey: string): Problem | null {
	if (mayChange(sender, smallkey)) return null;
	return keyProblem(layerPath(smallkey), "owner", sender.id, sender.smallkeys?.join(" ") || "none", smallkey);
}

interface NameEdit {
	path: string;
	isRemoved: boolean;
}

/**
 * Judges the place and the name of a file; null where both are right. Outside `layers/` any name of visible characters
 * is accepted.
 */
export function judgePlace({ path, isRemoved }: NameEdit): Problem | null {
	if (isRemoved) return path === ownersPath ? problemOf(path, "owners-removed") : null;
	if (isOtherFile(path) || parseLayerPath(path)) return null;
	if (path === "layers") return problemOf(path, "layers-folder");
	if (!path.startsWith("layers/")) {
		if (/^layers(?:\/|$)/i.test(path)) return problemOf(path, "layers-case");
		// U+FFFD stands where the name was not UTF-8; a backslash separates folders on Windows.
		const isPlain = visible(path) === path && !/[\ufffd\\]/.test(path);
		return isPlain ? null : problemOf(path, "visible-name");
	}
	const [, name, service] = /^(.*?)(\.service)?\.json$/s.exec(fileName(path)) ?? [];
	if (name === undefined) return problemOf(path, "file-name");
	if (parseSmallkey(name) === null) return { file: path, code: "smallkey", text: smallkeyText(name) };
	return problemOf(path, "folder", service ? descriptionPath(name) : layerPath(name));
}

/** The names of the files in a folder under `layers/` before a change, in any order. */
export type NamesBefore = (folder: string) => Iterable<string>;

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
		const name = parseLayerPath(path);
		if (name?.kind !== "registration") continue;
		const lower = name.smallkey.toLowerCase();
		const first = kept.get(lower);
		if (first === undefined || (isStored(name.smallkey) && !isStored(first))) kept.set(lower, name.smallkey);
	}
	const problems = judged.flatMap(({ path, isRemoved, smallkey, kind }) => {
		if (kind !== "registration" || isRemoved) return [];
		const rule = judgeKey(smallkey, isStored, kept.get(smallkey.toLowerCase()) as string);
		return rule ? [keyProblem(path, ...rule)] : [];
	});
	const isOrphan = (key: string) => files.has(descriptionPath(key)) && !files.has(layerPath(key));
	const smallkeys = new Set(judged.map(({ smallkey }) => smallkey));
	return [...problems, ...[...smallkeys].filter(isOrphan).map(orphanProblem)];
}

/** A file under `layers/`, as found in a folder or a commit. */
export interface LayerFile {
	/** Path from the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** Only a plain file may contain a layer: a link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** The content. If the file is larger than its limit, the first bytes are enough, one more than the limit. */
	bytes: Uint8Array;
}

const maxDescriptionBytes = 4 * 1024 * 1024;

/** Largest size of a file that belongs to no layer, in bytes. Every version of it stays in every clone for ever. */
export const maxOtherBytes = 1024 * 1024;

export function maxBytesOf(path: string): number {
	if (isOtherFile(path)) return maxOtherBytes;
	return path.endsWith(".service.json") ? maxDescriptionBytes : maxRegistrationBytes;
}

/** Judges the kind and the size of a file before it is read; null where both are right. */
export function judgeKind(
	path: string,
	kind: LayerFile["kind"],
	bytes: number,
	maxBytes = maxBytesOf(path),
): Problem | null {
	if (kind !== "file")
		return problemOf(path, "plain-file", kind === "other" ? "submodule or the like" : kind);
	return bytes > maxBytes ? problemOf(path, "size", maxBytes) : null;
}

export interface JudgedFile {
	/** Null where the file is not a valid registration. `description` likewise. */
	registration: Registration | null;
	description: Description | null;
	problems: Problem[];
}

/** Judges one file by itself: its kind, size and content. `layers/health.json` may be any JSON. */
export function judgeFile({ path, kind, bytes }: LayerFile, rules: Rules): JudgedFile {
	const judged: JudgedFile = { registration: null, description: null, problems: [] };
	const refuse = (problems: readonly BrokenRule[]): JudgedFile => {
		return { ...judged, problems: problems.map((problem) => ({ ...problem, file: path })) };
	};
	const wrongKind = judgeKind(path, kind, bytes.length);
	if (wrongKind) return refuse([wrongKind]);
	if (path === ownersPath) return refuse(parseOwners(bytes).problems);
	if (isOtherFile(path)) return refuse(parseJson(bytes).problems);
	if (path.endsWith(".service.json")) {
		const description = parseDescription(new TextDecoder().decode(bytes));
		return description ? { ...judged, description } : refuse([broken("description")]);
	}
	const { registration, problems } = parseRegistration(bytes, rules);
	return registration ? { ...judged, registration } : refuse(problems);
}

/** A layer whose files are valid. */
export interface CheckedLayer {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

/**
 * Judges files under `layers/`: their places, names and contents.
 * @param files sorted by path, so that the registration of a layer comes before its description
 * @param rules for the registrations
 * @param before the names that are stored before the change; by default those of `files`
 * @returns the valid layers by their smallkey, and every problem, both in the order of the files
 */
export function judgeFiles(
	files: readonly LayerFile[],
	rules: Rules = "stored",
	before: NamesBefore = namesOf(files.map(({ path }) => path)),
): { layers: Map<string, CheckedLayer>; problems: Problem[] } {
	const problems: Problem[] = [];
	const edits = files.map(({ path }) => ({ path, isRemoved: false }));
	const wrongNames = new Map(judgeNames(edits, before).map((problem) => [problem.file, problem]));
	const layers = new Map<string, CheckedLayer>();
	for (const file of files) {
		const name = parseLayerPath(file.path);
		const wrongName = name ? wrongNames.get(file.path) : judgePlace({ path: file.path, isRemoved: false });
		if (wrongName) problems.push(wrongName);
		if (!name) continue;
		const { registration, description, problems: found } = judgeFile(file, rules);
		problems.push(...found);
		if (wrongName) continue;
		const layer = layers.get(name.smallkey);
		if (layer) layer.description = description;
		else if (registration) layers.set(name.smallkey, { smallkey: name.smallkey, registration, description });
	}
	return { layers, problems };
}
