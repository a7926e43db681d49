import type { PathChange } from "../git/tree.ts";
import { checkCatalogue, type LayerFile, type Problem } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { type FoundFile, readEntries, readFound } from "./collect.ts";
import { type Rendered, type Written, writeRendered } from "./output.ts";
import { renderSlots, type Slot, slotPath, slotsOf } from "./slots.ts";

/** Where the files of one share are: in a folder of layers, or in a commit of a repository. */
export type ShareSource =
	| { folder: string; files: FoundFile[] }
	| { repository: string; files: PathChange[] };

/** A part of the layers, by whole folders: checked and rendered by itself, and written once all parts are good. */
export class Share {
	/** Slot by slot: files of one folder are quickest written together. */
	#rendered: Rendered[][] = [];

	/** Reads, checks and renders; every problem, and nothing is written. */
	async render(source: ShareSource, settings: FragmentSettings): Promise<Problem[]> {
		const slots = slotsOf(settings);
		this.#rendered = slots.map(() => []);
		return checkCatalogue(await readShare(source), (layer) => {
			for (const [position, bytes] of renderSlots(layer, settings).entries()) {
				this.#rendered[position]?.push([slotPath(slots[position] as Slot, layer.smallkey), bytes]);
			}
		});
	}

	/**
	 * Writes what was rendered.
	 * @param start the slot to begin with: two shares at once are quickest in two folders
	 */
	write(out: string, isFresh: boolean, start: number, tick: () => void): Written {
		const first = start % Math.max(1, this.#rendered.length);
		const order = [...this.#rendered.slice(first), ...this.#rendered.slice(0, first)];
		return writeRendered(out, order.flat(), isFresh, tick);
	}
}

async function readShare(source: ShareSource): Promise<LayerFile[]> {
	if ("folder" in source) return readFound(source.folder, source.files);
	return readEntries(source.repository, source.files);
}
