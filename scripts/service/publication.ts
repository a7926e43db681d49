import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { Fragments } from "../../api/read.ts";
import type { Layer } from "../../api/store.ts";
import type { FileChange } from "../../api/stores/git.ts";
import {
	type CheckedLayer,
	checkCatalogue,
	checkRegistrationFile,
	isOtherFile,
	type LayerFile,
	type Problem,
	parseLayerPath,
	problemLine,
} from "../../registry/catalogue.ts";
import { type Description, parseDescription } from "../../registry/description.ts";
import { type FragmentSettings, renderFragment } from "../../registry/fragment.ts";
import { harvestedLangs, type Registration } from "../../registry/registration.ts";
import { descriptionPath, fragmentPath, type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import {
	countFragments,
	prepareOutput,
	removeFile,
	removeStale,
	removeTemporary,
	writeRendered,
	writeWhole,
} from "../build/output.ts";
import { FragmentTable, type TableSource } from "./table.ts";

/** What a publication needs from outside. */
export interface PublicationOptions {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	settings: FragmentSettings;
	/** Told why a file is not served. */
	warn: (problem: string) => void;
	/** A layer as stored at the commit that is served now. */
	readLayer: (smallkey: string) => Promise<Layer | null>;
	/** Earlier texts of a file, newest first. */
	earlier: (path: string) => Promise<Uint8Array[]>;
}

/** The mark beside a kept file that says: the rendered files were in step at the end. */
function markOf(path: string): string {
	return `${path}.ended`;
}

/** Changed files by path; null where one is gone. */
type Files = ReadonlyMap<string, LayerFile | null>;

/** A layer that is about to be published. */
interface Prepared {
	smallkey: string;
	/** Null: it is gone. Undefined: its file is wrong. */
	registration: Registration | null | undefined;
	description: Description | null;
	problems: Problem[];
}

/** The fragments of all layers, in memory and as files: what is read, always in step with the branch. */
export class Publication {
	readonly #options: PublicationOptions;
	#table = new FragmentTable();
	/** Lower-case smallkey → smallkey of each layer that is served, where the two differ. */
	readonly #capitals = new Map<string, string>();
	/** Lower-case smallkey → a smallkey that is not served, since another differs only in case. */
	readonly #twins = new Map<string, string>();
	/** Fragments whose files are not in step yet; they are tried again with the next change. */
	readonly #unwritten = new Set<{ lang: Lang; smallkey: string }>();

	constructor(options: PublicationOptions) {
		this.#options = options;
	}

	/** Where the reads look. */
	readonly fragments: Fragments = (target, lang, smallkey) =>
		target === "v0.9" ? this.#table.find(lang, smallkey) : null;

	/** Another number after each change of any fragment, once the service reads. */
	readonly version = (): number => this.#table.changes;

	/** Number of layers that are served. */
	get size(): number {
		return this.#table.size;
	}

	/** The smallkeys that are served, in no order. */
	smallkeys(): Iterable<string> {
		return this.#table.smallkeys();
	}

	/** Publishes all layers of a commit. A layer whose file is wrong is served as it last was. */
	async load(files: LayerFile[]): Promise<void> {
		const problems = checkCatalogue(files, (layer) => this.#hold(layer));
		for (const problem of problems) {
			this.#options.warn(problemLine(problem));
			await this.#serveEarlier(problem.file);
		}
		this.#writeAll();
	}

	/**
	 * Takes over what an earlier process published and kept in a file.
	 * @returns the commit that it is of; null where there is no such file, or it is another renderer's
	 */
	restore(path: string, renderer: string): string | null {
		const loaded = FragmentTable.load(path, renderer);
		if (!loaded) return null;
		this.#table = loaded.table;
		for (const smallkey of this.#table.smallkeys()) this.#noteCapitals(smallkey);
		const { out } = this.#options;
		removeTemporary(out);
		// Without the mark that process was killed: files may be older, or newer, than what it kept.
		const inStep = existsSync(markOf(path)) && countFragments(out) === this.#table.size * langs.length;
		rmSync(markOf(path), { force: true });
		if (!inStep) this.#writeAll();
		return loaded.commit;
	}

	/**
	 * Keeps everything in a file, for the next process.
	 * @param ended whether nothing is published after this
	 */
	save(path: string, source: TableSource, ended: boolean): void {
		// A layer that waits for its twin to go is found again only when all are read.
		if (this.#twins.size > 0) return rmSync(path, { force: true });
		this.#table.save(path, source);
		if (ended && this.#unwritten.size === 0) writeFileSync(markOf(path), "");
	}

	/** Publishes changes, in memory at once and then as files. */
	async change(changes: FileChange[]): Promise<void> {
		const smallkeys = new Set<string>();
		const files = new Map<string, LayerFile | null>();
		for (const { path, file } of changes) {
			files.set(path, file);
			const name = parseLayerPath(path);
			if (typeof name === "object") smallkeys.add(name.smallkey);
			else if (file && !isOtherFile(path)) this.#options.warn(problemLine({ file: path, text: name }));
		}
		const order = [...smallkeys].sort((a, b) => Number(isGone(files, b)) - Number(isGone(files, a)));
		const prepared = await Promise.all(order.map((smallkey) => this.#prepare(smallkey, files)));
		for (const layer of prepared) this.#apply(layer);
		for (const { smallkey } of prepared) await this.#serveTwin(smallkey);
		this.#flush();
	}

	/** Reads a layer as it is now; null as registration where its file is gone, undefined where it is wrong. */
	async #prepare(smallkey: string, files: Files): Promise<Prepared> {
		const path = layerPath(smallkey);
		const file = files.has(path)
			? files.get(path)
			: plainFile(path, (await this.#options.readLayer(smallkey))?.registration);
		if (!file) return { smallkey, registration: null, description: null, problems: [] };
		const { registration, problems } = checkRegistrationFile(file, "stored");
		const isHarvested = registration !== null && harvestedLangs(registration).length > 0;
		const description = isHarvested ? await this.#describe(smallkey, files) : null;
		return { smallkey, registration: registration ?? undefined, description, problems };
	}

	/** Publishes a layer as it is now; one whose file is wrong stays as it was. */
	#apply({ smallkey, registration, description, problems }: Prepared): void {
		for (const problem of problems) this.#options.warn(problemLine(problem));
		if (registration === null) return this.#drop(smallkey);
		const twin = this.#twinOf(smallkey);
		if (twin !== null) {
			this.#twins.set(smallkey.toLowerCase(), smallkey);
			const text = `its smallkey differs only in case from that of ${layerPath(twin)}`;
			return this.#options.warn(problemLine({ file: layerPath(smallkey), text }));
		}
		if (!registration) return;
		for (const lang of this.#hold({ smallkey, registration, description }))
			this.#unwritten.add({ lang, smallkey });
	}

	/** Serves a layer whose twin in another case has gone. */
	async #serveTwin(smallkey: string): Promise<void> {
		const lower = smallkey.toLowerCase();
		const twin = this.#twins.get(lower);
		if (twin === undefined || twin === smallkey || this.#twinOf(twin) !== null) return;
		this.#twins.delete(lower);
		this.#apply(await this.#prepare(twin, new Map()));
	}

	/** The service description of a feature layer, as changed or as stored. */
	async #describe(
		smallkey: string,
		files: ReadonlyMap<string, LayerFile | null>,
	): Promise<Description | null> {
		const path = descriptionPath(smallkey);
		if (!files.has(path)) {
			const stored = await this.#options.readLayer(smallkey);
			return stored?.description ? parseDescription(stored.description) : null;
		}
		const file = files.get(path);
		return file?.kind === "file" ? parseDescription(new TextDecoder().decode(file.bytes)) : null;
	}

	/** Renders a layer and keeps it; the languages that changed. */
	#hold({ smallkey, registration, description }: CheckedLayer): Lang[] {
		const render = (lang: Lang) =>
			renderFragment(lang, smallkey, registration, description, this.#options.settings);
		this.#noteCapitals(smallkey);
		return this.#table.set(smallkey, { en: render("en"), fr: render("fr") });
	}

	#drop(smallkey: string): void {
		if (!this.#table.has(smallkey)) return;
		this.#table.delete(smallkey);
		this.#capitals.delete(smallkey.toLowerCase());
		for (const lang of langs) this.#unwritten.add({ lang, smallkey });
	}

	#noteCapitals(smallkey: string): void {
		const lower = smallkey.toLowerCase();
		if (lower !== smallkey) this.#capitals.set(lower, smallkey);
	}

	/** Another smallkey that is served and differs only in case, or null. */
	#twinOf(smallkey: string): string | null {
		const lower = smallkey.toLowerCase();
		const served = this.#capitals.get(lower) ?? (this.#table.has(lower) ? lower : null);
		return served === smallkey ? null : served;
	}

	/** Brings the files in step. */
	#flush(): void {
		for (const fragment of this.#unwritten) {
			const { lang, smallkey } = fragment;
			const held = this.#table.find(lang, smallkey);
			if (held) writeWhole(this.#options.out, fragmentPath(lang, smallkey), held.body, true);
			else removeFile(this.#options.out, fragmentPath(lang, smallkey));
			this.#unwritten.delete(fragment);
		}
	}

	#writeAll(): void {
		const { out } = this.#options;
		removeTemporary(out);
		const inUse = prepareOutput(out);
		writeRendered(out, this.#rendered(), inUse, () => undefined);
		if (inUse) removeStale(out, (smallkey) => this.#table.has(smallkey));
	}

	*#rendered(): Generator<readonly [string, Uint8Array]> {
		for (const lang of langs) {
			for (const smallkey of this.#table.smallkeys()) {
				const fragment = this.#table.find(lang, smallkey);
				if (fragment) yield [fragmentPath(lang, smallkey), fragment.body];
			}
		}
	}

	/** Serves the last good text of a layer whose file is wrong now. */
	async #serveEarlier(path: string): Promise<void> {
		const name = parseLayerPath(path);
		if (typeof name === "string" || name.kind !== "registration") return;
		const { smallkey } = name;
		if (this.#table.has(smallkey) || this.#twinOf(smallkey) !== null) return;
		for (const bytes of await this.#options.earlier(path)) {
			const { registration } = checkRegistrationFile({ path, kind: "file", bytes }, "stored");
			if (!registration) continue;
			const text = (await this.#options.readLayer(smallkey))?.description;
			this.#hold({ smallkey, registration, description: text ? parseDescription(text) : null });
			return;
		}
	}
}

function isGone(files: Files, smallkey: string): boolean {
	return files.get(layerPath(smallkey)) === null;
}

function plainFile(path: string, text: string | undefined): LayerFile | null {
	return text === undefined ? null : { path, kind: "file", bytes: Buffer.from(text) };
}
