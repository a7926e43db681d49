import { createHash } from "node:crypto";
import { drawingRank } from "../registry/description.ts";
import { etagOf } from "../registry/etag.ts";
import { defaultMapWkid } from "../registry/extent.ts";
import type { Fragment } from "../registry/fragment.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { type FragmentSettings, mapServerTypes } from "../registry/targets/facts.ts";
import { renderLayer, targetNames, targetOf, targetPath } from "../registry/targets/table.ts";
import type { TargetName } from "../registry/targets/target.ts";
import { codeStamp } from "../store/files/code-stamp.ts";

/** The settings that decide how layers are rendered, with all defaults: a plain object that other processes can get. */
export function fragmentSettings(settings: FragmentSettings): Required<FragmentSettings> {
	const { metadataUrl, catalogueUrl, mapWkid, mapServerType, targets } = settings;
	return {
		metadataUrl,
		catalogueUrl,
		mapWkid: mapWkid ?? defaultMapWkid,
		mapServerType: mapServerType ?? mapServerTypes[0],
		targets: targets ?? targetNames,
	};
}

/** A hash of everything that decides how a registration is rendered: the code and the settings. */
export function rendererStamp(settings: FragmentSettings): string {
	const text = codeStamp() + JSON.stringify(fragmentSettings(settings));
	return createHash("sha256").update(text).digest("hex");
}

/** One of the forms in which each layer is read: a target in one language. */
export interface Slot {
	target: TargetName;
	lang: Lang;
}

/** The forms in which each layer is read, in the order of its fragments in memory. */
export function slotsOf({ targets = targetNames }: Pick<FragmentSettings, "targets">): readonly Slot[] {
	return targets.flatMap((target) => langs.map((lang) => ({ target, lang })));
}

/** The path of a fragment below an output folder: `v0.9/doc/en/23ax5t`. */
export function slotPath({ target, lang }: Slot, smallkey: string): string {
	return targetPath(target, lang, smallkey);
}

/** The folder of the fragments of a slot below an output folder: `v0.9/doc/en`. */
export function slotFolder({ target, lang }: Slot): string {
	return `${targetOf(target).doc}/${lang}`;
}

/** The fragments of one layer, concatenated in the order of the slots. */
export interface RenderedLayer {
	bytes: Uint8Array;
	/** The offset in `bytes` where the fragment of each slot ends; an empty fragment means that there is none. */
	ends: readonly number[];
	/** The layer's place in the drawing order. */
	rank: number;
	/** The entity tag of each fragment, computed when it is first read. */
	etags: string[];
}

/** A rendered layer without its bytes, in the form that is sent to other threads and processes, and written to files. */
export type Row = readonly [smallkey: string, ends: readonly number[], rank: number];

/** Joins the fragments of a layer, as UTF-8. @param rank the layer's place in the drawing order */
export function joinFragments(
	fragments: readonly (string | null | undefined)[],
	rank: number,
): RenderedLayer {
	let end = 0;
	const ends = fragments.map((fragment) => {
		end += Buffer.byteLength(fragment ?? "");
		return end;
	});
	return { bytes: new TextEncoder().encode(fragments.join("")), ends, rank, etags: [] };
}

const noBytes = new Uint8Array(0);

/** Concatenates rendered layers, for other threads and processes and for files. A removed layer has no bytes. */
export function pack(entries: readonly (readonly [smallkey: string, RenderedLayer | null])[]) {
	const layers = entries.map(([smallkey, entry]): Row => [smallkey, entry?.ends ?? [], entry?.rank ?? 0]);
	// A copy in a buffer of its own, which a thread may get.
	return {
		layers,
		bytes: new Uint8Array(Buffer.concat(entries.map(([, entry]) => entry?.bytes ?? noBytes))),
	};
}

/** Renders a layer as UTF-8 JSON, one fragment per slot. A slot is empty if its target cannot express the layer. */
export function renderFragments(layer: CheckedLayer, settings: FragmentSettings): RenderedLayer {
	const { smallkey, registration, description } = layer;
	const { targets = targetNames } = settings;
	const [english = [], french = []] = langs.map((lang) =>
		renderLayer(targets, lang, smallkey, registration, description, settings),
	);
	const fragments = targets.flatMap((_, index) => [english[index], french[index]]);
	return joinFragments(fragments, drawingRank(description));
}

/** Splits concatenated bytes into rendered layers. Each of them keeps all of `bytes` in memory. */
export function* renderedIn(bytes: Uint8Array, rows: Iterable<Row>): Generator<[string, RenderedLayer]> {
	let start = 0;
	for (const [smallkey, ends, rank] of rows) {
		const end = start + (ends.at(-1) ?? 0);
		yield [smallkey, { bytes: bytes.subarray(start, end), ends, rank, etags: [] }];
		start = end;
	}
}

/** The fragment of one slot as UTF-8 JSON; null if the slot is empty. */
export function bodyOf({ bytes, ends }: RenderedLayer, slot: number): Uint8Array | null {
	const start = ends[slot - 1] ?? 0;
	const end = ends[slot] ?? 0;
	return end > start ? bytes.subarray(start, end) : null;
}

/** The fragment of one slot with its ETag; null if the slot is empty. */
export function fragmentOf(entry: RenderedLayer, slot: number): Fragment | null {
	const body = bodyOf(entry, slot);
	if (!body) return null;
	entry.etags[slot] ??= etagOf(body);
	return { body, etag: entry.etags[slot], rank: entry.rank };
}

export function isSame(before: RenderedLayer | undefined, after: RenderedLayer | null): boolean {
	if (!before || !after) return !before && !after;
	if (before.rank !== after.rank) return false;
	const hasSameEnds = before.ends.every((end, slot) => end === after.ends[slot]);
	return hasSameEnds && Buffer.compare(before.bytes, after.bytes) === 0;
}
