import { fragmentSettings } from "../../publish/rendered.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import type { PublicName } from "../../registry/timestamp.ts";
import type { OperatorSettings, SiteSettings } from "../page/page-settings.ts";

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
