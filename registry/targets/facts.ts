import type { Description, FeatureDescription, Renderer } from "../description.ts";
import type { LangEntry, Registration1 } from "../registration.ts";
import { harmless } from "../shown.ts";
import type { Lang } from "../smallkey.ts";

/** What an operator sets for all fragments. */
export interface FragmentSettings {
	/** Address of a metadata record, with `{0}` for its uuid; empty: a uuid adds nothing. */
	metadataUrl: string;
	/** Address of a catalogue page, with `{0}` for its uuid; empty: a uuid adds nothing. */
	catalogueUrl: string;
	/** Well-known id of the spatial reference of the viewers' map; 3978 where it is not set. */
	mapWkid?: number;
	/** How v2 names one layer of a MapServer; `esriDynamic`, which every viewer of v2 draws, where it is not set. */
	mapServerType?: MapServerType;
}

/** The two ways in which v2 can name one layer of a MapServer. */
export const mapServerTypes = ["esriDynamic", "esriFeature"] as const;
export type MapServerType = (typeof mapServerTypes)[number];

/** Kinds of map services, in the words of a payload of version 2.0. */
export type ServiceType = "ogcWms" | "esriFeature";

/** What a fragment takes from a service; a renderer of null is the generic symbol. */
export type ServiceFacts = Omit<FeatureDescription, "service_url" | "from" | "renderer"> & {
	renderer: Renderer | null;
};

/** A layer in one language, as every target renders it: what is common to them is found once. */
export interface LayerFacts {
	lang: Lang;
	smallkey: string;
	/** By which viewers know the layer: `rcs.<smallkey>.<lang>`. */
	id: string;
	type: ServiceType;
	/** The service's address; one layer of an ArcGIS service has no slash at the end, a WMS no lone `?`. */
	url: string;
	/** The name that is shown, with nothing in it that a page would take for a tag. */
	name: string;
	/** Names or numbers of the layers inside the service, in the publisher's order. */
	entries: readonly (string | number)[];
	/** The registered name of the field whose value names a feature, or what the service says; `""`: not known. */
	nameField: string;
	metadataUrl: string | undefined;
	catalogueUrl: string | undefined;
	/** The registration's other members for this language. */
	entry: LangEntry;
	/** What was harvested of the service, or what is said of one that was not harvested yet. */
	service: ServiceFacts;
	/** Whether `service` was harvested. */
	isHarvested: boolean;
	settings: FragmentSettings;
}

/**
 * What the targets have to know of a layer in one language.
 * @param description counts for a language only while its `service_url` is the registered one; null: the generic form
 */
export function layerFacts(
	lang: Lang,
	smallkey: string,
	registration: Registration1,
	description: Description | null,
	settings: FragmentSettings,
): LayerFacts {
	const entry = registration[lang];
	const isWms = registration.payload_type === "wms";
	const described = description?.[lang];
	const isHarvested = described?.service_url === entry.service_url && "renderer" in described;
	const service = isHarvested ? described : unknownService;
	const layer = entry.layer ?? "";
	return {
		lang,
		smallkey,
		id: `rcs.${smallkey}.${lang}`,
		type: isWms ? "ogcWms" : "esriFeature",
		url: isWms ? withoutLoneQuestionMark(entry.service_url) : withoutTrailingSlash(entry.service_url),
		name: harmless(entry.service_name || (isWms ? layer : service.name || smallkey)),
		entries: isWms ? [layer] : [],
		nameField: harmless(entry.display_field || nameField(service)),
		metadataUrl: entry.metadata?.metadata_url ?? fill(settings.metadataUrl, entry),
		catalogueUrl: entry.metadata?.catalogue_url ?? fill(settings.catalogueUrl, entry),
		entry,
		service,
		isHarvested,
		settings,
	};
}

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

/** Viewers append `?SERVICE=WMS…` to the address: with a `?` at its end there would be two. */
function withoutLoneQuestionMark(address: string): string {
	return address.indexOf("?") === address.length - 1 ? address.slice(0, -1) : address;
}

/** Viewers append `/query` to the address. A slash in its query or fragment is the service's own. */
function withoutTrailingSlash(address: string): string {
	const end = address.search(/[?#]|$/);
	return address.slice(0, end).replace(/\/+$/, "") + address.slice(end);
}

/** ArcGIS's type of the field that holds a feature's shape: no column of a table. */
export const geometryFieldType = "esriFieldTypeGeometry";

/** The field whose value names a feature: the service's choice, else its first text field, else its first. */
function nameField(service: ServiceFacts): string {
	if (service.display_field) return service.display_field;
	const columns = service.fields.filter((field) => field.type !== geometryFieldType);
	const text = columns.find((field) => field.type === "esriFieldTypeString");
	return (text ?? columns[0])?.name ?? "";
}

/** An operator's template with the uuid of a registration's metadata. */
function fill(template: string, { metadata }: LangEntry): string | undefined {
	if (!metadata?.uuid || !template) return undefined;
	return template.replaceAll("{0}", encodeURIComponent(metadata.uuid));
}
