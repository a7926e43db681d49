import { type Description, parseDescription } from "./description.ts";
import { largestRegistration, parseRegistration, type Registration } from "./registration.ts";
import type { Rules } from "./schema-problems.ts";
import { descriptionPath, layerPath, parseSmallkey, smallkeyRule } from "./smallkey.ts";

/** A file under `layers/`, as found in a folder or a commit. */
export interface LayerFile {
	/** Path from the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** Only plain files hold layers: a link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** Content; for a registration over the limit, at least one byte more than the limit. */
	bytes: Uint8Array;
}

/** Something to mend in a file. */
export interface Problem {
	file: string;
	/** `<JSON pointer>: <what is wrong>`, or only what is wrong. */
	text: string;
}

/** A layer whose files are all in order. */
export interface CheckedLayer {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

/** What a file name under `layers/` says: whose file it is, and which of the two. */
export type LayerName = { smallkey: string; kind: "registration" | "description" };

/** Files beside the layers' folders that belong to reviewers and not to a layer. */
const otherFiles: ReadonlySet<string> = new Set(["layers/owners.json", "layers/health.json"]);

/** Whether a path is no layer's file but may stand under `layers/`. */
export function isOtherFile(path: string): boolean {
	return otherFiles.has(path);
}

/** A problem as it is printed: `layers/23/23ax5t.json: /fr/service_url: must be an http or https address`. */
export function problemLine(problem: Problem): string {
	return `${problem.file}: ${problem.text}`;
}

/** Reads a path under `layers/`; a text instead says what is wrong with it. */
export function parseLayerPath(path: string): LayerName | string {
	const match = /^(?:.*\/)?([^/]*?)(\.service)?\.json$/.exec(path);
	if (!match) return "must be named <smallkey>.json or <smallkey>.service.json";
	const smallkey = parseSmallkey(match[1] ?? "");
	if (!smallkey) return `must be named <smallkey>.json, and a smallkey ${smallkeyRule}`;
	const kind = match[2] ? "description" : "registration";
	const expected = kind === "description" ? descriptionPath(smallkey) : layerPath(smallkey);
	return path === expected ? { smallkey, kind } : `must be at ${expected}`;
}

/** Checks one registration file by itself: kind, name and content. */
export function checkRegistrationFile(
	file: LayerFile,
	rules: Rules,
): {
	registration: Registration | null;
	problems: Problem[];
} {
	const refused = (text: string) => ({ registration: null, problems: [{ file: file.path, text }] });
	if (file.kind !== "file") return refused(`must be a plain file, not a ${file.kind}`);
	if (file.bytes.length > largestRegistration)
		return refused(`must have at most ${largestRegistration} bytes`);
	const { registration, problems } = parseRegistration(file.bytes, rules);
	return { registration, problems: problems.map((text) => ({ file: file.path, text })) };
}

/** Checks one service description by itself. */
export function checkDescriptionFile(file: LayerFile): {
	description: Description | null;
	problems: Problem[];
} {
	const refused = (text: string) => ({ description: null, problems: [{ file: file.path, text }] });
	if (file.kind !== "file") return refused(`must be a plain file, not a ${file.kind}`);
	const description = parseDescription(new TextDecoder().decode(file.bytes));
	if (!description) return refused("must be a service description, as npx fragments harvest writes it");
	return { description, problems: [] };
}

/** What is wrong with a registration whose smallkey another file has in other case. @param path of that other file */
export function twinText(path: string): string {
	return `its smallkey differs only in case from that of ${path}`;
}

/** What is wrong with a service description without its registration. */
export function orphanText(smallkey: string): string {
	return `describes a layer that is not at ${layerPath(smallkey)}`;
}

/**
 * Checks all files under `layers/`, in the order of their paths, and hands on each layer that is in order.
 * Two files of one layer stand side by side in that order, so nothing but the keys is kept.
 * @param files sorted by path
 * @param keep called once for each good layer
 * @param rules for the registrations
 * @returns every problem, in the order of the files
 */
export function checkCatalogue(
	files: Iterable<LayerFile>,
	keep: (layer: CheckedLayer) => void,
	rules: Rules = "stored",
): Problem[] {
	const check = new CatalogueCheck(keep, rules);
	for (const file of files) check.add(file);
	return check.end();
}

class CatalogueCheck {
	readonly #keep: (layer: CheckedLayer) => void;
	readonly #rules: Rules;
	readonly #problems: Problem[] = [];
	/** Lower-case smallkey → the registration file that has it. */
	readonly #files = new Map<string, string>();
	/** The good layer whose description may be the next file. */
	#pending: CheckedLayer | null = null;

	constructor(keep: (layer: CheckedLayer) => void, rules: Rules) {
		this.#keep = keep;
		this.#rules = rules;
	}

	add(file: LayerFile): void {
		if (isOtherFile(file.path)) return;
		const name = parseLayerPath(file.path);
		if (typeof name === "string") this.#problem(file, name);
		else if (name.kind === "description") this.#addDescription(file, name.smallkey);
		else this.#addRegistration(file, name.smallkey);
	}

	end(): Problem[] {
		this.#flush();
		return this.#problems;
	}

	#problem(file: LayerFile, text: string): void {
		this.#problems.push({ file: file.path, text });
	}

	#flush(): void {
		if (this.#pending) this.#keep(this.#pending);
		this.#pending = null;
	}

	#addRegistration(file: LayerFile, smallkey: string): void {
		this.#flush();
		const lower = smallkey.toLowerCase();
		const twin = this.#files.get(lower);
		if (twin) return this.#problem(file, twinText(twin));
		this.#files.set(lower, file.path);
		const { registration, problems } = checkRegistrationFile(file, this.#rules);
		this.#problems.push(...problems);
		if (registration) this.#pending = { smallkey, registration, description: null };
	}

	#addDescription(file: LayerFile, smallkey: string): void {
		if (this.#files.get(smallkey.toLowerCase()) !== layerPath(smallkey)) {
			return this.#problem(file, orphanText(smallkey));
		}
		const { description, problems } = checkDescriptionFile(file);
		if (!description) return void this.#problems.push(...problems);
		if (this.#pending?.smallkey === smallkey) this.#pending.description = description;
	}
}
