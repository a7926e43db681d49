import type { CheckedLayer } from "../../registry/catalogue.ts";
import { type FragmentSettings, renderFragment } from "../../registry/fragment.ts";
import { fragmentPath, type Lang, langs } from "../../registry/smallkey.ts";

/** What decides how layers are rendered, without the rest of a configuration: it is handed to other processes. */
export function fragmentSettings({ metadataUrl, catalogueUrl, mapWkid }: FragmentSettings): FragmentSettings {
	return { metadataUrl, catalogueUrl, ...(mapWkid === undefined ? {} : { mapWkid }) };
}

/** One of the forms in which each layer is read. */
export interface Slot {
	target: string;
	lang: Lang;
}

/** The forms in which each layer is read, in the order in which its fragments are kept. */
export function slotsOf(_settings: FragmentSettings): readonly Slot[] {
	return everySlot;
}

const everySlot: readonly Slot[] = langs.map((lang) => ({ target: "v0.9", lang }));

/** The path below an output folder at which a fragment stands: `v0.9/doc/en/23ax5t`. */
export function slotPath(slot: Slot, smallkey: string): string {
	return fragmentPath(slot.lang, smallkey);
}

/** The fragments of a layer in the order of the slots, as UTF-8 JSON; null where it cannot be expressed in one. */
export function renderSlots(layer: CheckedLayer, settings: FragmentSettings): (Uint8Array | null)[] {
	const { smallkey, registration, description } = layer;
	return slotsOf(settings).map(({ lang }) =>
		Buffer.from(renderFragment(lang, smallkey, registration, description, settings)),
	);
}
