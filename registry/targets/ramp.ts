import { type Field, isNumberType } from "../description.ts";
import { defaultMapWkid, layerExtent } from "../extent.ts";
import { harmless } from "../shown.ts";
import type { Lang } from "../smallkey.ts";
import { genericSymbology, renderSymbology, wmsImage } from "../symbology.ts";
import { geometryFieldType, type LayerFacts, plainFeatureInfoType, type ServiceFacts } from "./facts.ts";

/** What RAMP 4.0.x to 5.5 read: a fragment of their configuration. They differ in how a grid column is spelled. */
export class RampFragments {
	readonly #spell: (column: Column) => object;
	/** The data grid of a layer without fields. */
	readonly #emptyGrids: Readonly<Record<Lang, string>>;

	/** @param spell a column as the viewer reads it */
	constructor(spell: (column: Column) => object) {
		this.#spell = spell;
		this.#emptyGrids = { en: this.#datagridOf("en", []), fr: this.#datagridOf("fr", []) };
	}

	/** The layer as JSON; null where it is no wms layer and no feature layer. */
	render(layer: LayerFacts): string | null {
		if (layer.type === "ogcWms") {
			return layer.entries.length === 1 ? JSON.stringify({ layers: { wms: [wmsNode(layer)] } }) : null;
		}
		if (layer.type !== "esriFeature") return null;
		const { lang, service } = layer;
		const grid =
			service.fields.length === 0 ? this.#emptyGrids[lang] : this.#datagridOf(lang, service.fields);
		// The data grid is most of the text and the same for many layers: it is not made anew for each of them.
		return `{"layers":{"feature":[${featureStart(layer)},"datagrid":${grid}}]}}`;
	}

	#datagridOf(lang: Lang, fields: readonly Field[]): string {
		const columns = fields.filter((field) => field.type !== geometryFieldType).map(fieldColumn);
		const all = [...fixedColumns[lang], ...columns];
		return JSON.stringify({ gridColumns: all.map((column) => this.#spell(column)) });
	}
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

/** The two columns that every data grid of the viewer starts with; their titles are shown to people. */
const fixedColumns: Readonly<Record<Lang, readonly Column[]>> = {
	en: [
		fixedColumn("iconCol", "50px", "Icon", "graphic_icon"),
		fixedColumn("detailsCol", "60px", "Details", "details_button"),
	],
	fr: [
		fixedColumn("iconCol", "50px", "Icône", "graphic_icon"),
		fixedColumn("detailsCol", "60px", "Détails", "details_button"),
	],
};

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

/** The JSON of a feature node up to its data grid: the same in both spellings, and made once for a layer. */
function featureStart(layer: LayerFacts): string {
	const known = starts.get(layer);
	if (known !== undefined) return known;
	const text = JSON.stringify(featureNode(layer)).slice(0, -1);
	starts.set(layer, text);
	return text;
}

const starts = new WeakMap<LayerFacts, string>();

function featureNode(layer: LayerFacts): object {
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
		symbology: service.renderer ? renderSymbology(service.renderer) : genericSymbology,
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
