import { described, document, exactly, list, natural, ref, shared } from "./definitions.ts";

const description = "The body of PUT /register/<smallkey>, and the content of layers/<ab>/<smallkey>.json.";

function ifMember(name: string, value: string, then: object) {
	return { if: { properties: { [name]: { const: value } }, required: [name] }, then };
}

export const registration = document("registration", "Registration of a map layer", {
	description,
	...ifMember("version", "2.0", { $ref: "registration-2.schema.json" }),
	else: { $ref: "registration-1.schema.json" },
});

const loadingMode = {
	description: "Whether the viewer loads what the map shows (ondemand), or all of the layer once (snapshot).",
	enum: ["ondemand", "snapshot"],
} as const;

const withoutLayer = { properties: { layer: false } } as const;

export const registration1 = document("registration-1", "Registration of a map layer, version 1.x", {
	description,
	...exactly(
		{
			version: {
				description:
					"Version of this form. New registrations say 1.0.0; the older service's 1.1 and 1.2 are accepted.",
				type: "string",
				pattern: "^1\\.(?:(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)|1|2)$",
				code: "version",
			},
			payload_type: {
				description:
					"wms: an OGC Web Map Service. feature: one layer of an ArcGIS MapServer or FeatureServer.",
				enum: ["wms", "feature"],
			},
			en: ref("lang"),
			fr: ref("lang"),
		},
		{
			targets: {
				description: "Other addresses for the readers of one target: one address may not suit all viewers.",
				type: "object",
				minProperties: 1,
				properties: { v2: ref("overrides") },
				additionalProperties: false,
			},
		},
	),
	allOf: [
		ifMember("payload_type", "wms", { properties: { en: ref("wms"), fr: ref("wms") } }),
		ifMember("payload_type", "feature", {
			properties: { en: ref("feature"), fr: ref("feature"), targets: ref("featureTargets") },
		}),
	],
	definitions: {
		...shared,
		lang: described(
			"The layer in one language.",
			{ service_url: ref("address") },
			{
				layer: { minLength: 1, ...ref("text", "wms: the layer's name inside the service.") },
				service_name: ref("name", "The name that the viewer shows, on one line."),
				display_field: ref("text", "feature: the field whose value names a feature."),
				metadata: ref("metadata"),
				legend_format: ref("mime", "wms: the image type of the legend, such as image/png."),
				feature_info_type: ref(
					"mime",
					"wms: the type asked of GetFeatureInfo. The viewer reads text/html, text/plain and application/json.",
				),
				loading_mode: loadingMode,
				max_allowable_offset: natural("feature: how far a simplified line may stray, in map units."),
			},
		),
		wms: {
			required: ["layer"],
			properties: { display_field: false, max_allowable_offset: false },
		},
		feature: { properties: { layer: false, feature_info_type: false } },
		featureTargets: { properties: { v2: { properties: { en: withoutLayer, fr: withoutLayer } } } },
		overrides: {
			description: "What is different for one target, in either language or both.",
			type: "object",
			minProperties: 1,
			properties: { en: ref("override"), fr: ref("override") },
			additionalProperties: false,
		},
		override: {
			type: "object",
			minProperties: 1,
			properties: { service_url: ref("address"), layer: { minLength: 1, ...ref("text") } },
			additionalProperties: false,
		},
	},
});

const commonMembers = {
	service_name: ref("name", "The name that viewers show."),
	metadata: ref("metadata"),
} as const;

function layerMembers<const S>(layers: S, description: string) {
	return {
		scrape_only: { ...list(layers, description), minItems: 1 },
		recursive: { description: "Take every layer of the service, in its own order.", type: "boolean" },
	} as const;
}

/** Without layers, viewers load forever or draw nothing. */
const withLayers = {
	not: { properties: { scrape_only: false, recursive: { const: false } } },
	code: "no-layers",
	onlyOnWrite: true,
} as const;

const service_url = ref("address");

export const registration2 = document("registration-2", "Registration of a map layer, version 2.0", {
	description,
	...exactly({
		version: { description: "Version of this form.", const: "2.0", code: "version" },
		en: ref("node"),
		fr: ref("node"),
	}),
	definitions: {
		...shared,
		node: {
			description: "The layer in one language.",
			type: "object",
			required: ["service_type"],
			discriminator: { propertyName: "service_type" },
			oneOf: [ref("esriFeature"), ref("esriPicture"), ref("ogc"), ref("esriService")],
			code: "service-type",
		},
		esriFeature: described(
			"One layer of an ArcGIS MapServer or FeatureServer, as features.",
			{ service_type: { const: "esriFeature" }, service_url },
			{
				...commonMembers,
				display_field: ref("text", "The field whose value names a feature."),
				loading_mode: loadingMode,
				max_allowable_offset: natural("How far a simplified line may stray, in map units."),
				tolerance: natural("How far from a click a feature is still found, in pixels."),
			},
		),
		esriPicture: described(
			"An ArcGIS service of tiles or of images.",
			{ service_type: { enum: ["esriTile", "esriImage"] }, service_url },
			commonMembers,
		),
		ogc: {
			...withLayers,
			...described(
				"An OGC Web Map Service, or Web Map Tile Service.",
				{ service_type: { enum: ["ogcWms", "ogcWmts"] }, service_url },
				{
					...commonMembers,
					...layerMembers(
						{ minLength: 1, ...ref("text") },
						"Names of the layers inside the service, in the order in which they are shown.",
					),
					legend_format: ref("mime", "The image type of the legend, such as image/png."),
					feature_info_format: {
						description: "The type asked of GetFeatureInfo.",
						enum: ["text/html;fgpv=summary", "text/html", "text/plain", "application/json"],
					},
				},
			),
		},
		esriService: {
			...withLayers,
			...described(
				"A whole ArcGIS MapServer or FeatureServer.",
				{ service_type: { enum: ["esriMapServer", "esriFeatureServer"] }, service_url },
				{
					...commonMembers,
					...layerMembers(
						{ type: "integer", minimum: 0 },
						"Numbers of the layers inside the service, in the order in which they are shown.",
					),
				},
			),
		},
	},
});
