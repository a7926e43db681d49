import { address, metadata, mime, text } from "./definitions.ts";

/** Members that every node has. */
const common = {
	service_url: { $ref: "#/definitions/address" },
	service_name: { description: "The name that viewers show.", $ref: "#/definitions/text" },
	metadata: { $ref: "#/definitions/metadata" },
} as const;

const recursive = {
	description: "Take every layer of the service, in its own order.",
	type: "boolean",
} as const;

/**
 * A service whose layers are drawn by their names or numbers. Without any, a viewer keeps loading or draws nothing. The
 * rule applies to writes only.
 */
const named = {
	not: { properties: { scrape_only: false, recursive: { const: false } } },
	code: "no-layers",
	onlyOnWrite: true,
} as const;

/** JSON Schema (draft-07) of a registration of version 2.0. */
export const registration2 = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "registration-2.schema.json",
	title: "Registration of a map layer, version 2.0",
	description: "The body of PUT /register/<smallkey>, and the content of layers/<ab>/<smallkey>.json.",
	type: "object",
	required: ["version", "en", "fr"],
	properties: {
		version: { description: "Version of this form.", const: "2.0" },
		en: { $ref: "#/definitions/node" },
		fr: { $ref: "#/definitions/node" },
	},
	additionalProperties: false,
	definitions: {
		address,
		text,
		mime,
		metadata,
		offset: {
			description: "How far a simplified line may stray, in map units.",
			type: "integer",
			minimum: 0,
		},
		node: {
			description: "The layer in one language.",
			type: "object",
			required: ["service_type"],
			discriminator: { propertyName: "service_type" },
			oneOf: [
				{ $ref: "#/definitions/esriFeature" },
				{ $ref: "#/definitions/esriPicture" },
				{ $ref: "#/definitions/ogc" },
				{ $ref: "#/definitions/esriService" },
			],
			code: "service-type",
		},
		esriFeature: {
			description: "One layer of an ArcGIS MapServer or FeatureServer, as features.",
			type: "object",
			required: ["service_type", "service_url"],
			properties: {
				service_type: { const: "esriFeature" },
				...common,
				display_field: {
					description: "The field whose value names a feature.",
					$ref: "#/definitions/text",
				},
				loading_mode: { enum: ["ondemand", "snapshot"] },
				max_allowable_offset: { $ref: "#/definitions/offset" },
				tolerance: {
					description: "How far from a click a feature is still found, in pixels.",
					type: "integer",
					minimum: 0,
				},
			},
			additionalProperties: false,
		},
		esriPicture: {
			description: "An ArcGIS service of tiles or of images.",
			type: "object",
			required: ["service_type", "service_url"],
			properties: { service_type: { enum: ["esriTile", "esriImage"] }, ...common },
			additionalProperties: false,
		},
		ogc: {
			description: "An OGC Web Map Service, or Web Map Tile Service.",
			type: "object",
			...named,
			required: ["service_type", "service_url"],
			properties: {
				service_type: { enum: ["ogcWms", "ogcWmts"] },
				...common,
				scrape_only: {
					description: "Names of the layers inside the service, in the order in which they are shown.",
					type: "array",
					minItems: 1,
					items: { minLength: 1, $ref: "#/definitions/text" },
				},
				recursive,
				legend_format: {
					description: "The image type of the legend, such as image/png.",
					$ref: "#/definitions/mime",
				},
				feature_info_format: {
					description: "The type asked of GetFeatureInfo.",
					enum: ["text/html;fgpv=summary", "text/html", "text/plain", "application/json"],
				},
			},
			additionalProperties: false,
		},
		esriService: {
			description: "A whole ArcGIS MapServer or FeatureServer.",
			type: "object",
			...named,
			required: ["service_type", "service_url"],
			properties: {
				service_type: { enum: ["esriMapServer", "esriFeatureServer"] },
				...common,
				scrape_only: {
					description: "Numbers of the layers inside the service, in the order in which they are shown.",
					type: "array",
					minItems: 1,
					items: { type: "integer", minimum: 0 },
				},
				recursive,
			},
			additionalProperties: false,
		},
	},
} as const;
