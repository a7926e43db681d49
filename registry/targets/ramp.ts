import { type Field, isNumberType } from "../description.ts";
import { defaultMapWkid, layerExtent } from "../extent.ts";
import { escapeMarkup } from "../markup.ts";
import { type ClassValue, genericSymbology, renderSymbology, wmsImage } from "../symbology.ts";
import { geometryFieldType, type LayerFacts, plainFeatureInfoType, type ServiceFacts } from "./facts.ts";

/** Renames the members of a grid column as a viewer spells them. */
type Spell = (column: Column) => object;

/**
 * Renders the fragment of their configuration that RAMP 4.0.x to 5.5 read, as JSON; null where the layer is neither a
 * feature layer nor a single layer of a WMS.
 * @param spell renames the members of a grid column
 * @param classValue converts the value of a class; by default the value is kept
 */
export function renderRamp(layer: LayerFacts, spell: Spell, classValue?: ClassValue): string | null {
	if (layer.type === "ogcWms") {
		return layer.entries.length === 1 ? JSON.stringify({ layers: { wms: [wmsNode(layer)] } }) : null;
	}
	if (layer.type !== "esriFeature") return null;
	return JSON.stringify({ layers: { feature: [featureNode(layer, spell, classValue)] } });
}

export type Column = ReturnType<typeof fieldColumn>;

/** The columns of the data grid: two of the viewer's own, then one for each field. */
function gridColumns({ lang, service }: LayerFacts): Column[] {
	const fixed = { isSortable: false, sortType: "string", alignment: 0 };
	const column = (id: string, width: string, title: string, columnTemplate: string) => {
		return { id, fieldName: "", width, title, ...fixed, columnTemplate };
	};
	const fields = service.fields.filter((field) => field.type !== geometryFieldType);
	return [
		column("iconCol", "50px", lang === "fr" ? "Icône" : "Icon", "graphic_icon"),
		column("detailsCol", "60px", lang === "fr" ? "Détails" : "Details", "details_button"),
		...fields.map(fieldColumn),
	];
}

function fieldColumn(field: Field) {
	const name = escapeMarkup(field.name);
	return {
		id: name,
		fieldName: name,
		width: "400px",
		title: name,
		isSortable: true,
		// DataTables' own type. The viewer also knows "numeric", but then shows a missing number as 0.
		sortType: isNumberType(field.type) ? "num" : "string",
		alignment: 1,
		columnTemplate: "unformatted_grid_value",
	};
}

/** Feature info type → the viewers' parser for it. The viewers have no other parsers. */
const parsers: ReadonlyMap<string, string> = new Map([
	["text/html", "htmlRawParse"],
	["text/plain", "stringParse"],
	["application/json", "jsonRawParse"],
]);

/** The viewer's schema allows no other members, so metadata is left out. */
function wmsNode(layer: LayerFacts): object {
	const { id, name, url, entries, members } = layer;
	const mimeType = plainFeatureInfoType(layer);
	const parser = parsers.get(mimeType ?? "");
	return {
		id,
		displayName: name,
		url,
		imageUrl: wmsImage,
		// This name is sent to the service, so it is not escaped.
		layerName: entries[0],
		format: "image/png",
		legendMimeType: members.legend_format,
		featureInfo: parser ? { mimeType, parser } : undefined,
	};
}

function featureNode(layer: LayerFacts, spell: Spell, classValue?: ClassValue): object {
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
		symbology: service.renderer ? renderSymbology(service.renderer, classValue) : genericSymbology,
		mode: members.loading_mode ?? modeOf(service),
		maxAllowableOffset: members.max_allowable_offset,
		metadataUrl,
		catalogueUrl,
		datagrid: { gridColumns: gridColumns(layer).map(spell) },
	};
}

/** Small layers with these geometries are loaded whole; all other layers are loaded as the map moves. */
const snapshotGeometries = new Set(["esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]);
const maxSnapshotFeatures = 2000;

function modeOf(service: ServiceFacts): "snapshot" | undefined {
	if (service.count === null || service.count > maxSnapshotFeatures) return undefined;
	return snapshotGeometries.has(service.geometry_type) ? "snapshot" : undefined;
}
