import { addressesOf, kindProblem } from "./addresses.ts";
import { arcgisPath, withoutForm } from "./arcgis-address.ts";
import { isBlockedOn } from "./mixed-content.ts";
import { pointerOf, shownValue } from "./problems.ts";
import { isVersion2, type Registration, readInfoTypes } from "./registration.ts";
import { type Lang, langs } from "./smallkey.ts";
import { type Problem, problemAt, type Text, textOf } from "./texts.ts";

/** What is odd about the address of a service; an address may break several rules. @param type kind of its service */
function* oddities(address: string, url: URL, type: string): Generator<Text> {
	// A stored registration may name another kind of service.
	const problem = kindProblem(url, type);
	if (problem) yield problem;
	else if (!arcgisPath.test(url.pathname)) {
		if (type === "esriFeature") yield textOf("odd-feature");
		if (type === "esriMapServer" || type === "esriFeatureServer") yield textOf("odd-service");
	}
	if (type === "ogcWms" && url.search !== "") {
		const names = [...url.searchParams.keys()].map((name) => name.toUpperCase());
		yield textOf(names.includes("SERVICE") || names.includes("REQUEST") ? "query-request" : "query-lost");
	}
	if (type === "ogcWms" && url.search === "" && /\?(?:#|$)/.test(address)) yield textOf("query-empty");
	if (type.startsWith("esri")) yield* oddQuery(address, url);
	if (url.hash !== "") yield textOf("fragment");
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const isLocal = host === "localhost" || host.endsWith(".localhost");
	if (isLocal || privateHost.test(host)) yield textOf("private-host", host);
	if (isBlockedOn("", url.href)) yield textOf("not-https");
}

/** What is odd about the query of an ArcGIS service's address. */
function* oddQuery(address: string, { search }: URL): Generator<Text> {
	const kept = withoutForm(address).split("?")[1] ?? "";
	if (search !== "" && kept === "") yield textOf("query-harmless");
	const names = [...new Set(new URLSearchParams(kept).keys())];
	if (names.some((name) => name.toLowerCase() === "token")) yield textOf("query-token");
	else if (names.length > 0) yield textOf("query-kept", names.map(shownValue).join(", "));
}

/**
 * Hosts that are reachable only within a network, as a URL parser spells them: IPv4 private (RFC 1918), loopback,
 * link-local and carrier-grade NAT; IPv6 loopback, unique local, link-local and IPv4-mapped. A library would make the
 * worker larger.
 */
const privateHost =
	/^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$|^::1?$|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|^::ffff:/;

/**
 * What is accepted in a registration but probably not intended: for the receipt,
 * `npx fragment-publisher validate` and the review. Makes no requests to services.
 */
export function warningsOf(registration: Registration): Problem[] {
	const isSame = shownLayersOf(registration, "en") === shownLayersOf(registration, "fr");
	return [
		...addressesOf(registration).flatMap(addressWarnings),
		...langs.flatMap((lang) => memberWarnings(registration, lang)),
		...(isSame ? [problemAt("/fr/service_url", "same-service")] : []),
	];
}

function addressWarnings({ address, type, path }: ReturnType<typeof addressesOf>[number]): Problem[] {
	if (type === null) return [];
	const place = pointerOf(path);
	return Array.from(oddities(address, new URL(address), type), (text) => ({ ...text, place }));
}

function memberWarnings(registration: Registration, lang: Lang): Problem[] {
	return [...nameWarnings(registration, lang), ...kindWarnings(registration, lang)];
}

/** A name in the other language only. */
function nameWarnings(registration: Registration, lang: Lang): Problem[] {
	const other = lang === "en" ? "fr" : "en";
	if (registration[lang].service_name || !registration[other].service_name) return [];
	return [problemAt(`/${lang}/service_name`, "name-of-other", other)];
}

function kindWarnings(registration: Registration, lang: Lang): Problem[] {
	if (isVersion2(registration)) {
		const node = registration[lang];
		const isSeveral = node.service_type === "esriFeatureServer" && (node.scrape_only?.length ?? 0) > 1;
		return isSeveral ? [problemAt(`/${lang}/scrape_only`, "several-layers")] : [];
	}
	const type = registration[lang].feature_info_type;
	if (type === undefined || readInfoTypes.has(type)) return [];
	return [problemAt(`/${lang}/feature_info_type`, "unread-info", [...readInfoTypes].join(", "))];
}

/** Identifies the layers that one language shows: equal texts mean the same layers of the same service. */
function shownLayersOf(registration: Registration, lang: Lang): string {
	const { service_url, layer, scrape_only } = registration[lang] as Record<string, unknown>;
	return JSON.stringify([service_url, layer, scrape_only]);
}
