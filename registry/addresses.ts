import { address as addressSchema } from "../schemas/definitions.ts";
import { type Problems, pointerOf, shownValue } from "./problems.ts";
import type { Rules } from "./schema-problems.ts";
import { kindProblem } from "./service-kind.ts";
import { langs } from "./smallkey.ts";
import { type BrokenRule, broken } from "./texts.ts";

const places = langs.flatMap((lang) => [
	[lang, "service_url"],
	[lang, "metadata", "metadata_url"],
	[lang, "metadata", "catalogue_url"],
	["targets", "v2", lang, "service_url"],
]);

export const maxAddressLength = addressSchema.maxLength;

/**
 * Checks what the schema's pattern cannot: an address must be a URI and contain no credentials. What is written must
 * also be the address of the layer's kind of service; what is stored already may be of another kind.
 */
export function addAddressProblems(problems: Problems, value: unknown, rules: Rules): void {
	for (const place of places) {
		const address = place.reduce(memberOf, value);
		if (typeof address !== "string" || !/^https?:\/\/./i.test(address)) continue;
		const problem = problemOf(address) ?? (rules === "written" ? kindProblemOf(address, place, value) : null);
		if (problem === null) continue;
		problems.add(() => [pointerOf(place), problem]);
	}
}

/** The kind of service is read from a document that may have other problems. */
function kindProblemOf(address: string, place: readonly string[], value: unknown): BrokenRule | null {
	const [lang, name] = place.slice(-2) as [string, string];
	if (name !== "service_url" || address.length > maxAddressLength) return null;
	const payloadType = memberOf(value, "payload_type");
	const type = payloadTypes.get(payloadType) ?? memberOf(memberOf(value, lang), "service_type");
	return kindProblem(new URL(address), String(type));
}

/** `payload_type` of version 1 → kind of service, in the words of version 2.0. */
const payloadTypes: ReadonlyMap<unknown, string> = new Map([
	["wms", "ogcWms"],
	["feature", "esriFeature"],
]);

function memberOf(value: unknown, name: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
	return (value as Record<string, unknown>)[name];
}

/** The characters of a URI (RFC 3986, appendix A): the viewer's schema wants `format: uri` of an address. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;

/** The URL parser comes last: a long non-ASCII host takes it hundreds of milliseconds. */
function problemOf(address: string): BrokenRule | null {
	// The schema reports this already.
	if (address.length > maxAddressLength) return null;
	if (/^[^:]+:\/*[^/?#]*@/.test(address)) return broken("address-credentials");
	if (!uriCharacters.test(address)) return broken("address-characters", shownValue(address));
	const url = parseAddress(address);
	if (!url) return broken("address", shownValue(address));
	return url.username || url.password ? broken("address-credentials") : null;
}

/** Parameters that only select the form of the answer; every viewer sets its own. */
const harmlessParameters: ReadonlySet<string> = new Set(["f", "callback", "_"]);

/** An address of a FeatureServer up to its query or fragment. */
const featureServer = /^[^?#]*\/FeatureServer(?:\/[^?#]*)?(?=[?#]|$)/i;

/** The query or fragment of a FeatureServer's address, on which GeoView fails; null for any other address. */
export function featureServerQuery(address: string): { rest: string; isHarmless: boolean } | null {
	const path = featureServer.exec(address)?.[0];
	if (path === undefined || path === address) return null;
	const rest = address.slice(path.length);
	const query = rest.startsWith("?") ? (rest.slice(1).split("#", 1)[0] ?? "") : "";
	const names = [...new URLSearchParams(query).keys()];
	return { rest, isHarmless: names.every((name) => harmlessParameters.has(name.toLowerCase())) };
}

/** Removes a query without effect from a FeatureServer's address; returns any other address unchanged. */
export function withoutHarmlessQuery(address: string): string {
	const found = featureServerQuery(address);
	return found?.isHarmless ? address.slice(0, -found.rest.length) : address;
}

function parseAddress(address: string): URL | null {
	try {
		return new URL(address);
	} catch {
		return null;
	}
}
