import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { type Json, objectOf, textOf } from "../compare/json.ts";
import type { Notes } from "./notes.ts";

/**
 * A uuid becomes the addresses that the older service made of it and served, unless the templates of this
 * configuration make the same of it.
 */
export function metadataOf(entry: Json, node: Json, settings: FragmentSettings, notes: Notes): void {
	const uuid = textOf(objectOf(entry.metadata).uuid);
	const served = { metadata_url: textOf(node.metadataUrl), catalogue_url: textOf(node.catalogueUrl) };
	if (!uuid || !served.metadata_url || !served.catalogue_url) return;
	const fill = (template: string) => template.replaceAll("{0}", encodeURIComponent(uuid));
	const isSame =
		fill(settings.metadataUrl) === served.metadata_url &&
		fill(settings.catalogueUrl) === served.catalogue_url;
	if (isSame) return;
	notes.add(
		"a metadata uuid: written as its two addresses, which METADATA_URL and CATALOGUE_URL do not give",
	);
	entry.metadata = served;
}
