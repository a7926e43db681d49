import type { PathChange } from "../../api/git/tree.ts";
import { checkCatalogue, type LayerFile, type Problem } from "../../registry/catalogue.ts";
import { type FragmentSettings, renderFragment } from "../../registry/fragment.ts";
import { fragmentPath, langs } from "../../registry/smallkey.ts";
import { type FoundFile, readEntries, readFound } from "./collect.ts";
import { type Rendered, type Written, writeRendered } from "./output.ts";

/** Where the files of one share are: in a folder of layers, or in a commit of a repository. */
export type ShareSource =
	| { folder: string; files: FoundFile[] }
	| { repository: string; files: PathChange[] };

/** A part of the layers, by whole folders: checked and rendered by itself, and written once all parts are good. */
export class Share {
	readonly #rendered: Rendered[][] = langs.map(() => []);

	/** Reads, checks and renders; every problem, and nothing is written. */
	async render(source: ShareSource, settings: FragmentSettings): Promise<Problem[]> {
		return checkCatalogue(await readShare(source), ({ smallkey, registration, description }) => {
			langs.forEach((lang, index) => {
				const text = renderFragment(lang, smallkey, registration, description, settings);
				this.#rendered[index]?.push([fragmentPath(lang, smallkey), Buffer.from(text)]);
			});
		});
	}

	/**
	 * Writes what was rendered.
	 * @param start the language to begin with: two shares at once are quickest in two folders
	 */
	write(out: string, inUse: boolean, start: number, tick: () => void): Written {
		const order = [...this.#rendered.slice(start), ...this.#rendered.slice(0, start)];
		return writeRendered(out, order.flat(), inUse, tick);
	}
}

async function readShare(source: ShareSource): Promise<LayerFile[]> {
	if ("folder" in source) return readFound(source.folder, source.files);
	return readEntries(source.repository, source.files);
}
