import { address as addressSchema } from "./schemas/definitions.ts";
import { decodeSegment, langs } from "./smallkey.ts";
import { type Problem, pointerOf, type Rules, shownValue, type Text, textOf } from "./texts.ts";

const places = langs.flatMap((lang) => [
	[lang, "service_url"],
	[lang, "metadata", "metadata_url"],
	[lang, "metadata", "catalogue_url"],
	["targets", "v2", lang, "service_url"],
]);

const maxAddressLength = addressSchema.maxLength;

export function addressProblems(value: unknown, rules: Rules): Problem[] {
	return addressesOf(value).flatMap(({ address, type, path }) => {
		if (address.length > maxAddressLength) return [];
		const problem = problemOf(address, type, rules);
		return problem ? [{ place: pointerOf(path), ...problem }] : [];
	});
}

/** `type`: as version 2.0 names it; null for metadata. */
export function addressesOf(value: unknown) {
	return places.flatMap((path) => {
		const address = path.reduce(memberOf, value);
		if (typeof address !== "string" || !/^https?:\/\/./i.test(address)) return [];
		const [lang, name] = path.slice(-2);
		return [{ address, type: name === "service_url" ? typeIn(value, lang) : null, path }];
	});
}

function typeIn(value: unknown, lang: unknown): string {
	const payloadType = memberOf({ wms: "ogcWms", feature: "esriFeature" }, memberOf(value, "payload_type"));
	const type = payloadType ?? memberOf(memberOf(value, lang), "service_type");
	return typeof type === "string" ? type : "";
}

function memberOf(value: unknown, name: unknown): unknown {
	if (typeof name !== "string" || typeof value !== "object" || value === null) return undefined;
	return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Must be percent-encoded (RFC 3986, appendix A), since the viewer's schema requires `format: uri`. */
export const notOfUris = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/gu;

/** The URL parser comes last: a long non-ASCII host takes it hundreds of milliseconds. */
function problemOf(address: string, type: string | null, rules: Rules): Text | null {
	if (/^[^:]+:\/*[^/?#]*@/.test(address)) return textOf("address-credentials");
	if (address.search(notOfUris) >= 0) return textOf("address-characters", shownValue(address));
	const url = URL.canParse(address) ? new URL(address) : null;
	if (!url || (rules === "written" && hasOddHost(address, url)))
		return textOf("address", shownValue(address));
	return rules === "written" && type !== null ? kindProblem(url, type) : null;
}

/** A URL parser reads `https:///wms` as `https://wms/`, and accepts empty labels. */
function hasOddHost(address: string, { hostname }: URL): boolean {
	return /^https?:\/{3}/i.test(address) || /^\.|\.\./.test(hostname);
}

/** Types whose address is a MapServer, a FeatureServer or a layer in one. */
const arcgisKinds = new Set(["esriFeature", "esriMapServer", "esriFeatureServer"]);

/**
 * Why no viewer can draw the layer from this address. Null where uncertain: it may be a proxy's. `type` as
 * version 2.0 names it.
 */
export function kindProblem(url: URL, type: string): Text | null {
	if (type === "ogcWms") {
		// No WMS answers at ArcGIS's REST interface.
		const isRest = /\/rest\/services\/.*\/(?:MapServer|FeatureServer)(?:\/\d{1,9})?\/?$/i.test(url.pathname);
		return isRest && !asksForWms(url) ? textOf("kind-other") : null;
	}
	const operation = type.startsWith("esri") ? operationOf(url) : null;
	if (operation) return textOf("kind-operation", operation.operation, operation.address);
	if (!arcgisKinds.has(type)) return null;
	if (/\/WMSServer\/?$/i.test(url.pathname) || asksForWms(url)) return textOf("kind-other");
	const match = arcgisPath.exec(url.pathname);
	if (!match) return null;
	const [, server, layer] = match;
	if (type === "esriFeature") return layer === undefined ? textOf("kind-layer", server ?? "") : null;
	return layer === undefined ? null : textOf("kind-operation", layer, `…/${server}`);
}

function asksForWms(url: URL): boolean {
	return [...url.searchParams].some(([name, value]) => /^service$/i.test(name) && /^wms$/i.test(value));
}

/** What every OGC request sets (06-042, section 6.8; 07-057r7, section 8.2). */
const ogcParameters = /^(?:service|request|version)$/i;
const arcgisParameters = /^(?:f|callback|_)$/i;

/** Without the parameters that viewers set, which some servers refuse twice, and without a fragment. */
export function withoutParameters(address: string, isOgc: boolean): string {
	const [, path = "", query = ""] = /^([^?#]*)\??([^#]*)/.exec(address) ?? [];
	const parameters = query.split("&");
	const kept = parameters.filter((parameter) => {
		const [name = parameter] = new URLSearchParams(parameter).keys();
		return !(isOgc ? ogcParameters : arcgisParameters).test(name);
	});
	const rest = kept.length === parameters.length ? query : kept.filter(Boolean).join("&");
	return rest === "" ? path : `${path}?${rest}`;
}

export function serviceNameIn(address: string): string {
	const name = /\/([^/?#]+)\/(?:Map|Feature|Image)Server(?:[/?#]|$)/i.exec(address)?.[1] ?? "";
	return decodeSegment(name) ?? name;
}

export const arcgisPath = /\/(MapServer|FeatureServer)(?:\/(\d{1,9}))?\/?$/i;

const arcgisOperation =
	/^(.*\/(?:Map|Feature|Image)Server(?:\/\d{1,9})?)\/((?:query|export|generate)[a-z]*|identify|find|legend|layers|info|iteminfo|metadata|dynamicLayer|tile|kml)(?:\/|$)/i;

export function operationOf({ origin, pathname }: URL): { address: string; operation: string } | null {
	const [, path, operation] = arcgisOperation.exec(pathname) ?? [];
	return path === undefined || operation === undefined ? null : { address: origin + path, operation };
}

/**
 * Whether browsers block the address on the site (W3C, "Mixed Content", 4).
 * @param site empty if unknown: public sites are https
 */
export function isBlockedOn(address: string, site = "https:"): boolean {
	if (!/^http:/i.test(address) || /^http:/i.test(site)) return false;
	// Browsers trust these (W3C, "Secure Contexts", 3.1).
	const loopback = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/;
	return URL.canParse(address) && !loopback.test(new URL(address).hostname);
}
