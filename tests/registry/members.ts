import type { TargetName } from "../../registry/targets/target.ts";

/** Where a member of a registration is seen: the fragment of each target, the entry of the catalogue, the layer's page. */
export type Reader = TargetName | "entry" | "page";

/** The kinds of registrations whose members are listed. */
export type Kind = "wms" | "feature" | "ogcWms" | "ogcWmts" | "esriFeature" | "esriMapServer" | "esriImage";

/** Where a value goes: its path below the layer, such as `metadata.url`; `-` and a reason where it goes nowhere. */
type Place = string;

export interface Member {
	/** Its path below a language, or below the registration. */
	name: string;
	kinds: readonly Kind[];
	/** A value that occurs nowhere else. A text has markup, which is escaped. */
	value: unknown;
	/** Whether it is a text that is sent to the service, and so is never escaped. */
	isSent?: true;
	at: Readonly<Record<Reader, Place>>;
}

const ogc: readonly Kind[] = ["ogcWms", "ogcWmts"];
const wms: readonly Kind[] = ["wms", ...ogc];
const feature: readonly Kind[] = ["feature", "esriFeature"];
/** Kinds that have no metadata in RAMP. */
const others: readonly Kind[] = [...wms, "esriMapServer", "esriImage"];
const all: readonly Kind[] = [...others, ...feature];

const noPage = { entry: "- viewers read it", page: "- viewers read it" };
const ownSchema = "- the viewer's schema has no such member";
const noLayers = "- the viewer has no such layers";
const fromService = "- the viewer asks the service";

/** The same place at v0.9 and v1, which differ in spellings of grid columns only. */
function ramp(place: Place): { "v0.9": Place; v1: Place } {
	return { "v0.9": place, v1: place };
}

function nowhere(reason: Place): Member["at"] {
	return { ...ramp(reason), v2: reason, ramp4: reason, terria: reason, ...noPage };
}

/**
 * Every member of a registration, and where each reader has it, or why not. A new member of
 * `registry/schemas/registration.ts` needs its row here.
 */
export const members: readonly Member[] = [
	{
		name: "service_url",
		kinds: [...wms, ...feature, "esriImage"],
		value: "https://member.example/FeatureServer/4",
		at: { ...ramp("url"), v2: "url", ramp4: "url", terria: "url", entry: "address.en", page: "shown" },
	},
	{
		name: "service_name",
		kinds: all,
		value: "Member <b>name</b>",
		at: {
			...ramp("displayName"),
			v2: "name",
			ramp4: "name",
			terria: "name",
			entry: "title.en",
			page: "shown",
		},
	},
	{
		name: "layer",
		kinds: ["wms"],
		value: "member-layer",
		isSent: true,
		at: {
			...{ ...ramp("layerName"), v2: "layerEntries.0.id", ramp4: "sublayers.0.id", terria: "layers" },
			...{ entry: "layers.en.0", page: "shown" },
		},
	},
	{
		name: "scrape_only",
		kinds: ["ogcWms"],
		value: ["member-layer"],
		isSent: true,
		at: {
			...{ ...ramp("layerName"), v2: "layerEntries.0.id", ramp4: "sublayers.0.id", terria: "layers" },
			...{ entry: "layers.en.0", page: "shown" },
		},
	},
	{
		name: "scrape_only",
		kinds: ["ogcWmts"],
		value: ["member-layer"],
		isSent: true,
		at: {
			...{ ...ramp(noLayers), v2: "layerEntries.0.id", ramp4: noLayers, terria: "layer" },
			...{ entry: "layers.en.0", page: "shown" },
		},
	},
	{
		name: "scrape_only",
		kinds: ["esriMapServer"],
		value: [5417],
		at: {
			...{ ...ramp(noLayers), v2: "layerEntries.0.index", ramp4: "sublayers.0.index", terria: "layers" },
			...{ entry: "layers.en.0", page: "shown" },
		},
	},
	{
		name: "display_field",
		kinds: feature,
		value: "MEMBER_<b>FIELD</b>",
		at: { ...ramp("nameField"), v2: "nameField", ramp4: "nameField", terria: fromService, ...noPage },
	},
	{
		name: "metadata.metadata_url",
		kinds: feature,
		value: "https://member.example/metadata",
		at: {
			...ramp("metadataUrl"),
			...{ v2: "metadataUrl", ramp4: "metadata.url", terria: "info.0.content", ...noPage },
		},
	},
	{
		name: "metadata.metadata_url",
		kinds: others,
		value: "https://member.example/metadata",
		at: { ...ramp(ownSchema), v2: "metadataUrl", ramp4: ownSchema, terria: "info.0.content", ...noPage },
	},
	{
		name: "metadata.catalogue_url",
		kinds: feature,
		value: "https://member.example/catalogue",
		at: {
			...ramp("catalogueUrl"),
			...{ v2: "catalogueUrl", ramp4: ownSchema, terria: "info.1.content", ...noPage },
		},
	},
	{
		name: "metadata.catalogue_url",
		kinds: others,
		value: "https://member.example/catalogue",
		at: { ...ramp(ownSchema), v2: "catalogueUrl", ramp4: ownSchema, terria: "info.1.content", ...noPage },
	},
	{
		name: "legend_format",
		kinds: wms,
		value: "image/jpeg",
		at: {
			...{ ...ramp("legendMimeType"), v2: "legendMimeType", ramp4: ownSchema, terria: fromService },
			...noPage,
		},
	},
	{
		name: "feature_info_type",
		kinds: ["wms"],
		value: "text/plain",
		at: {
			...ramp("featureInfo.mimeType"),
			...{ v2: "featureInfoMimeType", ramp4: "featureInfoMimeType", terria: fromService, ...noPage },
		},
	},
	{
		name: "feature_info_format",
		kinds: ogc,
		value: "text/plain",
		at: {
			...ramp("featureInfo.mimeType"),
			...{ v2: "featureInfoMimeType", ramp4: "featureInfoMimeType", terria: fromService, ...noPage },
		},
	},
	{
		name: "legend_format",
		kinds: ["feature"],
		value: "image/jpeg",
		at: nowhere("- the symbols of features come from the service"),
	},
	{
		name: "loading_mode",
		kinds: ["wms"],
		value: "snapshot",
		at: nowhere("- the service draws what the map shows"),
	},
	{
		name: "loading_mode",
		kinds: feature,
		value: "snapshot",
		at: { ...ramp("mode"), v2: ownSchema, ramp4: ownSchema, terria: ownSchema, ...noPage },
	},
	{
		name: "max_allowable_offset",
		kinds: feature,
		value: 7919,
		at: { ...ramp("maxAllowableOffset"), v2: ownSchema, ramp4: ownSchema, terria: ownSchema, ...noPage },
	},
	{
		name: "tolerance",
		kinds: ["esriFeature"],
		value: 6841,
		at: { ...ramp(ownSchema), v2: "tolerance", ramp4: "mouseTolerance", terria: ownSchema, ...noPage },
	},
];

/** Members whose value is no value of a fragment: which tests cover them. */
export const otherMembers: Readonly<Record<string, string>> = {
	version: "chooses the form of the registration (registration.test.ts)",
	payload_type: "chooses the form of the fragment (fragment.test.ts)",
	service_type: "chooses the form of the fragment (targets/version2.test.ts)",
	recursive: "takes the harvested layers (targets/version2.test.ts)",
	targets: "other addresses for v2 (targets/v2.test.ts)",
	"metadata.uuid": "filled into the operator's addresses (targets/v2.test.ts)",
};
