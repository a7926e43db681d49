import type { TargetName } from "../../registry/targets/facts.ts";

export type Reader = TargetName | "entry" | "page";

export type Kind = "wms" | "feature" | "ogcWms" | "ogcWmts" | "esriFeature" | "esriMapServer" | "esriImage";

export interface Member {
	name: string;
	kinds: readonly Kind[];
	value: unknown;
	/** The path below the layer in each form, such as `metadata.url`; `-` and a reason where it is in none. */
	at: Readonly<Record<Reader, string>>;
}

const ogc: readonly Kind[] = ["ogcWms", "ogcWmts"];
const feature: readonly Kind[] = ["feature", "esriFeature"];
/** Kinds that have no metadata in RAMP. */
const others: readonly Kind[] = ["wms", ...ogc, "esriMapServer", "esriImage"];

const schema = "- the viewer's schema has no such member";
const noLayers = "- the viewer has no such layers";
const service = "- the viewer asks the service";
const viewers = "- viewers read it";

function row(name: string, kinds: readonly Kind[], value: unknown, ...places: string[]): Member {
	const [ramp = "", v2 = ramp, ramp4 = ramp, terria = ramp, entry = viewers, page = viewers] = places;
	return { name, kinds, value, at: { "v0.9": ramp, v1: ramp, v2, ramp4, terria, entry, page } };
}

const address = "https://member.example/FeatureServer/4";
const metadata = "https://member.example/metadata";
const catalogue = "https://member.example/catalogue";
const layers = ["layers.en.0", "shown"];

/**
 * Every member of a registration, and where each reader has it, or why not. A new member of
 * `registry/schemas/registration.ts` needs its row here.
 */
// biome-ignore format: a table
export const members: readonly Member[] = [
	//  member, kinds, value; in v0.9 and v1, v2, ramp4, terria, entry, page
	row("service_url", ["wms", ...ogc, ...feature, "esriImage"], address, "url", "url", "url", "url", "address.en", "shown"),
	row("service_name", [...others, ...feature], "Member <b>name</b>", "displayName", "name", "name", "name", "title.en", "shown"),
	row("layer", ["wms"], "member-layer", "layerName", "layerEntries.0.id", "sublayers.0.id", "layers", ...layers),
	row("scrape_only", ["ogcWms"], ["member-layer"], "layerName", "layerEntries.0.id", "sublayers.0.id", "layers", ...layers),
	row("scrape_only", ["ogcWmts"], ["member-layer"], noLayers, "layerEntries.0.id", noLayers, "layer", ...layers),
	row("scrape_only", ["esriMapServer"], [5417], noLayers, "layerEntries.0.index", "sublayers.0.index", "layers", ...layers),
	row("display_field", feature, "MEMBER_<b>FIELD</b>", "nameField", "nameField", "nameField", service),
	row("metadata.metadata_url", feature, metadata, "metadataUrl", "metadataUrl", "metadata.url", "info.0.content"),
	row("metadata.metadata_url", others, metadata, schema, "metadataUrl", schema, "info.0.content"),
	row("metadata.catalogue_url", feature, catalogue, "catalogueUrl", "catalogueUrl", schema, "info.1.content"),
	row("metadata.catalogue_url", others, catalogue, schema, "catalogueUrl", schema, "info.1.content"),
	row("legend_format", ["wms", ...ogc], "image/jpeg", "legendMimeType", "legendMimeType", schema, service),
	row("legend_format", ["feature"], "image/jpeg", "- the symbols of features come from the service"),
	row("feature_info_type", ["wms"], "text/plain", "featureInfo.mimeType", "featureInfoMimeType", "featureInfoMimeType", service),
	row("feature_info_format", ogc, "text/plain", "featureInfo.mimeType", "featureInfoMimeType", "featureInfoMimeType", service),
	row("loading_mode", ["wms"], "snapshot", "- the service draws what the map shows"),
	row("loading_mode", feature, "snapshot", "mode", schema, schema, schema),
	row("max_allowable_offset", feature, 7919, "maxAllowableOffset", schema, schema, schema),
	row("tolerance", ["esriFeature"], 6841, schema, "tolerance", "mouseTolerance", schema),
];

export const otherMembers: Readonly<Record<string, string>> = {
	version: "chooses the form of the registration (registration.test.ts)",
	payload_type: "chooses the form of the fragment (fragment.test.ts)",
	service_type: "chooses the form of the fragment (targets/version2.test.ts)",
	recursive: "takes the harvested layers (targets/version2.test.ts)",
	targets: "other addresses for v2 (targets/version2.test.ts)",
	"metadata.uuid": "filled into the operator's addresses (fragment.test.ts)",
};
