import { type Drawing, type Field, isNumberType, type Renderer } from "../description.ts";
import { defaultMapWkid, layerExtent } from "../extents.ts";
import { genericImage, wmsImage } from "../icons.ts";
import { fragmentTexts } from "../texts/pairs.ts";
import { escapeMarkup } from "../untrusted.ts";
import { type LayerFacts, plainInfoType, type Render, type Target } from "./facts.ts";

/** RAMP 4.0.x (configSchema.json of v4.0.1). Its default configuration names an address without a version. */
export const v09: Target = {
	name: "v0.9",
	doc: "v0.9/doc",
	docs: "v0.9/docs",
	aliases: [{ doc: "doc", docs: "docs" }],
	// RCS specification, "Missing-key fragment".
	absent: (item) => JSON.stringify({ error_code: 404, smallkey: item }),
};

export const renderV09: Render = (layer) =>
	renderRamp(layer, { sortable: "isSortable", sorting: "sortType", classValue: (value) => value });

interface Spelling {
	sortable: string;
	sorting: string;
	/** Viewers compare it with a feature's value. */
	classValue: (value: string | number | null) => string | number | null;
}

function renderRamp(layer: LayerFacts, spelling: Spelling): object | null {
	if (layer.type === "ogcWms")
		return layer.entries.length === 1 ? { layers: { wms: [wmsNode(layer)] } } : null;
	return layer.type === "esriFeature" ? { layers: { feature: [featureNode(layer, spelling)] } } : null;
}

const parsers: ReadonlyMap<string, string> = new Map([
	["text/html", "htmlRawParse"],
	["text/plain", "stringParse"],
	["application/json", "jsonRawParse"],
]);

/** The viewer's schema allows no other members. */
function wmsNode(layer: LayerFacts): object {
	const { id, name, url, entries, members } = layer;
	const mimeType = plainInfoType(layer);
	const parser = parsers.get(mimeType ?? "");
	return {
		id,
		displayName: name,
		url,
		imageUrl: wmsImage,
		// Sent to the service, therefore not escaped.
		layerName: entries[0],
		format: "image/png",
		legendMimeType: members.legend_format,
		featureInfo: parser ? { mimeType, parser } : undefined,
	};
}

function featureNode(layer: LayerFacts, spelling: Spelling): object {
	const { id, name, url, nameField, service, metadataUrl, catalogueUrl, settings, members } = layer;
	return {
		id,
		displayName: name,
		url,
		nameField,
		minScale: service.min_scale,
		maxScale: service.max_scale,
		layerExtent: layerExtent(service.extent, settings.mapWkid ?? defaultMapWkid),
		aliasMap: Object.fromEntries(
			service.fields.map(({ name, alias }) => [escapeMarkup(name), escapeMarkup(alias)]),
		),
		symbology: service.renderer ? symbologyOf(service.renderer, spelling) : genericSymbology,
		mode: members.loading_mode ?? modeOf(service),
		maxAllowableOffset: members.max_allowable_offset,
		metadataUrl,
		catalogueUrl,
		datagrid: { gridColumns: gridColumns(layer, spelling) },
	};
}

export type Symbology = ReturnType<typeof symbologyOf>;

const genericSymbology = { type: "simple", imageUrl: genericImage, label: "" };

/** The viewer throws on any other type, and on an entry without `imageUrl`. */
function symbologyOf(renderer: Renderer, { classValue }: Spelling) {
	if (renderer.type === "simple") return { type: "simple" as const, ...symbolOf(renderer) };
	const { default: fallback } = renderer;
	const defaults = fallback ? { defaultImageUrl: fallback.image, label: escapeMarkup(fallback.label) } : {};
	if (renderer.type === "breaks") {
		const rangeMaps = renderer.classes.map((item) => ({ maxValue: item.max, ...symbolOf(item) }));
		return {
			type: "classBreaks" as const,
			field: renderer.field,
			minValue: renderer.min,
			rangeMaps,
			...defaults,
		};
	}
	const [field1, field2, field3] = renderer.fields;
	const valueMaps = renderer.classes.map((item) => ({ value: classValue(item.value), ...symbolOf(item) }));
	return { type: "uniqueValue" as const, field1, field2, field3, valueMaps, ...defaults };
}

function symbolOf({ image, label }: Drawing) {
	return { imageUrl: image, label: escapeMarkup(label) };
}

/** Small layers of these are loaded whole. */
export const snapshotGeometries: ReadonlySet<string> = new Set([
	"esriGeometryPoint",
	"esriGeometryMultipoint",
	"esriGeometryEnvelope",
]);
export const maxSnapshotFeatures = 2000;

function modeOf({ count, geometry_type }: LayerFacts["service"]): "snapshot" | undefined {
	const isSmall = count !== null && count <= maxSnapshotFeatures;
	return isSmall && snapshotGeometries.has(geometry_type) ? "snapshot" : undefined;
}

function gridColumns({ lang, columns }: LayerFacts, { sortable, sorting }: Spelling): object[] {
	const texts = fragmentTexts[lang];
	const fixed = { [sortable]: false, [sorting]: "string", alignment: 0 };
	const column = (id: string, width: string, title: string, columnTemplate: string) => {
		return { id, fieldName: "", width, title, ...fixed, columnTemplate };
	};
	const fieldColumn = (field: Field) => {
		const name = escapeMarkup(field.name);
		return {
			id: name,
			fieldName: name,
			width: "400px",
			title: name,
			[sortable]: true,
			// With "numeric", the viewer shows a missing number as 0.
			[sorting]: isNumberType(field.type) ? "num" : "string",
			alignment: 1,
			columnTemplate: "unformatted_grid_value",
		};
	};
	return [
		column("iconCol", "50px", texts["column-icon"], "graphic_icon"),
		column("detailsCol", "60px", texts["column-details"], "details_button"),
		...columns.map(fieldColumn),
	];
}

/** RAMP 5.0 to 5.5. */
export const v1: Target = {
	name: "v1",
	doc: "v1/doc",
	docs: "v1/docs",
	aliases: [],
	canSort: true,
	absent: () => "null",
};

// The viewer compares attributes as strings with `===`: a numeric class value never matches.
export const renderV1: Render = (layer) =>
	renderRamp(layer, { sortable: "orderable", sorting: "type", classValue: String });
