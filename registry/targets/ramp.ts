import { type Field, isNumberType } from "../description.ts";
import { defaultMapWkid, layerExtent } from "../extent.ts";
import { harmless } from "../shown.ts";
import type { Lang } from "../smallkey.ts";
import { type ClassValue, genericSymbology, renderSymbology, wmsImage } from "../symbology.ts";
import { geometryFieldType, type LayerFacts, plainFeatureInfoType, type ServiceFacts } from "./facts.ts";

/** A grid column as a viewer reads it. */
type Spell = (column: Column) => object;

/**
 * What RAMP 4.0.x to 5.5 read: a fragment of their configuration, as JSON; null where the layer is no feature layer and
 * no single layer of a WMS.
 * @param spell a grid column as the viewer reads it
 * @param classValue a number that a class has for its value, as the viewer reads it; the number itself where left out
 */
export function renderRamp(layer: LayerFacts, spell: Spell, classValue?: ClassValue): string | null {
	if (layer.type === "ogcWms") {
		return layer.entries.length === 1 ? JSON.stringify({ layers: { wms: [wmsNode(layer)] } }) : null;
	}
	if (layer.type !== "esriFeature") return null;
	return `{"layers":{"feature":[${featureStart(layer, classValue)},"datagrid":${datagrid(layer, spell)}}]}}`;
}

function datagrid({ lang, service }: LayerFacts, spell: Spell): string {
	const fields = service.fields.filter((field) => field.type !== geometryFieldType);
	const columns = [...fixedColumns(lang), ...fields.map(fieldColumn)];
	return JSON.stringify({ gridColumns: columns.map(spell) });
}

/** A column of a data grid, in the words of v0.9. */
export interface Column {
	id: string;
	fieldName: string;
	width: string;
	title: string;
	isSortable: boolean;
	sortType: "string" | "num";
	alignment: 0 | 1;
	columnTemplate: string;
}

/** Titles of the two columns that every data grid of the viewer starts with: they are shown to people. */
const fixedTitles: Readonly<Record<Lang, readonly [icon: string, details: string]>> = {
	en: ["Icon", "Details"],
	fr: ["Icône", "Détails"],
};

function fixedColumns(lang: Lang): Column[] {
	const [icon, details] = fixedTitles[lang];
	return [
		fixedColumn("iconCol", "50px", icon, "graphic_icon"),
		fixedColumn("detailsCol", "60px", details, "details_button"),
	];
}

function fixedColumn(id: string, width: string, title: string, columnTemplate: string): Column {
	const sorting = { isSortable: false, sortType: "string", alignment: 0 } as const;
	return { id, fieldName: "", width, title, ...sorting, columnTemplate };
}

function fieldColumn(field: Field): Column {
	const name = harmless(field.name);
	return {
		id: name,
		fieldName: name,
		width: "400px",
		title: name,
		isSortable: true,
		// DataTables' own type: with "numeric", which the viewer knows too, an empty number is shown as 0.
		sortType: isNumberType(field.type) ? "num" : "string",
		alignment: 1,
		columnTemplate: "unformatted_grid_value",
	};
}

/** Parser that the viewers have for a feature-info type; they know no other. */
const parsers: ReadonlyMap<string, string> = new Map([
	["text/html", "htmlRawParse"],
	["text/plain", "stringParse"],
	["application/json", "jsonRawParse"],
]);

/** The viewer's schema allows no other members: metadata has no place here. */
function wmsNode({ id, name, url, entries, legendFormat, featureInfoType }: LayerFacts): object {
	const mimeType = plainFeatureInfoType(featureInfoType);
	const parser = parsers.get(mimeType ?? "");
	return {
		id,
		displayName: name,
		url,
		imageUrl: wmsImage,
		// The service is asked by this name: it stays as it is registered.
		layerName: entries[0],
		format: "image/png",
		legendMimeType: legendFormat,
		featureInfo: parser ? { mimeType, parser } : undefined,
	};
}

/** The JSON of a feature node up to its data grid: made once for a layer where no class differs between the viewers. */
function featureStart(layer: LayerFacts, classValue?: ClassValue): string {
	if (classValue && hasNumberClasses(layer))
		return JSON.stringify(featureNode(layer, classValue)).slice(0, -1);
	const known = starts.get(layer);
	if (known !== undefined) return known;
	const text = JSON.stringify(featureNode(layer)).slice(0, -1);
	starts.set(layer, text);
	return text;
}

const starts = new WeakMap<LayerFacts, string>();

function hasNumberClasses({ service: { renderer } }: LayerFacts): boolean {
	return renderer?.type === "unique" && renderer.classes.some(({ value }) => typeof value === "number");
}

function featureNode(layer: LayerFacts, classValue?: ClassValue): object {
	const { id, name, url, nameField, service, metadataUrl, catalogueUrl, settings } = layer;
	return {
		id,
		displayName: name,
		url,
		nameField,
		minScale: service.min_scale,
		maxScale: service.max_scale,
		layerExtent: layerExtent(service.extent, settings.mapWkid ?? defaultMapWkid),
		aliasMap: Object.fromEntries(service.fields.map(({ name, alias }) => [harmless(name), harmless(alias)])),
		symbology: service.renderer ? renderSymbology(service.renderer, classValue) : genericSymbology,
		mode: layer.loadingMode ?? modeOf(service),
		maxAllowableOffset: layer.maxAllowableOffset,
		metadataUrl,
		catalogueUrl,
	};
}

/** Layers of these geometries are loaded whole where they are small; the others as the map moves. */
const snapshotGeometries = new Set(["esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]);
const mostSnapshotFeatures = 2000;

function modeOf(service: ServiceFacts): "snapshot" | undefined {
	if (service.count === null || service.count > mostSnapshotFeatures) return undefined;
	return snapshotGeometries.has(service.geometry_type) ? "snapshot" : undefined;
}
