import type { PathChange } from "../git/tree.ts";
import { isOtherFile, parseLayerPath } from "../registry/catalogue.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { CommitRange as Step } from "../store/git/store.ts";
import { type Entry, entryOf } from "./entry.ts";
import { type Picked, pickServed, type StoredLayer } from "./served.ts";
import { Slices } from "./slices.ts";
import { renderSlots } from "./slots.ts";

/** What a step changes for readers. */
export interface RenderedStep extends Picked {
	/** The new entry of each layer that is other now; null where it goes. */
	changes: Map<string, Entry | null>;
	/** Smallkeys whose registration was written. */
	registered: string[];
}

/** Layers that are read at once. */
const readAtOnce = 64;

/**
 * Reads, checks and renders the layers that a step of few paths changes, as they are at its new commit. Of smallkeys
 * that differ only in case the first by path is served.
 */
export async function renderStep(
	step: Step & { changes: readonly PathChange[] },
	settings: FragmentSettings,
): Promise<RenderedStep> {
	const rendered: RenderedStep = { changes: new Map(), problems: [], wrong: [], registered: [] };
	const smallkeys = touched(step.changes, rendered);
	const slices = new Slices();
	for (let start = 0; start < smallkeys.length; start += readAtOnce) {
		const some = smallkeys.slice(start, start + readAtOnce);
		const read = await Promise.all(some.map((smallkey) => readSpellings(smallkey, step)));
		for (const spellings of read) {
			const layer = pickServed(spellings, rendered);
			if (layer) rendered.changes.set(layer.smallkey, entryOf(renderSlots(layer, settings)));
			await slices.pause();
		}
	}
	return rendered;
}

/** The smallkeys of the changed files, one for all spellings that differ only in case. */
function touched(changes: readonly PathChange[], rendered: RenderedStep): string[] {
	const smallkeys = new Map<string, string>();
	for (const { path, mode } of changes) {
		const name = parseLayerPath(path);
		if (typeof name === "string") {
			if (mode !== null && !isOtherFile(path)) rendered.problems.push({ file: path, text: name });
			continue;
		}
		smallkeys.set(name.smallkey.toLowerCase(), name.smallkey);
		// Gone, unless it is found below at the new commit.
		if (name.kind === "registration") rendered.changes.set(name.smallkey, null);
		if (name.kind === "registration" && mode !== null) rendered.registered.push(name.smallkey);
	}
	return [...smallkeys.values()];
}

async function readSpellings(smallkey: string, { at }: Step): Promise<StoredLayer[]> {
	const smallkeys = await at.spellings(smallkey);
	return Promise.all(
		smallkeys.map(async (stored) => {
			const [file, described] = await Promise.all([
				at.file(layerPath(stored)),
				at.file(descriptionPath(stored)),
			]);
			return { smallkey: stored, file, description: described };
		}),
	);
}
