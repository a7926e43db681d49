import {
	type CheckedLayer,
	checkCatalogue,
	checkRegistrationFile,
	isOtherFile,
	type LayerFile,
	parseLayerPath,
	problemLine,
} from "../../api/catalogue.ts";
import { parseDescription } from "../../api/description.ts";
import { type FragmentSettings, renderFragment } from "../../api/fragment.ts";
import { etagOf, type Fragment, type Fragments } from "../../api/read.ts";
import { descriptionPath, fragmentPath, langs, layerPath } from "../../api/smallkey.ts";
import type { Layer } from "../../api/store.ts";
import type { FileChange } from "../../api/stores/git.ts";
import {
	prepareOutput,
	removeFile,
	removeStale,
	removeTemporary,
	writeRendered,
	writeWhole,
} from "./output.ts";

/** A fragment in memory; its tag is made when it is first asked for. */
class HeldFragment implements Fragment {
	readonly body: Uint8Array;
	#etag: string | null = null;

	constructor(body: Uint8Array) {
		this.body = body;
	}

	get etag(): string {
		this.#etag ??= etagOf(this.body);
		return this.#etag;
	}
}

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

/** The fragments of all layers, in memory and as files: what is read, always in step with the branch. */
export class Publication {
	readonly #options: PublicationOptions;
	readonly #held = { en: new Map<string, HeldFragment>(), fr: new Map<string, HeldFragment>() };
	/** Lower-case smallkey → smallkey of each layer that is served. */
	readonly #keys = new Map<string, string>();

	constructor(options: PublicationOptions) {
		this.#options = options;
	}

	/** Where the reads look. */
	readonly fragments: Fragments = (lang, smallkey) => this.#held[lang].get(smallkey) ?? null;

	/** The smallkeys that are served, in no order. */
	smallkeys(): Iterable<string> {
		return this.#held.en.keys();
	}

	/** Publishes all layers of a commit. A layer whose file is wrong is served as it last was. */
	async load(files: LayerFile[]): Promise<void> {
		const problems = checkCatalogue(files, (layer) => this.#hold(layer));
		for (const problem of problems) {
			this.#options.warn(problemLine(problem));
			await this.#serveEarlier(problem.file);
		}
		const { out } = this.#options;
		const rendered = langs.flatMap((lang) =>
			Array.from(this.#held[lang], ([smallkey, held]) => [fragmentPath(lang, smallkey), held.body] as const),
		);
		removeTemporary(out);
		const inUse = prepareOutput(out);
		writeRendered(out, rendered, inUse, () => undefined);
		if (inUse) removeStale(out, (smallkey) => this.#held.en.has(smallkey));
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
		for (const smallkey of order) await this.#changeLayer(smallkey, files);
	}

	async #changeLayer(smallkey: string, files: ReadonlyMap<string, LayerFile | null>): Promise<void> {
		const path = layerPath(smallkey);
		const complete = files.has(path) && files.has(descriptionPath(smallkey));
		const stored = complete ? null : await this.#options.readLayer(smallkey);
		const file = files.has(path) ? files.get(path) : plainFile(path, stored?.registration);
		if (!file) return this.#drop(smallkey);
		const twin = this.#keys.get(smallkey.toLowerCase());
		if (twin !== undefined && twin !== smallkey) {
			const text = `its smallkey differs only in case from that of ${layerPath(twin)}`;
			return this.#options.warn(problemLine({ file: path, text }));
		}
		const { registration, problems } = checkRegistrationFile(file);
		for (const problem of problems) this.#options.warn(problemLine(problem));
		if (!registration) return;
		const described = files.get(descriptionPath(smallkey));
		const text =
			described === undefined ? stored?.description : described && new TextDecoder().decode(described.bytes);
		const changed = this.#hold({ smallkey, registration, description: text ? parseDescription(text) : null });
		for (const lang of changed) {
			const held = this.#held[lang].get(smallkey) as HeldFragment;
			writeWhole(this.#options.out, fragmentPath(lang, smallkey), held.body, true);
		}
	}

	/** Renders a layer and keeps what is new; the languages that changed. */
	#hold(layer: CheckedLayer): ("en" | "fr")[] {
		const { smallkey, registration, description } = layer;
		this.#keys.set(smallkey.toLowerCase(), smallkey);
		return langs.filter((lang) => {
			const body = Buffer.from(
				renderFragment(lang, smallkey, registration, description, this.#options.settings),
			);
			const before = this.#held[lang].get(smallkey);
			if (before && body.equals(before.body)) return false;
			this.#held[lang].set(smallkey, new HeldFragment(body));
			return true;
		});
	}

	async #drop(smallkey: string): Promise<void> {
		if (!this.#held.en.has(smallkey)) return;
		this.#keys.delete(smallkey.toLowerCase());
		for (const lang of langs) {
			this.#held[lang].delete(smallkey);
			removeFile(this.#options.out, fragmentPath(lang, smallkey));
		}
	}

	/** Serves the last good text of a layer whose file is wrong now. */
	async #serveEarlier(path: string): Promise<void> {
		const name = parseLayerPath(path);
		if (
			typeof name === "string" ||
			name.kind !== "registration" ||
			this.#keys.has(name.smallkey.toLowerCase())
		) {
			return;
		}
		for (const bytes of await this.#options.earlier(path)) {
			const { registration } = checkRegistrationFile({ path, kind: "file", bytes });
			if (!registration) continue;
			const text = (await this.#options.readLayer(name.smallkey))?.description;
			this.#hold({
				smallkey: name.smallkey,
				registration,
				description: text ? parseDescription(text) : null,
			});
			return;
		}
	}
}

function isGone(files: ReadonlyMap<string, LayerFile | null>, smallkey: string): boolean {
	return files.get(layerPath(smallkey)) === null;
}

function plainFile(path: string, text: string | undefined): LayerFile | null {
	return text === undefined ? null : { path, kind: "file", bytes: Buffer.from(text) };
}
