import { fragmentSettings } from "../../publish/rendered.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import type { OperatorSettings, SiteSettings } from "../page/settings.ts";
import type { PublicName } from "./entries.ts";

/** All that a catalogue's content depends on, except the layers. It can be sent to another process. */
export interface CatalogueOptions {
	fragments: Required<FragmentSettings>;
	/** Address of the service with a slash at its end, or empty. */
	publicUrl: string;
	site: Omit<SiteSettings, "hasLayerPages">;
	/** Sender's id → the public name that its operator gave it. */
	senderNames: Readonly<Record<string, PublicName>>;
	/** The operator's styles and signature, as texts; empty for none. */
	look: { theme: string; signature: string };
	/** Whether each file gets a `.gz` beside it. */
	isCompressed: boolean;
	/** Folder of pictures of layers, which need not exist. */
	pictures: string;
}

/** The options of a catalogue from a configuration. */
export function catalogueOptions(
	given: FragmentSettings & {
		publicUrl: string;
		page: OperatorSettings;
		look: CatalogueOptions["look"];
		pictures: string;
	},
	{ canSend, ...more }: Pick<CatalogueOptions, "senderNames" | "isCompressed"> & { canSend: boolean },
): CatalogueOptions {
	const { page, look, publicUrl, pictures } = given;
	const fragments = fragmentSettings(given);
	const { metadataUrl, catalogueUrl, mapWkid, targets } = fragments;
	const site = { ...page, targets, mapWkid, metadataUrl, catalogueUrl, canSend };
	return { ...more, fragments, publicUrl: publicUrl === "" ? "" : `${publicUrl}/`, site, look, pictures };
}

/**
 * The public names of the senders that have one, by sender id. A name is left out if it contains an email address, or if
 * it is a sender's id, which is needed for signing.
 */
export function senderNamesOf(senders: ReadonlyMap<string, { name: PublicName | null }>) {
	const named = [...senders].flatMap(([id, { name }]) => {
		if (name === null) return [];
		const texts = typeof name === "string" ? [name] : [name.en, name.fr];
		const isPublic = texts.every((text) => !text.includes("@") && !senders.has(text));
		return isPublic ? [[id, name] as const] : [];
	});
	return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}
