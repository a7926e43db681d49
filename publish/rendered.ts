import { createHash } from "node:crypto";
import { drawingRank } from "../registry/description.ts";
import { defaultMapWkid } from "../registry/extent.ts";
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

/** The forms in which each layer is read, in the order of its fragments. */
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

/** The fragments of one layer. */
export interface RenderedLayer {
	/** UTF-8 JSON in the order of the slots; null if the target cannot express the layer. */
	fragments: readonly (Uint8Array | null)[];
	/** The layer's place in the drawing order. */
	rank: number;
}

const encoder = new TextEncoder();

/** Renders a layer in all forms. */
export function renderFragments(layer: CheckedLayer, settings: FragmentSettings): RenderedLayer {
	const { smallkey, registration, description } = layer;
	const { targets = targetNames } = settings;
	const [english = [], french = []] = langs.map((lang) =>
		renderLayer(targets, lang, smallkey, registration, description, settings),
	);
	const texts = targets.flatMap((_, index) => [english[index], french[index]]);
	const fragments = texts.map((text) => (text ? encoder.encode(text) : null));
	return { fragments, rank: drawingRank(description) };
}
