import type { Description } from "./description.ts";
import type { LangEntry, Registration } from "./registration.ts";
import type { Lang } from "./smallkey.ts";

/** What an operator sets for all fragments. */
export interface FragmentSettings {
	/** Address of a metadata record, with `{0}` for its uuid; empty: a uuid adds nothing. */
	metadataUrl: string;
	/** Address of a catalogue page, with `{0}` for its uuid; empty: a uuid adds nothing. */
	catalogueUrl: string;
}

/** Parser that the viewer 4.0.x has for a feature-info type; it knows no other. */
const parsers: ReadonlyMap<string, string> = new Map([
	["text/html", "htmlRawParse"],
	["text/plain", "stringParse"],
	["application/json", "jsonRawParse"],
]);

/** Extent of Canada in EPSG:3978, in metres: where a feature layer lies of which nothing is known yet. */
const canada = { xmin: -2681457, ymin: -883440, xmax: 3549492, ymax: 3482193 };

/** A plain grey dot, for a feature layer of which nothing is known yet. */
const genericImage =
	"data:image/svg+xml;base64," +
	btoa(
		'<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><circle cx="8" cy="8" r="5" fill="#888" stroke="#444"/></svg>',
	);

/** The two columns that every data grid of the viewer starts with. */
const fixedColumns = [
	{
		id: "iconCol",
		fieldName: "",
		width: "50px",
		title: "Icon",
		isSortable: false,
		sortType: "string",
		alignment: 0,
		columnTemplate: "graphic_icon",
	},
	{
		id: "detailsCol",
		fieldName: "",
		width: "60px",
		title: "Details",
		isSortable: false,
		sortType: "string",
		alignment: 0,
		columnTemplate: "details_button",
	},
];

/** The id by which the viewer knows a fragment's layer. */
function fragmentId(lang: Lang, smallkey: string): string {
	return `rcs.${smallkey}.${lang}`;
}

/**
 * A registration in one language as the viewer 4.0.x merges it into its configuration: JSON, one line, no newline
 * at the end. Each member is as the viewer's configSchema.json (tag v4.0.1) accepts it.
 */
export function renderFragment(
	lang: Lang,
	smallkey: string,
	registration: Registration,
	_description: Description | null,
	settings: FragmentSettings,
): string {
	const entry = registration[lang];
	const id = fragmentId(lang, smallkey);
	const layers =
		registration.payload_type === "wms"
			? { wms: [wmsNode(id, entry)] }
			: { feature: [featureNode(id, entry, settings)] };
	return JSON.stringify({ layers });
}

function wmsNode(id: string, entry: LangEntry): object {
	const parser = parsers.get(entry.feature_info_type ?? "");
	return {
		id,
		displayName: entry.service_name || entry.layer,
		url: entry.service_url,
		layerName: entry.layer,
		format: "image/png",
		legendMimeType: entry.legend_format,
		featureInfo: parser ? { mimeType: entry.feature_info_type, parser } : undefined,
	};
}

function featureNode(id: string, entry: LangEntry, settings: FragmentSettings): object {
	return {
		id,
		displayName: entry.service_name || id,
		url: entry.service_url,
		nameField: entry.display_field ?? "",
		minScale: 0,
		maxScale: 0,
		layerExtent: canada,
		aliasMap: {},
		symbology: { type: "simple", imageUrl: genericImage, label: "" },
		mode: entry.loading_mode,
		maxAllowableOffset: entry.max_allowable_offset,
		...metadataMembers(entry, settings),
		datagrid: { gridColumns: fixedColumns },
	};
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
