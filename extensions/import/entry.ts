import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { escapeMarkup } from "../../registry/untrusted-text.ts";
import { isObject, type Json, textOf } from "./compare/json.ts";

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
export function entryOfRequest(type: PayloadType, request: Json): Json {
	// Release 1.9.0 stored the offset under the name that it has in a fragment.
	const renamed: Json = { max_allowable_offset: request.maxAllowableOffset, ...request };
	return cleanEntry(membersOf(type), renamed);
}

/**
 * Makes one language of a registration of version 2.0 from the request that the older service stored.
 * @param serviceType the document's type for both languages, if the request has none
 */
export function entryOfRequest2(request: Json, serviceType: unknown): Json {
	const raw: Json = { ...request, service_type: request.service_type ?? serviceType };
	return cleanEntry(membersOf2(textOf(raw.service_type)), raw);
}

/** Makes one language of a registration from the served node: releases before 1.8 stored no request. */
export function entryOfNode(type: PayloadType, node: Json): Json {
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
	return cleanEntry(membersOf(type), raw);
}

/** The members that a registration may have, in a valid form. */
function cleanEntry(known: readonly string[], raw: Json): Json {
	const entry: Json = {};
	for (const name of known) {
		const value = cleanMember(name, raw[name]);
		if (value !== undefined) entry[name] = value;
	}
	return entry;
}

function cleanMember(name: string, value: unknown): unknown {
	if (value === undefined || value === null || value === "") return undefined;
	if (name === "metadata") return cleanMetadata(value);
	if (name === "service_url") return cleanAddress(value);
	if (name === "service_name" || name === "display_field")
		return typeof value === "string" ? escapeMarkup(value) : value;
	if (name !== "max_allowable_offset") return value;
	return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
}

function cleanMetadata(value: unknown): unknown {
	if (!isObject(value)) return value;
	const { uuid, metadata_url, catalogue_url } = value;
	const addresses = {
		...(textOf(metadata_url) && { metadata_url: cleanAddress(metadata_url) }),
		...(textOf(catalogue_url) && { catalogue_url: cleanAddress(catalogue_url) }),
	};
	if (Object.keys(addresses).length > 0) return addresses;
	return textOf(uuid) ? { uuid } : undefined;
}

/** Characters that must be percent-encoded in a URI (RFC 3986, appendix A). */
const notOfUris = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/gu;

function cleanAddress(value: unknown): unknown {
	if (typeof value !== "string") return value;
	return value.trim().toWellFormed().replace(notOfUris, encodeURIComponent);
}
