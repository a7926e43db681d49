import {
	type Description,
	type Field,
	isNumberType,
	type LangDescription,
	type Renderer,
} from "./description.ts";
import { defaultMapWkid, layerExtent } from "./extent.ts";
import type { LangEntry, Registration } from "./registration.ts";
import { harmless } from "./shown.ts";
import type { Lang } from "./smallkey.ts";
import { genericSymbology, renderSymbology, wmsImage } from "./symbology.ts";

/** What an operator sets for all fragments. */
export interface FragmentSettings {
	/** Address of a metadata record, with `{0}` for its uuid; empty: a uuid adds nothing. */
	metadataUrl: string;
	/** Address of a catalogue page, with `{0}` for its uuid; empty: a uuid adds nothing. */
	catalogueUrl: string;
	/** Well-known id of the spatial reference of the viewers' map; 3978 where it is not set. */
	mapWkid?: number;
}

/** Parser that the viewer 4.0.x has for a feature-info type; it knows no other. */
const parsers: ReadonlyMap<string, string> = new Map([
	["text/html", "htmlRawParse"],
	["text/plain", "stringParse"],
	["application/json", "jsonRawParse"],
]);

/** The two columns that every data grid of the viewer starts with; their titles are shown to people. */
const fixedColumns: Readonly<Record<Lang, readonly object[]>> = {
	en: [
		fixedColumn("iconCol", "50px", "Icon", "graphic_icon"),
		fixedColumn("detailsCol", "60px", "Details", "details_button"),
	],
	fr: [
		fixedColumn("iconCol", "50px", "Icône", "graphic_icon"),
		fixedColumn("detailsCol", "60px", "Détails", "details_button"),
	],
};

function fixedColumn(id: string, width: string, title: string, columnTemplate: string): object {
	return {
		id,
		fieldName: "",
		width,
		title,
		isSortable: false,
		sortType: "string",
		alignment: 0,
		columnTemplate,
	};
}

/** The id by which the viewer knows a fragment's layer. */
function fragmentId(lang: Lang, smallkey: string): string {
	return `rcs.${smallkey}.${lang}`;
}

/**
 * A registration in one language as the viewer 4.0.x merges it into its configuration: JSON, one line, no newline
 * at the end. Each member is as the viewer's configSchema.json (tag v4.0.1) accepts it.
 * @param description counts for a language only while its `service_url` is the registered one; null: the generic form
 */
export function renderFragment(
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
): string {
	const entry = registration[lang];
	const id = fragmentId(lang, smallkey);
	if (registration.payload_type === "wms") {
		return JSON.stringify({ layers: { wms: [wmsNode(id, entry)] } });
	}
	const harvested = description?.[lang];
	const service = harvested?.service_url === entry.service_url ? harvested : unknownService;
	const displayName = harmless(entry.service_name || service.name || smallkey);
	const node = JSON.stringify(featureNode(id, displayName, entry, service, settings));
	// The data grid is most of the text and the same for many layers: it is not made anew for each of them.
	return `{"layers":{"feature":[${node.slice(0, -1)},"datagrid":${datagrid(lang, service.fields)}}]}}`;
}

function wmsNode(id: string, entry: LangEntry): object {
	const parser = parsers.get(entry.feature_info_type ?? "");
	return {
		id,
		displayName: harmless(entry.service_name || entry.layer || ""),
		url: withoutLoneQuestionMark(entry.service_url),
		imageUrl: wmsImage,
		// The service is asked by this name: it stays as it is registered.
		layerName: entry.layer,
		format: "image/png",
		legendMimeType: entry.legend_format,
		featureInfo: parser ? { mimeType: entry.feature_info_type, parser } : undefined,
	};
}

function featureNode(
	id: string,
	displayName: string,
	entry: LangEntry,
	service: ServiceFacts,
	settings: FragmentSettings,
): object {
	return {
		id,
		displayName,
		url: withoutTrailingSlash(entry.service_url),
		nameField: harmless(entry.display_field || nameField(service)),
		minScale: service.min_scale,
		maxScale: service.max_scale,
		layerExtent: layerExtent(service.extent, settings.mapWkid ?? defaultMapWkid),
		aliasMap: Object.fromEntries(service.fields.map(({ name, alias }) => [harmless(name), harmless(alias)])),
		symbology: service.renderer ? renderSymbology(service.renderer) : genericSymbology,
		mode: entry.loading_mode ?? modeOf(service),
		maxAllowableOffset: entry.max_allowable_offset,
		...metadataMembers(entry, settings),
	};
}

/** What a fragment takes from a service; a renderer of null is the generic symbol. */
type ServiceFacts = Omit<LangDescription, "service_url" | "renderer"> & { renderer: Renderer | null };

/** What is said of a service that was not harvested yet. */
const unknownService: ServiceFacts = {
	name: "",
	display_field: "",
	geometry_type: "",
	min_scale: 0,
	max_scale: 0,
	extent: null,
	fields: [],
	renderer: null,
	count: null,
};

/** The viewer appends `?SERVICE=WMS…` to the address: with a `?` at its end there would be two. */
function withoutLoneQuestionMark(address: string): string {
	return address.indexOf("?") === address.length - 1 ? address.slice(0, -1) : address;
}

/** The viewer appends `/query` to the address. A slash in its query or fragment is the service's own. */
function withoutTrailingSlash(address: string): string {
	const end = address.search(/[?#]|$/);
	return address.slice(0, end).replace(/\/+$/, "") + address.slice(end);
}

/** The field whose value names a feature: the service's choice, else its first text field, else its first. */
function nameField(service: ServiceFacts): string {
	if (service.display_field) return service.display_field;
	const columns = service.fields.filter((field) => field.type !== geometryType);
	const text = columns.find((field) => field.type === "esriFieldTypeString");
	return (text ?? columns[0])?.name ?? "";
}

/** Layers of these geometries are loaded whole where they are small; the others as the map moves. */
const snapshotGeometries = new Set(["esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]);
const mostSnapshotFeatures = 2000;

function modeOf(service: ServiceFacts): "snapshot" | undefined {
	if (service.count === null || service.count > mostSnapshotFeatures) return undefined;
	return snapshotGeometries.has(service.geometry_type) ? "snapshot" : undefined;
}

const geometryType = "esriFieldTypeGeometry";

/** The viewer's data grid for a layer, as JSON. */
function datagrid(lang: Lang, fields: Field[]): string {
	if (fields.length === 0) return emptyDatagrids[lang];
	return JSON.stringify({ gridColumns: [...fixedColumns[lang], ...gridColumns(fields)] });
}

const emptyDatagrids: Readonly<Record<Lang, string>> = {
	en: JSON.stringify({ gridColumns: fixedColumns.en }),
	fr: JSON.stringify({ gridColumns: fixedColumns.fr }),
};

function gridColumns(fields: Field[]): object[] {
	const columns = fields.filter((field) => field.type !== geometryType);
	return columns.map(({ name: given, type }) => {
		const name = harmless(given);
		return {
			id: name,
			fieldName: name,
			width: "400px",
			title: name,
			isSortable: true,
			// DataTables' own type: with "numeric", which the viewer knows too, an empty number is shown as 0.
			sortType: isNumberType(type) ? "num" : "string",
			alignment: 1,
			columnTemplate: "unformatted_grid_value",
		};
	});
}

function metadataMembers(entry: LangEntry, settings: FragmentSettings): object {
	const metadata = entry.metadata ?? {};
	const fill = (template: string) =>
		metadata.uuid && template ? template.replaceAll("{0}", encodeURIComponent(metadata.uuid)) : undefined;
	return {
		metadataUrl: metadata.metadata_url ?? fill(settings.metadataUrl),
		catalogueUrl: metadata.catalogue_url ?? fill(settings.catalogueUrl),
	};
}
