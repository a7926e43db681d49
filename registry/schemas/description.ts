import { described, document, exactly, list, nullable, ref, string } from "./definitions.ts";

const finite = { type: "number" } as const;

const image = {
	description: "A data URI of a PNG, JPEG, GIF, BMP or SVG image in base64, of at most 100,000 characters.",
	type: "string",
	format: "image",
} as const;

const drawing = {
	label: string("Empty where the service gives none."),
	image: ref("image"),
} as const;

/** In characters, except `maxKeywords`. */
export const maxTitle = 300;
export const maxAbstract = 2000;
export const maxKeywords = 20;
export const maxKeyword = 100;

export const maxSiblings = 100;
export const maxSibling = 100;

const beside = (text: string) =>
	({
		...list({ type: "string", maxLength: maxSibling }, text),
		maxItems: maxSiblings,
	}) as const;

/** For the catalogue. */
const about = {
	from: ref("origin"),
	abstract: { type: "string", maxLength: maxAbstract },
	keywords: {
		...list({ type: "string", minLength: 1, maxLength: maxKeyword }),
		maxItems: maxKeywords,
	},
	bounds: {
		...list(finite, "West, south, east, north, in degrees (RFC 7946, section 5)."),
		minItems: 4,
		maxItems: 4,
	},
	siblings: beside(
		"The other layers of its service: names (WMS) or numbers (ArcGIS), with titles. A layer that moved is not among them.",
	),
	services: beside("The services of its folder on an ArcGIS server, such as Air/MapServer."),
	folders: beside("The folders of its ArcGIS server."),
} as const;

const titled = { title: { type: "string", maxLength: maxTitle }, ...about } as const;

const scales = { min_scale: ref("scale"), max_scale: ref("scale") } as const;

const otherFeatures = nullable(ref("drawing"), "The symbol of every other feature, or null.");

export const description = document("description", "What was harvested from the services behind a layer", {
	type: "object",
	properties: { en: ref("lang"), fr: ref("lang") },
	additionalProperties: false,
	definitions: {
		image,
		lang: { anyOf: [ref("features"), ref("named"), ref("service")] },
		features: described(
			"A feature layer.",
			{
				service_url: string(
					"The harvested address. The description is used only while this is the registered address.",
				),
				name: string(),
				display_field: string("The field whose value names a feature; empty where the service says none."),
				geometry_type: string("ArcGIS's own name of it, such as esriGeometryPoint."),
				min_scale: ref("scale"),
				max_scale: ref("scale"),
				extent: nullable(ref("extent"), "null where the service's own extent is unusable."),
				fields: list(ref("field")),
				renderer: { anyOf: [ref("simple"), ref("unique"), ref("breaks")] },
				count: nullable(
					{ type: "number", minimum: 0 },
					"How many features there are; null where the service does not say.",
				),
			},
			about,
		),
		named: described(
			"The layers of an OGC service that the registration names.",
			{
				service_url: string(),
				layers: {
					...list(string(), "Their names. The rest is used only while these are the registered ones."),
					minItems: 1,
				},
			},
			{ ...titled, ...scales },
		),
		service: described(
			"The layers of a service that is taken whole, in the service's own order.",
			{
				service_url: string(),
				entries: list(
					{ anyOf: [string(), { type: "integer", minimum: 0 }] },
					"Names (OGC) or numbers (ArcGIS) of the layers.",
				),
			},
			titled,
		),
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
		extent: described("A rectangle in the spatial reference of that well-known id.", {
			wkid: finite,
			xmin: finite,
			ymin: finite,
			xmax: finite,
			ymax: finite,
		}),
		field: described(
			"A field of a feature layer; its type in ArcGIS's own words, such as esriFieldTypeString.",
			{ name: string(), alias: string(), type: string() },
		),
		drawing: exactly(drawing),
		simple: described("One symbol for every feature.", { type: { const: "simple" }, ...drawing }),
		unique: described("One symbol for each value of one to three fields.", {
			type: { const: "unique" },
			fields: { ...list(string()), minItems: 1, maxItems: 3 },
			default: otherFeatures,
			classes: list(
				exactly({
					value: {
						description:
							"A number where the one field holds numbers; the values of several fields are joined with a comma and a space. null for the features of which the one field has no value.",
						type: ["string", "number", "null"],
					},
					...drawing,
				}),
			),
		}),
		breaks: described("One symbol for each range of a number.", {
			type: { const: "breaks" },
			field: string(),
			min: { description: "Where the first range starts.", type: "number" },
			default: otherFeatures,
			classes: list(
				exactly({ max: finite, ...drawing }),
				"In ascending order: each starts where the one before it ends.",
			),
		}),
	},
});

/** One language alone: an invalid one leaves the other one usable. */
export const langDescription = {
	$id: "lang-description.schema.json",
	...ref("lang"),
	definitions: description.definitions,
} as const;
