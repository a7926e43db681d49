import { type Problems, pointerOf, shownValue } from "./problems.ts";
import { langs } from "./smallkey.ts";

/** Each place of an address in a registration. */
const places = langs.flatMap((lang) => [
	[lang, "service_url"],
	[lang, "metadata", "metadata_url"],
	[lang, "metadata", "catalogue_url"],
	["targets", "v2", lang, "service_url"],
]);

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

function problemOf(address: string): string | null {
	const url = parseAddress(address);
	if (!url) return `must be an http or https address, not ${shownValue(address)}`;
	if (url.username || url.password || /^[^:]+:\/*[^/?#]*@/.test(address)) {
		return "must not hold a user name or password";
	}
	if (!uriCharacters.test(address)) {
		const rule = "must be percent-encoded where it has other characters than RFC 3986 allows";
		return `${rule}: ${shownValue(address)}`;
	}
	return null;
}

function parseAddress(address: string): URL | null {
	try {
		return new URL(address);
	} catch {
		return null;
	}
}
