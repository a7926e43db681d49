import { document, exactly, list, nullable, ref, string } from "./definitions.ts";

const finite = { type: "number" } as const;

/** `label`: empty if the service gives none. */
const drawing = { label: string(), image: ref("image") } as const;

/** In characters, except `maxKeywords`. */
export const maxTitle = 300;
export const maxAbstract = 2000;
export const maxKeywords = 20;
export const maxKeyword = 100;

export const maxSiblings = 100;
export const maxSibling = 100;

const beside = { ...list({ type: "string", maxLength: maxSibling }), maxItems: maxSiblings } as const;

/** For the catalogue. */
const about = {
	from: ref("origin"),
	abstract: { type: "string", maxLength: maxAbstract },
	keywords: {
		...list({ type: "string", minLength: 1, maxLength: maxKeyword }),
		maxItems: maxKeywords,
	},
	/** West, south, east, north, in degrees (RFC 7946, section 5). */
	bounds: { ...list(finite), minItems: 4, maxItems: 4 },
	/** Other layers of its service: names (WMS) or numbers (ArcGIS), with titles; not a layer that moved. */
	siblings: beside,
	/** Of its folder on an ArcGIS server, such as `Air/MapServer`. */
	services: beside,
	folders: beside,
} as const;

const titled = { title: { type: "string", maxLength: maxTitle }, ...about } as const;

const scales = { min_scale: ref("scale"), max_scale: ref("scale") } as const;

const otherFeatures = nullable(ref("drawing"));

export const description = document("description", "What was harvested from the services behind a layer", {
	type: "object",
	properties: { en: ref("lang"), fr: ref("lang") },
	additionalProperties: false,
	definitions: {
		image: { type: "string", format: "image" },
		lang: { anyOf: [ref("features"), ref("named"), ref("service")] },
		features: exactly(
			{
				/** The harvested address: while another is registered, the description is not used. */
				service_url: string(),
				name: string(),
				display_field: string(),
				geometry_type: string(),
				min_scale: ref("scale"),
				max_scale: ref("scale"),
				extent: nullable(ref("extent")),
				fields: list(ref("field")),
				renderer: { anyOf: [ref("simple"), ref("unique"), ref("breaks")] },
				count: nullable({ type: "number", minimum: 0 }),
			},
			about,
		),
		named: exactly(
			{
				service_url: string(),
				/** Names: while others are registered, the description is not used. */
				layers: { ...list(string()), minItems: 1 },
			},
			{ ...titled, ...scales },
		),
		service: exactly(
			{
				service_url: string(),
				/** Names (OGC) or numbers (ArcGIS) of all layers, in the service's order. */
				entries: list({ anyOf: [string(), { type: "integer", minimum: 0 }] }),
			},
			titled,
		),
		/** Not harvested: the next harvest replaces it. */
		origin: { enum: ["import", "example"] },
		/** A denominator; 0 is no bound. */
		scale: { type: "number", minimum: 0 },
		extent: exactly({ wkid: finite, xmin: finite, ymin: finite, xmax: finite, ymax: finite }),
		field: exactly({ name: string(), alias: string(), type: string() }),
		drawing: exactly(drawing),
		simple: exactly({ type: { const: "simple" }, ...drawing }),
		unique: exactly({
			type: { const: "unique" },
			fields: { ...list(string()), minItems: 1, maxItems: 3 },
			default: otherFeatures,
			classes: list(
				exactly({
					/** Of several fields: joined with a comma and a space. null: features without a value. */
					value: { type: ["string", "number", "null"] },
					...drawing,
				}),
			),
		}),
		breaks: exactly({
			type: { const: "breaks" },
			field: string(),
			min: finite,
			default: otherFeatures,
			/** Ascending: each starts where the one before it ends. */
			classes: list(exactly({ max: finite, ...drawing })),
		}),
	},
});

/** One language alone: an invalid one leaves the other one usable. */
export const langDescription = {
	$id: "lang-description.schema.json",
	...ref("lang"),
	definitions: description.definitions,
} as const;
