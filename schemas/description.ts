import { exactly } from "./definitions.ts";

const finite = { type: "number" } as const;

const image = {
	description: "A data URI of a PNG, JPEG, GIF, BMP or SVG image in base64, of at most 100,000 characters.",
	type: "string",
	format: "image",
} as const;

const drawing = {
	label: { description: "Empty where the service gives none.", type: "string" },
	image: { $ref: "#/definitions/image" },
} as const;

/** Longest title and abstract, most keywords and longest keyword, in characters: they are in the catalogue. */
export const maxTitle = 300;
export const maxAbstract = 2000;
export const maxKeywords = 20;
export const maxKeyword = 100;

/** A service's texts about a layer, for the catalogue. A text that the service does not have is left out. */
const about = {
	from: { $ref: "#/definitions/origin" },
	abstract: { type: "string", maxLength: maxAbstract },
	keywords: {
		type: "array",
		maxItems: maxKeywords,
		items: { type: "string", minLength: 1, maxLength: maxKeyword },
	},
	bounds: {
		description: "West, south, east, north, in degrees (RFC 7946, section 5).",
		type: "array",
		minItems: 4,
		maxItems: 4,
		items: finite,
	},
} as const;

/** The same of a layer that has no name of its own in the description. */
const titled = { title: { type: "string", maxLength: maxTitle }, ...about } as const;

const otherFeatures = {
	description: "The symbol of every other feature, or null.",
	anyOf: [{ type: "null" }, { $ref: "#/definitions/drawing" }],
} as const;

/**
 * JSON Schema (draft-07) of a service description: the content of layers/<ab>/<smallkey>.service.json, which
 * harvesting writes. In the words of no viewer.
 */
export const description = {
	$schema: "http://json-schema.org/draft-07/schema#",
	$id: "description.schema.json",
	title: "What was harvested from the services behind a layer",
	type: "object",
	properties: { en: { $ref: "#/definitions/lang" }, fr: { $ref: "#/definitions/lang" } },
	additionalProperties: false,
	definitions: {
		image,
		lang: {
			anyOf: [
				{ $ref: "#/definitions/features" },
				{ $ref: "#/definitions/named" },
				{ $ref: "#/definitions/service" },
			],
		},
		features: {
			description: "A feature layer.",
			...exactly(
				{
					service_url: {
						description:
							"The harvested address. The description is used only while this is the registered address.",
						type: "string",
					},
					name: { type: "string" },
					display_field: {
						description: "The field whose value names a feature; empty where the service says none.",
						type: "string",
					},
					geometry_type: {
						description: "ArcGIS's own name of it, such as esriGeometryPoint.",
						type: "string",
					},
					min_scale: { $ref: "#/definitions/scale" },
					max_scale: { $ref: "#/definitions/scale" },
					extent: {
						description: "null where the service's own extent is unusable.",
						anyOf: [{ type: "null" }, { $ref: "#/definitions/extent" }],
					},
					fields: { type: "array", items: { $ref: "#/definitions/field" } },
					renderer: {
						anyOf: [
							{ $ref: "#/definitions/simple" },
							{ $ref: "#/definitions/unique" },
							{ $ref: "#/definitions/breaks" },
						],
					},
					count: {
						description: "How many features there are; null where the service does not say.",
						anyOf: [{ type: "null" }, { type: "number", minimum: 0 }],
					},
				},
				about,
			),
		},
		named: {
			description: "The layers of an OGC service that the registration names.",
			...exactly(
				{
					service_url: { type: "string" },
					layers: {
						description: "Their names. The rest is used only while these are the registered ones.",
						type: "array",
						minItems: 1,
						items: { type: "string" },
					},
				},
				titled,
			),
		},
		service: {
			description: "The layers of a service that is taken whole, in the service's own order.",
			...exactly(
				{
					service_url: { type: "string" },
					entries: {
						description: "Names (OGC) or numbers (ArcGIS) of the layers.",
						type: "array",
						items: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] },
					},
				},
				titled,
			),
		},
		origin: {
			description:
				"Not harvested, but taken over from an older service (import), or written for a layer that comes with the project (example). The next harvest replaces it.",
			enum: ["import", "example"],
		},
		scale: {
			description: "Scale denominator between which and another the layer is drawn; 0 is no bound.",
			type: "number",
			minimum: 0,
		},
		extent: {
			description: "A rectangle in the spatial reference of that well-known id.",
			...exactly({ wkid: finite, xmin: finite, ymin: finite, xmax: finite, ymax: finite }),
		},
		field: {
			description: "A field of a feature layer; its type in ArcGIS's own words, such as esriFieldTypeString.",
			...exactly({ name: { type: "string" }, alias: { type: "string" }, type: { type: "string" } }),
		},
		drawing: exactly(drawing),
		simple: {
			description: "One symbol for every feature.",
			...exactly({ type: { const: "simple" }, ...drawing }),
		},
		unique: {
			description: "One symbol for each value of one to three fields.",
			...exactly({
				type: { const: "unique" },
				fields: { type: "array", minItems: 1, maxItems: 3, items: { type: "string" } },
				default: otherFeatures,
				classes: {
					type: "array",
					items: exactly({
						value: {
							description:
								"A number where the one field holds numbers; the values of several fields are joined with a comma and a space.",
							type: ["string", "number"],
						},
						...drawing,
					}),
				},
			}),
		},
		breaks: {
			description: "One symbol for each range of a number.",
			...exactly({
				type: { const: "breaks" },
				field: { type: "string" },
				min: { description: "Where the first range starts.", type: "number" },
				default: otherFeatures,
				classes: {
					description: "In ascending order: each starts where the one before it ends.",
					type: "array",
					items: exactly({ max: finite, ...drawing }),
				},
			}),
		},
	},
} as const;

/** JSON Schema of one language alone: what is not whole in one does not take the other away. */
export const langDescription = {
	$id: "lang-description.schema.json",
	$ref: "#/definitions/lang",
	definitions: description.definitions,
} as const;
