import { type Description, parseDescription } from "./description.ts";
import {
	aboutKey,
	judgeNames,
	type NameEdit,
	type NamesBefore,
	namesOf,
	type Problem,
	type Remark,
} from "./judge-names.ts";
import { visible } from "./markdown.ts";
import { matchesGlob, ownersPath, parseOwners } from "./owners.ts";
import type { Rules } from "./problems.ts";
import { maxRegistrationBytes, parseRegistration, type Registration } from "./registration.ts";
import {
	descriptionPath,
	fileName,
	isOtherFile,
	layerPath,
	parseLayerPath,
	parseSmallkey,
} from "./smallkey.ts";
import { type BrokenRule, broken, type TextCode, textOf } from "./texts.ts";

/** A file under `layers/`, as found in a folder or a commit. */
export interface LayerFile {
	/** Path from the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** Only a plain file may contain a layer: a link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** The content. If the file is larger than its limit, the first bytes are enough, one more than the limit. */
	bytes: Uint8Array;
}

/** A layer whose files are valid. */
export interface CheckedLayer {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

export interface Sender {
	id: string;
	/** Globs of the smallkeys that the sender may change; null: all. */
	smallkeys: readonly string[] | null;
}

const maxDescriptionBytes = 4 * 1024 * 1024;

/** Largest size of a file that belongs to no layer, in bytes. Every version of it stays in every clone for ever. */
export const maxOtherBytes = 1024 * 1024;

export function maxBytesOf(path: string): number {
	if (isOtherFile(path)) return maxOtherBytes;
	return path.endsWith(".service.json") ? maxDescriptionBytes : maxRegistrationBytes;
}

/** A problem as it is printed: `layers/23/23ax5t.json: /fr/service_url: must be an http or https address`. */
export function problemLine({ file, text }: Remark): string {
	return `${file}: ${text}`;
}

export function smallkeyText(text: string): string {
	return `smallkey: ${textOf("smallkey", JSON.stringify(text.slice(0, 80)))}`;
}

export function mayChange({ smallkeys }: Sender, smallkey: string): boolean {
	return smallkeys?.some((glob) => matchesGlob(glob, smallkey)) ?? true;
}

/** Judges whether a sender may change a smallkey; null where the sender may. */
export function judgeSender(sender: Sender, smallkey: string): Problem | null {
	if (mayChange(sender, smallkey)) return null;
	const globs = sender.smallkeys?.join(" ") || "none";
	return aboutKey(layerPath(smallkey), broken("owner", sender.id, globs, smallkey));
}

/**
 * Judges the place and the name of a file; null where both are right. Outside `layers/` any name of visible characters
 * is accepted.
 */
export function judgePlace({ path, isRemoved }: NameEdit): Problem | null {
	const refuse = (code: TextCode, ...values: string[]) => ({ file: path, ...broken(code, ...values) });
	if (isRemoved) return path === ownersPath ? refuse("owners-removed") : null;
	if (isOtherFile(path) || parseLayerPath(path)) return null;
	if (path === "layers") return refuse("layers-folder");
	if (!path.startsWith("layers/")) {
		const isOtherCase = path.split("/", 1)[0]?.toLowerCase() === "layers";
		if (isOtherCase) return refuse("layers-case");
		// U+FFFD stands where the name was not UTF-8; a backslash separates folders on Windows.
		const isPlain = visible(path) === path && !/[\ufffd\\]/.test(path);
		return isPlain ? null : refuse("visible-name");
	}
	const [, name, service] = /^(.*?)(\.service)?\.json$/s.exec(fileName(path)) ?? [];
	if (name === undefined) return refuse("file-name");
	if (parseSmallkey(name) === null)
		return aboutKey(path, broken("smallkey", JSON.stringify(name.slice(0, 80))));
	return refuse("folder", service ? descriptionPath(name) : layerPath(name));
}

/** Judges the kind and the size of a file before it is read; null where both are right. */
export function judgeKind(
	path: string,
	kind: LayerFile["kind"],
	bytes: number,
	maxBytes = maxBytesOf(path),
): Problem | null {
	if (kind !== "file") {
		const found = kind === "symlink" ? "symlink" : "submodule or the like";
		return { file: path, ...broken("plain-file", found) };
	}
	return bytes > maxBytes ? { file: path, ...broken("size", maxBytes) } : null;
}

export interface JudgedFile {
	/** Null where the file is not a valid registration. `description` likewise. */
	registration: Registration | null;
	description: Description | null;
	problems: Problem[];
}

/** Judges one file by itself: its kind, size and content. `layers/health.json` may have any content. */
export function judgeFile({ path, kind, bytes }: LayerFile, rules: Rules): JudgedFile {
	const judged = (problems: readonly BrokenRule[], found: Partial<JudgedFile> = {}): JudgedFile => {
		const own = problems.map((problem) => ({ ...problem, file: path }));
		return { registration: null, description: null, ...found, problems: own };
	};
	const wrongKind = judgeKind(path, kind, bytes.length);
	if (wrongKind) return judged([wrongKind]);
	if (path === ownersPath) return judged(parseOwners(bytes).problems);
	if (isOtherFile(path)) return judged([]);
	if (path.endsWith(".service.json")) {
		const description = parseDescription(new TextDecoder().decode(bytes));
		return judged(description ? [] : [broken("description")], { description });
	}
	const { registration, problems } = parseRegistration(bytes, rules);
	return judged(problems, { registration });
}

/**
 * Judges files under `layers/`: their places, names and contents.
 * @param files sorted by path, so that the registration of a layer comes before its description
 * @param keep called once for each valid layer
 * @param rules for the registrations
 * @param before the names that are stored before the change; by default those of `files`
 * @returns every problem, in the order of the files
 */
export function judgeFiles(
	files: readonly LayerFile[],
	keep: (layer: CheckedLayer) => void,
	rules: Rules = "stored",
	before: NamesBefore = namesOf(files.map(({ path }) => path)),
): Problem[] {
	const problems: Problem[] = [];
	const edits = files.map(({ path }) => ({ path, isRemoved: false }));
	const wrongNames = new Map(judgeNames(edits, before).map((problem) => [problem.file, problem]));
	const layers = new Map<string, CheckedLayer>();
	for (const file of files) {
		const misplaced = judgePlace({ path: file.path, isRemoved: false });
		if (misplaced) problems.push(misplaced);
		const name = parseLayerPath(file.path);
		if (!name) continue;
		const wrongName = wrongNames.get(file.path);
		if (wrongName) problems.push(wrongName);
		const { registration, description, problems: found } = judgeFile(file, rules);
		problems.push(...found);
		if (wrongName) continue;
		const layer = layers.get(name.smallkey);
		if (layer) layer.description = description;
		else if (registration) layers.set(name.smallkey, { smallkey: name.smallkey, registration, description });
	}
	for (const layer of layers.values()) keep(layer);
	return problems;
}
