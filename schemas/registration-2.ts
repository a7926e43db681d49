import { described, document, exactly, list, natural, ref, shared } from "./definitions.ts";

/** Members that every node may have. */
const common = {
	service_name: ref("text", "The name that viewers show."),
	metadata: ref("metadata"),
} as const;

/** Members of a service whose layers have names or numbers. @param layers schema of one name or number */
function entries<const S>(layers: S, description: string) {
	return {
		scrape_only: { ...list(layers, description), minItems: 1 },
		recursive: { description: "Take every layer of the service, in its own order.", type: "boolean" },
	} as const;
}

/** Refuses such a service without any layer: viewers load for ever, or draw nothing. The rule applies to writes only. */
const withLayers = {
	not: { properties: { scrape_only: false, recursive: { const: false } } },
	code: "no-layers",
	onlyOnWrite: true,
} as const;

const service_url = ref("address");

/** JSON Schema (draft-07) of a registration of version 2.0. */
export const registration2 = document("registration-2", "Registration of a map layer, version 2.0", {
	description: "The body of PUT /register/<smallkey>, and the content of layers/<ab>/<smallkey>.json.",
	...exactly({
		version: { description: "Version of this form.", const: "2.0" },
		en: ref("node"),
		fr: ref("node"),
	}),
	definitions: {
		...shared,
		offset: natural("How far a simplified line may stray, in map units."),
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
				...common,
				display_field: ref("text", "The field whose value names a feature."),
				loading_mode: { enum: ["ondemand", "snapshot"] },
				max_allowable_offset: ref("offset"),
				tolerance: natural("How far from a click a feature is still found, in pixels."),
			},
		),
		esriPicture: described(
			"An ArcGIS service of tiles or of images.",
			{ service_type: { enum: ["esriTile", "esriImage"] }, service_url },
			common,
		),
		ogc: {
			description: "An OGC Web Map Service, or Web Map Tile Service.",
			...withLayers,
			...exactly(
				{ service_type: { enum: ["ogcWms", "ogcWmts"] }, service_url },
				{
					...common,
					...entries(
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
			description: "A whole ArcGIS MapServer or FeatureServer.",
			...withLayers,
			...exactly(
				{ service_type: { enum: ["esriMapServer", "esriFeatureServer"] }, service_url },
				{
					...common,
					...entries(
						{ type: "integer", minimum: 0 },
						"Numbers of the layers inside the service, in the order in which they are shown.",
					),
				},
			),
		},
	},
});
