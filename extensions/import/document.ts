import { notOfUris } from "../../registry/addresses.ts";
import { type Description, type LangDescription, parseDescription } from "../../registry/description.ts";
import {
	isVersion2,
	parseRegistration,
	type Registration,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { type FragmentSettings, filledTemplate } from "../../registry/targets/facts.ts";
import { textsOf } from "../../registry/texts.ts";
import { escapeMarkup, isObject } from "../../registry/untrusted.ts";
import { objectOf } from "../../site/service/decode.ts";
import { descriptionText } from "../harvest/description.ts";
import { entryNames } from "./compare/differences.ts";
import { describeNode, isCountedMode } from "./description.ts";
import { type Json, keyOf, nodeIn, textOf } from "./dump.ts";

export interface Moved {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

/** Converts a document of releases 1.0 to 3.0. @returns a text that says why it cannot */
export function moveDocument(document: Json, settings: FragmentSettings): Moved | string {
	const smallkey = parseSmallkey(keyOf(document));
	if (!smallkey) return `its key ${smallkeyRule}`;
	const { v1_config, data, layer_config } = document;
	const nodeOf = (lang: Lang) => nodeAt(v1_config ?? data, lang);
	const servedOf = (lang: Lang) => nodeAt(layer_config, lang);
	const payload = payloadOf(document, (lang) => nodeOf(lang) ?? servedOf(lang) ?? {}, settings);
	if (!payload) return "is neither a wms nor a feature layer";
	// As it will be stored: the bound on its size applies to that.
	const text = `${JSON.stringify(payload, null, 2)}\n`;
	const { registration, problems } = parseRegistration(Buffer.from(text), "stored");
	if (!registration) return textsOf(problems).join("; ");
	const description: Description = {};
	for (const lang of langs) {
		const node = nodeOf(lang);
		const part =
			serviceTypeOf(registration, lang) === "esriFeature"
				? node && describeNode(node, registration[lang], settings)
				: describeLayers(servedOf(lang), registration, lang);
		if (part) description[lang] = part;
	}
	// As it will be read: null without a valid language, or where it is too large.
	return { smallkey, registration, description: parseDescription(descriptionText(description)) };
}

/** The node that was served in a language, alone or within a fragment. */
function nodeAt(member: unknown, lang: Lang): Json | null {
	const served = objectOf(member)[lang];
	return nodeIn(served) ?? (isObject(served) ? served : null);
}

/** @returns null for another kind of layer */
function payloadOf(document: Json, nodeOf: (lang: Lang) => Json, settings: FragmentSettings): object | null {
	const is2 = document.version === "2.0" || isObject(document.layer_config);
	const requests = objectOf(is2 ? document.request : objectOf(document.data).request);
	const payloadType = requests.payload_type || document.type;
	if (!is2 && payloadType !== "wms" && payloadType !== "feature") return null;
	const entryOf = (lang: Lang) => {
		const [stored, node] = [requests[lang], nodeOf(lang)];
		const base = isObject(stored) ? stored : requestOf(node);
		const type = textOf(is2 ? (base.service_type ?? document.service_type) : payloadType);
		// Release 1.9.0 stored the offset under the name that it has in a fragment.
		const request: Json = { max_allowable_offset: base.maxAllowableOffset, ...base, service_type: type };
		followNode(request, node, type);
		request.metadata = metadataOf(objectOf(base.metadata), node, settings);
		return Object.fromEntries(
			(members[type] ?? every2).map((name) => [name, (cleaners[name] ?? present)(request[name])]),
		);
	};
	const entries = { en: entryOf("en"), fr: entryOf("fr") };
	if (is2) return { version: "2.0", ...entries };
	const version = textOf(requests.version);
	const isVersion = /^1\.(?:\d+\.\d+|[12])$/.test(version);
	return { version: isVersion ? version : "1.0.0", payload_type: payloadType, ...entries };
}

/** Releases before 1.8 stored no request. */
function requestOf(node: Json): Json {
	return {
		service_url: node.url,
		layer: node.layerName,
		service_name: node.displayName,
		display_field: node.nameField,
		metadata: { metadata_url: node.metadataUrl, catalogue_url: node.catalogueUrl },
		legend_format: node.legendMimeType,
		feature_info_type: objectOf(node.featureInfo).mimeType,
		loading_mode: node.mode,
	};
}

/** Changes a request to agree with what was served. */
function followNode(request: Json, node: Json, type: string) {
	const { displayName, nameField, mode, maxAllowableOffset } = node;
	const isNamed = type === "wms" || request.service_name;
	if (textOf(displayName) && isNamed) request.service_name = displayName === request.layer ? "" : displayName;
	if (textOf(nameField) && request.display_field) request.display_field = nameField;
	if (textOf(mode) && (request.loading_mode || !isCountedMode(node))) request.loading_mode = mode;
	if (Number.isInteger(maxAllowableOffset)) request.max_allowable_offset = maxAllowableOffset;
}

/** The addresses that were served for a uuid, unless this configuration's templates give the same. */
function metadataOf(metadata: Json, node: Json, { metadataUrl, catalogueUrl }: FragmentSettings): Json {
	const uuid = textOf(metadata.uuid);
	const served = { metadata_url: textOf(node.metadataUrl), catalogue_url: textOf(node.catalogueUrl) };
	if (!uuid || !served.metadata_url || !served.catalogue_url) return metadata;
	const isSame =
		filledTemplate(metadataUrl, { uuid }) === served.metadata_url &&
		filledTemplate(catalogueUrl, { uuid }) === served.catalogue_url;
	return isSame ? metadata : served;
}

const every = ["service_url", "service_name", "metadata"];
const every2 = ["service_type", ...every];
const ofFeatures = ["display_field", "loading_mode", "max_allowable_offset"];
const ofMany = [...every2, "scrape_only", "recursive"];
const ofOgc = [...ofMany, "legend_format", "feature_info_format"];

/** Type → members of a request, by the older service's own schemas. */
const members: Readonly<Record<string, readonly string[]>> = {
	wms: [...every, "layer", "legend_format", "feature_info_type"],
	feature: [...every, ...ofFeatures],
	esriFeature: [...every2, ...ofFeatures, "tolerance"],
	ogcWms: ofOgc,
	ogcWmts: ofOgc,
	esriMapServer: ofMany,
	esriFeatureServer: ofMany,
};

/** JSON leaves out what is undefined. */
const present = (value: unknown) => (value === "" ? undefined : (value ?? undefined));
const cleanText = (value: unknown) => present(typeof value === "string" ? escapeMarkup(value) : value);
const cleanAddress = (value: unknown) =>
	present(textOf(value).trim().toWellFormed().replace(notOfUris, encodeURIComponent));

const cleaners: Readonly<Record<string, (value: unknown) => unknown>> = {
	service_url: cleanAddress,
	service_name: cleanText,
	display_field: cleanText,
	metadata: cleanMetadata,
	max_allowable_offset: (value) => (Number.isInteger(value) && Number(value) >= 0 ? value : undefined),
};

function cleanMetadata(value: unknown): object | undefined {
	const { uuid, metadata_url, catalogue_url } = objectOf(value);
	if (!metadata_url && !catalogue_url) return textOf(uuid) ? { uuid } : undefined;
	return { metadata_url: cleanAddress(metadata_url), catalogue_url: cleanAddress(catalogue_url) };
}

/** The layers that the older service found in a service; null if it is not registered as a whole. */
function describeLayers(served: Json | null, registration: Registration, lang: Lang): LangDescription | null {
	if (!isVersion2(registration) || !takesAllLayers(registration[lang])) return null;
	const entries = entryNames(served?.layerEntries) as (string | number)[];
	const { service_url } = registration[lang];
	return entries.length > 0 ? { service_url, from: "import", entries } : null;
}
