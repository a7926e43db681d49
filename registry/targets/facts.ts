import { serviceNameIn, withoutForm, withoutRequest } from "../addresses.ts";
import {
	currentDescription,
	type Description,
	type FeatureDescription,
	type Field,
	fieldNamed,
	type LangDescription,
	type Renderer,
} from "../description.ts";
import {
	isVersion2,
	type LangEntry,
	type Registration,
	type ServiceType,
	serviceTypeOf,
	takesAllLayers,
} from "../registration.ts";
import type { Lang } from "../smallkey.ts";
import { escapeMarkup } from "../untrusted-text.ts";

export interface FragmentSettings {
	/** Address of a metadata record, with `{0}` for the record's uuid; empty: a uuid gives no address. */
	metadataUrl: string;
	/** Address of a catalogue page, with `{0}` for the record's uuid; empty: a uuid gives no address. */
	catalogueUrl: string;
	/** Well-known id of the spatial reference of the viewers' map; by default 3978. */
	mapWkid?: number;
	/** The `layerType` of one layer of a MapServer in v2; by default `esriDynamic`, which every viewer of v2 draws. */
	mapServerType?: MapServerType;
	/** Names of the targets that are built and served; by default all. */
	targets?: readonly string[];
}

export const mapServerTypes = ["esriDynamic", "esriFeature"] as const;
type MapServerType = (typeof mapServerTypes)[number];

/** What a fragment takes from a service description. A renderer of null is the generic symbol. */
type ServiceFacts = Omit<FeatureDescription, "service_url" | "from" | "renderer"> & {
	renderer: Renderer | null;
};

/** Names or numbers of the layers inside a service, in the order in which they are shown. */
export type Entries = readonly (string | number)[];

/** A layer in one language, with the values that several targets need. */
export interface LayerFacts {
	lang: Lang;
	/** The layer's id in viewers: `rcs.<smallkey>.<lang>`. */
	id: string;
	type: ServiceType;
	/** The service's address, without a slash at the end (ArcGIS) or a lone `?` (OGC). */
	url: string;
	/** The displayed name, with its markup escaped. */
	name: string;
	entries: Entries;
	/** The field whose value names a feature: the registered field, else the service's; `""` where neither is known. */
	nameField: string;
	metadataUrl: string | undefined;
	catalogueUrl: string | undefined;
	/** The registered media type of the answer to GetFeatureInfo. */
	infoType: string | undefined;
	members: Members;
	/** The harvested description of the service; `unknownService` before the first harvest. */
	service: ServiceFacts;
	/** The service's fields without the geometry, which is not a column of a table. */
	columns: readonly Field[];
	/** The address and the layer that the registration has for v2 alone. */
	forV2: { service_url?: string; layer?: string };
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
	const columns = service.fields.filter((field) => field.type !== "esriFieldTypeGeometry");
	const url = addressOf(type, members.service_url);
	const entries = entriesOf(registration, lang, harvested);
	const title = (harvested && "title" in harvested && harvested.title) || "";
	return {
		lang,
		id: `rcs.${smallkey}.${lang}`,
		type,
		url,
		name: escapeMarkup(members.service_name || ownName(type, url, entries, service, title) || smallkey),
		entries,
		nameField: escapeMarkup(nameField(columns, [members.display_field, service.display_field])),
		metadataUrl: members.metadata?.metadata_url ?? fill(settings.metadataUrl, members.metadata),
		catalogueUrl: members.metadata?.catalogue_url ?? fill(settings.catalogueUrl, members.metadata),
		infoType: members.feature_info_type ?? members.feature_info_format,
		members,
		service,
		columns,
		forV2: (!isVersion2(registration) && registration.targets?.v2?.[lang]) || {},
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

/** The service's own name of the layer, for a layer without a registered name. @param title of a whole service */
function ownName(
	type: ServiceType,
	url: string,
	entries: Entries,
	service: ServiceFacts,
	title: string,
): string {
	if (type === "esriFeature") return service.name;
	if (!isOgc(type)) return title || serviceNameIn(url);
	return entries.length === 1 ? String(entries[0]) : "";
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
 * An address in the form to which viewers append: for an OGC service (`?SERVICE=WMS…`) without a lone `?` at the end, and
 * without what every request sets; for an ArcGIS service (`/query`) without slashes at the end of its path, and without what only selects the form of an answer.
 */
export function addressOf(type: ServiceType, address: string): string {
	if (isOgc(type)) return withoutRequest(address);
	const plain = withoutForm(address);
	const end = plain.search(/[?]|$/);
	return plain.slice(0, end).replace(/(?<!\/)\/+$/, "") + plain.slice(end);
}

function isOgc(type: ServiceType): boolean {
	return type === "ogcWms" || type === "ogcWmts";
}

/** The address of one layer of an ArcGIS service. A query stays at the end. */
export function layerAddress(service: string, entry: string | number): string {
	const end = service.search(/[?#]|$/);
	return `${service.slice(0, end)}/${entry}${service.slice(end)}`;
}

/**
 * The field whose value names a feature: the first of the names that is a field's, in the field's own spelling, which
 * viewers need; else the first text field, else the first field. While no fields are known, the first name.
 */
function nameField(columns: readonly Field[], names: readonly (string | undefined)[]): string {
	if (columns.length === 0) return names.find(Boolean) ?? "";
	for (const name of names) {
		const field = name && fieldNamed(name, columns);
		if (field) return field.name;
	}
	const text = columns.find((field) => field.type === "esriFieldTypeString");
	return (text ?? columns[0])?.name ?? "";
}

/** Fills the uuid of a registration's metadata into an operator's template; undefined where either is missing. */
function fill(template: string, metadata: Members["metadata"]): string | undefined {
	if (!metadata?.uuid || !template) return undefined;
	return template.replaceAll("{0}", encodeURIComponent(metadata.uuid));
}

/** `infoType` for services and for viewers other than FGPV. `text/html;fgpv=summary` is FGPV's own: short HTML. */
export function plainInfoType({ infoType }: LayerFacts): string | undefined {
	return infoType === "text/html;fgpv=summary" ? "text/html" : infoType;
}
