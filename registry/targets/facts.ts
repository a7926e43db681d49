import { serviceNameIn, withoutParameters } from "../addresses.ts";
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
	type Members,
	type Registration,
	type ServiceType,
	serviceTypeOf,
	takesAllLayers,
} from "../registration.ts";
import type { Lang } from "../smallkey.ts";
import { escapeMarkup } from "../untrusted.ts";

export interface Fragment {
	body: Uint8Array;
	/** Strong (RFC 9110, section 8.8.3). */
	etag: string;
	/** In drawing order, lowest first; absent if unknown. */
	rank?: number;
}

/** `folder`: `v0.9/doc/en`. No promise where the fragment is in memory. */
export type ReadFragment = (folder: string, smallkey: string) => Fragment | null | Promise<Fragment | null>;

export type TargetName = string;

/** ASCII JSON around an array of layers. */
export interface Envelope {
	open: string;
	close: string;
}

export interface Target {
	name: TargetName;
	/** The part before `/<lang>/<smallkey>`, in paths and in `dist/`. */
	doc: string;
	/** If it equals `doc`, a comma in the last segment means several layers. */
	docs: string;
	/** Routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/** Also around a single layer, which `Render` writes as an array of one. */
	envelope?: Envelope;
	/** `<path>?lang=<lang>&id=<smallkey>,…`, without unknown keys. */
	queryDoor?: { path: string; envelope(lang: Lang): Envelope };
	canSort?: true;
	/** The JSON for an unknown key in `docs`; null leaves it out. @param count requested keys, with repeats */
	absent(item: string, count: number): string | null;
	/** Whether `docs` treats a layer as unknown, since a reader fails on it. @param body UTF-8 JSON */
	isUnlisted?(body: Uint8Array): boolean;
}

export type Render = (layer: LayerFacts) => object | null;

export interface FragmentSettings {
	/** `{0}` is a record's uuid; empty: a uuid gives no address. */
	metadataUrl: string;
	catalogueUrl: string;
	mapWkid?: number;
	/** For a layer of a MapServer in v2: every viewer draws the default, `esriDynamic`. */
	mapServerType?: MapServerType;
	targets?: readonly string[];
}

export const mapServerTypes = ["esriDynamic", "esriFeature"] as const;
type MapServerType = (typeof mapServerTypes)[number];

type ServiceFacts = Omit<FeatureDescription, "service_url" | "from" | "renderer"> & {
	renderer: Renderer | null;
};

/** In drawing order. */
type Entries = readonly (string | number)[];

export type LayerFacts = ReturnType<typeof layerFacts>;

export function layerFacts(
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
) {
	const members: Members = registration[lang];
	const type = serviceTypeOf(registration, lang);
	const harvested = description && currentDescription(registration, description, lang);
	const service: ServiceFacts = harvested && "renderer" in harvested ? harvested : unknownService;
	const columns = service.fields.filter((field) => field.type !== "esriFieldTypeGeometry");
	const url = addressOf(type, members.service_url);
	const forV2: { service_url?: string; layer?: string } =
		(!isVersion2(registration) && registration.targets?.v2?.[lang]) || {};
	const entries = entriesOf(registration, lang, harvested);
	const title = (harvested && "title" in harvested && harvested.title) || service.name;
	return {
		lang,
		id: `rcs.${smallkey}.${lang}`,
		type,
		/** By `addressOf`. */
		url,
		name: escapeMarkup(members.service_name || serviceName(type, url, entries, title) || smallkey),
		entries,
		nameField: escapeMarkup(nameField(columns, [members.display_field, service.display_field])),
		metadataUrl: members.metadata?.metadata_url ?? filledTemplate(settings.metadataUrl, members.metadata),
		catalogueUrl: members.metadata?.catalogue_url ?? filledTemplate(settings.catalogueUrl, members.metadata),
		infoType: members.feature_info_type ?? members.feature_info_format,
		members,
		service,
		columns,
		forV2,
		settings,
	};
}

function entriesOf(registration: Registration, lang: Lang, harvested: LangDescription | null): Entries {
	const { layer, scrape_only }: Members = registration[lang];
	const names = layer === undefined ? scrape_only : [layer];
	if (names || !isVersion2(registration) || !takesAllLayers(registration[lang])) return names ?? [];
	return harvested && "entries" in harvested ? harvested.entries : [];
}

function serviceName(type: ServiceType, url: string, entries: Entries, title: string): string {
	if (isOgc(type)) return entries.length === 1 ? String(entries[0]) : "";
	return title || (type === "esriFeature" ? "" : serviceNameIn(url));
}

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
 * Makes the form to which viewers append: `?SERVICE=WMS…` to an OGC service without a lone `?` and what every
 * request sets; `/query` to an ArcGIS service without trailing slashes and form parameters.
 */
export function addressOf(type: ServiceType, address: string): string {
	const plain = withoutParameters(address, isOgc(type));
	if (isOgc(type)) return plain;
	const end = plain.search(/[?]|$/);
	return plain.slice(0, end).replace(/(?<!\/)\/+$/, "") + plain.slice(end);
}

function isOgc(type: ServiceType): boolean {
	return type === "ogcWms" || type === "ogcWmts";
}

export function layerAddress(service: string, entry: string | number): string {
	const end = service.search(/[?#]|$/);
	return `${service.slice(0, end)}/${entry}${service.slice(end)}`;
}

/**
 * The first name that is a field's, in the field's spelling; else the first text field, else any. Without
 * fields, the first name.
 */
function nameField(columns: readonly Field[], names: readonly (string | undefined)[]): string {
	for (const name of names) {
		const field = name && fieldNamed(name, columns);
		if (field) return field.name;
	}
	const text = columns.find((field) => field.type === "esriFieldTypeString");
	return (text ?? columns[0])?.name ?? names.find(Boolean) ?? "";
}

export function filledTemplate(template: string, metadata: Members["metadata"]): string | undefined {
	if (!metadata?.uuid || !template) return undefined;
	return template.replaceAll("{0}", encodeURIComponent(metadata.uuid));
}

/** For other readers than FGPV, whose `text/html;fgpv=summary` is short HTML. */
export function plainInfoType({ infoType }: LayerFacts): string | undefined {
	return infoType === "text/html;fgpv=summary" ? "text/html" : infoType;
}
