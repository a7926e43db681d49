import { address as addressSchema } from "../schemas/definitions.ts";
import { type Problems, pointerOf, shownValue } from "./problems.ts";
import { langs } from "./smallkey.ts";

/** Each place of an address in a registration. */
const places = langs.flatMap((lang) => [
	[lang, "service_url"],
	[lang, "metadata", "metadata_url"],
	[lang, "metadata", "catalogue_url"],
	["targets", "v2", lang, "service_url"],
]);

/** Longest address in characters, as the schema has it too. */
export const maxAddressLength = addressSchema.maxLength;

/** What the schema's pattern cannot say of an address: it has to be a URI, and carry no secret. */
export function addAddressProblems(problems: Problems, value: unknown): void {
	for (const place of places) {
		const address = place.reduce(memberOf, value);
		if (typeof address !== "string" || !/^https?:\/\/./i.test(address)) continue;
		const problem = problemOf(address);
		if (problem === null) continue;
		problems.add(
			() => pointerOf(place),
			() => problem,
		);
	}
}

function memberOf(value: unknown, name: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
	return (value as Record<string, unknown>)[name];
}

/** The characters of a URI (RFC 3986, appendix A): the viewer's schema wants `format: uri` of an address. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;

/** A URL parser comes last: for a long host of other characters than ASCII it takes hundreds of milliseconds. */
function problemOf(address: string): string | null {
	// The schema has said so already.
	if (address.length > maxAddressLength) return null;
	if (/^[^:]+:\/*[^/?#]*@/.test(address)) return "must not hold a user name or password";
	if (!uriCharacters.test(address)) {
		const rule = "must be percent-encoded where it has other characters than RFC 3986 allows";
		return `${rule}: ${shownValue(address)}`;
	}
	const url = parseAddress(address);
	if (!url) return `must be an http or https address, not ${shownValue(address)}`;
	return url.username || url.password ? "must not hold a user name or password" : null;
}

/** Parameters that only say in which form a service answers: every viewer writes its own. */
const harmlessParameters: ReadonlySet<string> = new Set(["f", "callback", "_"]);

/** An address of a FeatureServer up to its query or fragment. */
const featureServer = /^[^?#]*\/FeatureServer(?:\/[^?#]*)?(?=[?#]|$)/i;

/** What an address of a FeatureServer has behind its path, which GeoView fails on; null for any other address. */
export function featureServerQuery(address: string): { rest: string; isHarmless: boolean } | null {
	const path = featureServer.exec(address)?.[0];
	if (path === undefined || path === address) return null;
	const rest = address.slice(path.length);
	const query = rest.startsWith("?") ? (rest.slice(1).split("#", 1)[0] ?? "") : "";
	const names = [...new URLSearchParams(query).keys()];
	return { rest, isHarmless: names.every((name) => harmlessParameters.has(name.toLowerCase())) };
}

/** An address of a FeatureServer without a query that changes nothing; any other as it is. */
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
