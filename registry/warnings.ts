import { type Address, addressesOf, arcgisPath, featureServerQuery, kindProblem } from "./addresses.ts";
import { pointerOf } from "./problems.ts";
import { isVersion2, type Registration, readInfoTypes } from "./registration.ts";
import { type Lang, langs } from "./smallkey.ts";
import { type BrokenRule, broken, textOf } from "./texts.ts";

/** Returns what is odd about the address of a service; null where nothing is. A rule reports only its first finding. */
type Rule = (service: { address: string; url: URL; type: string }) => BrokenRule | null;

/** The address of another kind of service, which only a stored registration may have, or of no known kind. */
const kindRule: Rule = ({ url, type }) => {
	const problem = kindProblem(url, type);
	if (problem !== null || arcgisPath.test(url.pathname)) return problem;
	if (type === "esriFeature") return broken("odd-feature");
	return type === "esriMapServer" || type === "esriFeatureServer" ? broken("odd-service") : null;
};

const queryRule: Rule = ({ address, url, type }) => {
	if (type !== "ogcWms") return null;
	if (url.search === "") return /\?(?:#|$)/.test(address) ? broken("query-empty") : null;
	const names = [...url.searchParams.keys()].map((name) => name.toUpperCase());
	return broken(names.includes("SERVICE") || names.includes("REQUEST") ? "query-request" : "query-lost");
};

const featureQueryRule: Rule = ({ address, type }) => {
	if (type !== "esriFeature" && type !== "esriFeatureServer") return null;
	const found = featureServerQuery(address);
	if (!found?.rest.startsWith("?")) return null;
	return broken(found.isUnneeded ? "query-harmless" : "query-fails");
};

const fragmentRule: Rule = ({ url }) => (url.hash === "" ? null : broken("fragment"));

/**
 * Hosts that are reachable only within a network, as a URL parser spells them: IPv4 private (RFC 1918), loopback,
 * link-local and carrier-grade NAT; IPv6 loopback, unique local, link-local and IPv4-mapped. A library would make the
 * worker larger.
 */
const privateHost =
	/^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$|^::1?$|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:|^::ffff:/;

const hostRule: Rule = ({ url }) => {
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const isLocal = host === "localhost" || host.endsWith(".localhost");
	return isLocal || privateHost.test(host) ? broken("private-host", host) : null;
};

const schemeRule: Rule = ({ url }) => (url.protocol === "https:" ? null : broken("not-https"));

/** All rules; an address may break several. */
const rules: readonly Rule[] = [kindRule, queryRule, featureQueryRule, fragmentRule, hostRule, schemeRule];

/**
 * What is accepted in a registration but probably not intended, as `<JSON pointer>: <what is odd>`: for the receipt,
 * `npx fragments validate` and the review. Makes no requests to services.
 */
export function warningsOf(registration: Registration): string[] {
	const isSame = shownLayersOf(registration, "en") === shownLayersOf(registration, "fr");
	return [
		...addressesOf(registration).flatMap(addressWarnings),
		...langs.flatMap((lang) => memberWarnings(registration, lang)),
		...(isSame ? [`/fr/service_url: ${textOf("same-service")}`] : []),
	];
}

function addressWarnings({ address, type, path }: Address): string[] {
	if (type === null) return [];
	const service = { address, url: new URL(address), type };
	const odd = rules.map((rule) => rule(service)).filter((found) => found !== null);
	return odd.map(({ text }) => `${pointerOf(path)}: ${text}`);
}

function memberWarnings(registration: Registration, lang: Lang): string[] {
	if (isVersion2(registration)) {
		const node = registration[lang];
		const isSeveral = node.service_type === "esriFeatureServer" && (node.scrape_only?.length ?? 0) > 1;
		return isSeveral ? [`/${lang}/scrape_only: ${textOf("several-layers")}`] : [];
	}
	const type = registration[lang].feature_info_type;
	if (type === undefined || readInfoTypes.has(type)) return [];
	return [`/${lang}/feature_info_type: ${textOf("unread-info", [...readInfoTypes].join(", "))}`];
}

/** Identifies the layers that one language shows: equal texts mean the same layers of the same service. */
function shownLayersOf(registration: Registration, lang: Lang): string {
	const { service_url, layer, scrape_only } = registration[lang] as Record<string, unknown>;
	return JSON.stringify([service_url, layer, scrape_only]);
}
