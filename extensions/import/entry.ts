import { escapeMarkup } from "../../registry/markup.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { isObject, type Json, textOf } from "./compare/json.ts";
import type { Notes } from "./description.ts";

export type PayloadType = "wms" | "feature";

/** Names of the members of a registration of version 1.x. The older service had no legends of feature layers. */
function membersOf(type: PayloadType): string[] {
	const { lang, wms, feature } = registration1.definitions;
	const others = {
		...(type === "wms" ? wms : feature).properties,
		...(type === "feature" && { legend_format: {} }),
	};
	return Object.keys(lang.properties).filter((name) => !(name in others));
}

/** Names of the members of a registration of version 2.0; for an unknown type those that every type has. */
function membersOf2(type: string): string[] {
	const { esriFeature, esriPicture, ogc, esriService } = registration2.definitions;
	const kinds = [esriFeature, esriPicture, ogc, esriService].map(({ properties }) => properties);
	const own = kinds.find(({ service_type }) => {
		return "const" in service_type
			? service_type.const === type
			: service_type.enum.some((one) => one === type);
	});
	return Object.keys(own ?? esriPicture.properties);
}

/** Makes one language of a registration from the request that the older service stored. */
export function entryOfRequest(type: PayloadType, request: Json, notes: Notes): Json {
	// Release 1.9.0 stored the offset under the name that it has in a fragment.
	const renamed: Json = { max_allowable_offset: request.maxAllowableOffset, ...request };
	return cleanEntry(membersOf(type), renamed, notes);
}

/**
 * Makes one language of a registration of version 2.0 from the request that the older service stored.
 * @param serviceType the document's type for both languages, if the request has none
 */
export function entryOfRequest2(request: Json, serviceType: unknown, notes: Notes): Json {
	const raw: Json = { ...request, service_type: request.service_type ?? serviceType };
	return cleanEntry(membersOf2(textOf(raw.service_type)), raw, notes);
}

/** Makes one language of a registration from the served node: releases before 1.8 stored no request. */
export function entryOfNode(type: PayloadType, node: Json, notes: Notes): Json {
	const { mimeType } = isObject(node.featureInfo) ? node.featureInfo : { mimeType: undefined };
	const metadata = { metadata_url: node.metadataUrl, catalogue_url: node.catalogueUrl };
	const raw: Json = {
		service_url: node.url,
		layer: node.layerName,
		service_name: node.displayName === node.layerName ? undefined : node.displayName,
		display_field: node.nameField,
		metadata: Object.values(metadata).some((address) => textOf(address)) ? metadata : undefined,
		legend_format: node.legendMimeType,
		feature_info_type: mimeType,
		loading_mode: node.mode,
		max_allowable_offset: node.maxAllowableOffset,
	};
	return cleanEntry(membersOf(type), raw, notes);
}

/** The members that a registration may have, in a valid form. */
function cleanEntry(known: readonly string[], raw: Json, notes: Notes): Json {
	const entry: Json = {};
	for (const name of known) {
		const value = cleanMember(name, raw[name], notes);
		if (value !== undefined) entry[name] = value;
	}
	return entry;
}

function cleanMember(name: string, value: unknown, notes: Notes): unknown {
	if (value === undefined || value === null || value === "") return undefined;
	if (name === "metadata") return cleanMetadata(value, notes);
	if (name === "service_url") return cleanAddress(value, notes);
	if (name === "service_name" || name === "display_field") return cleanShown(value, notes);
	if (name !== "max_allowable_offset") return value;
	if (Number.isInteger(value) && (value as number) >= 0) return value;
	notes.add("an offset that is no whole number: left out");
	return undefined;
}

function cleanShown(value: unknown, notes: Notes): unknown {
	if (typeof value !== "string") return value;
	const shown = escapeMarkup(value);
	if (shown !== value) notes.add("a name that a viewer would run as HTML: made harmless");
	return shown;
}

function cleanMetadata(value: unknown, notes: Notes): unknown {
	if (!isObject(value)) return value;
	const { uuid, metadata_url, catalogue_url } = value;
	const addresses = {
		...(textOf(metadata_url) && { metadata_url: cleanAddress(metadata_url, notes) }),
		...(textOf(catalogue_url) && { catalogue_url: cleanAddress(catalogue_url, notes) }),
	};
	if (Object.keys(addresses).length > 0) return addresses;
	return textOf(uuid) ? { uuid } : undefined;
}

/** Characters that must be percent-encoded in a URI (RFC 3986, appendix A). */
const notOfUris = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/gu;

function cleanAddress(value: unknown, notes: Notes): unknown {
	if (typeof value !== "string") return value;
	const address = value.trim().toWellFormed().replace(notOfUris, encodeURIComponent);
	if (address !== value) notes.add("an address with characters that a viewer refuses: percent-encoded");
	return address;
}
