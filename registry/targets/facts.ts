import {
	currentDescription,
	type Description,
	type FeatureDescription,
	type LangDescription,
	type Renderer,
} from "../description.ts";
import { escapeMarkup } from "../markup.ts";
import {
	isVersion2,
	type LangEntry,
	type Registration,
	type ServiceType,
	serviceTypeOf,
	takesAllLayers,
} from "../registration.ts";
import type { Lang } from "../smallkey.ts";

export interface FragmentSettings {
	/** Address of a metadata record, with `{0}` for its uuid; empty: a uuid adds nothing. */
	metadataUrl: string;
	/** Address of a catalogue page, with `{0}` for its uuid; empty: a uuid adds nothing. */
	catalogueUrl: string;
	/** Well-known id of the spatial reference of the viewers' map; 3978 where it is not set. */
	mapWkid?: number;
	/** How v2 names one layer of a MapServer; `esriDynamic`, which every viewer of v2 draws, where it is not set. */
	mapServerType?: MapServerType;
	/** Names of the targets that are built and served; all where it is not set. */
	targets?: readonly string[];
}

export const mapServerTypes = ["esriDynamic", "esriFeature"] as const;
export type MapServerType = (typeof mapServerTypes)[number];

/** What a fragment takes from a service; a renderer of null is the generic symbol. */
export type ServiceFacts = Omit<FeatureDescription, "service_url" | "from" | "renderer"> & {
	renderer: Renderer | null;
};

/** Names or numbers of the layers inside a service, in the order in which they are shown. */
export type Entries = readonly (string | number)[];

/** A layer in one language, with everything that the targets have in common. */
export interface LayerFacts {
	lang: Lang;
	smallkey: string;
	/** The layer's id in viewers: `rcs.<smallkey>.<lang>`. */
	id: string;
	type: ServiceType;
	/** The service's address, without a slash at the end (ArcGIS) or a lone `?` (OGC). */
	url: string;
	/** The displayed name, with its markup escaped. */
	name: string;
	entries: Entries;
	/** The field whose value names a feature: the registered one, else the service's; `""`: not known. */
	nameField: string;
	metadataUrl: string | undefined;
	catalogueUrl: string | undefined;
	/** The registration in this language. */
	members: Members;
	/** What was harvested from the service; `unknownService` before the first harvest. */
	service: ServiceFacts;
	/** The address and layers for v2, which a registration may override. */
	v2: { url: string; entries: Entries };
	settings: FragmentSettings;
}

/** The members of a registration in one language, of any version and kind. */
type Members = LangEntry & {
	scrape_only?: (string | number)[];
	feature_info_format?: string;
	tolerance?: number;
};

/**
 * Collects what the targets need to render a layer in one language.
 * @param description used for a language only while its `service_url` is the registered one; null: the generic form
 */
export function layerFacts(
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
): LayerFacts {
	const members: Members = registration[lang];
	const type = serviceTypeOf(registration, lang);
	const harvested = currentDescription(registration, description, lang);
	const service = harvested && "renderer" in harvested ? harvested : unknownService;
	const url = addressOf(type, members.service_url);
	const entries = entriesOf(registration, lang, harvested);
	return {
		lang,
		smallkey,
		id: `rcs.${smallkey}.${lang}`,
		type,
		url,
		name: escapeMarkup(members.service_name || ownName(type, entries, service) || smallkey),
		entries,
		nameField: escapeMarkup(members.display_field || nameField(service)),
		metadataUrl: members.metadata?.metadata_url ?? fill(settings.metadataUrl, members.metadata),
		catalogueUrl: members.metadata?.catalogue_url ?? fill(settings.catalogueUrl, members.metadata),
		members,
		service,
		v2: overridesOf(registration, lang, type, { url, entries }),
		settings,
	};
}

/** The layers inside a service: those that the registration names, or all that were harvested. */
function entriesOf(registration: Registration, lang: Lang, harvested: LangDescription | null): Entries {
	const { layer, scrape_only }: Members = registration[lang];
	const named = layer === undefined ? scrape_only : [layer];
	if (named || !isVersion2(registration) || !takesAllLayers(registration[lang])) return named ?? [];
	return harvested && "entries" in harvested ? harvested.entries : [];
}

/** The service's name for a layer without a registered name. */
function ownName(type: ServiceType, entries: Entries, service: ServiceFacts): string {
	if (!isOgc(type)) return service.name;
	return entries.length === 1 ? String(entries[0]) : "";
}

/** The address and layers for v2. @param own those of the other targets */
function overridesOf(registration: Registration, lang: Lang, type: ServiceType, own: LayerFacts["v2"]) {
	const override = isVersion2(registration) ? undefined : registration.targets?.v2?.[lang];
	const { service_url, layer } = override ?? {};
	return {
		url: service_url === undefined ? own.url : addressOf(type, service_url),
		entries: layer === undefined ? own.entries : [layer],
	};
}

/** The facts of a service that was not harvested yet. */
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

/**
 * An address to which viewers append `?SERVICE=WMS…`, without a lone `?`, or `/query`, without a slash at its end; one in a
 * query or fragment is kept.
 */
function addressOf(type: ServiceType, address: string): string {
	if (isOgc(type)) return address.indexOf("?") === address.length - 1 ? address.slice(0, -1) : address;
	const end = address.search(/[?#]|$/);
	return address.slice(0, end).replace(/(?<!\/)\/+$/, "") + address.slice(end);
}

function isOgc(type: ServiceType): boolean {
	return type === "ogcWms" || type === "ogcWmts";
}

/** The address of one layer of an ArcGIS service; a query stays at the end. */
export function layerAddress(service: string, entry: string | number): string {
	const end = service.search(/[?#]|$/);
	return `${service.slice(0, end)}/${entry}${service.slice(end)}`;
}

/** ArcGIS's type of the field that holds a feature's shape, which is no column of a table. */
export const geometryFieldType = "esriFieldTypeGeometry";

/** The field whose value names a feature: the service's choice, else its first text field, else its first. */
function nameField(service: ServiceFacts): string {
	if (service.display_field) return service.display_field;
	const columns = service.fields.filter((field) => field.type !== geometryFieldType);
	const text = columns.find((field) => field.type === "esriFieldTypeString");
	return (text ?? columns[0])?.name ?? "";
}

/** An operator's template with the uuid of a registration's metadata. */
function fill(template: string, metadata: Members["metadata"]): string | undefined {
	if (!metadata?.uuid || !template) return undefined;
	return template.replaceAll("{0}", encodeURIComponent(metadata.uuid));
}

/** The registered type of the answer to GetFeatureInfo. */
export function featureInfoType({ members }: LayerFacts): string | undefined {
	return members.feature_info_type ?? members.feature_info_format;
}

/** The same for services and other viewers than FGPV, which has `text/html;fgpv=summary` for HTML in a short form. */
export function plainFeatureInfoType(layer: LayerFacts): string | undefined {
	const type = featureInfoType(layer);
	return type === "text/html;fgpv=summary" ? "text/html" : type;
}
