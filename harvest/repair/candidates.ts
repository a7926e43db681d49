import type { LangDescription } from "../../registry/description.ts";
import { isVersion2, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { type Alike, alikeAt, findAlike } from "../alike.ts";
import { isObject, listOf, objectOf, parseAnswer, textOf } from "../answer.ts";
import { orNull } from "../finding.ts";
import { describe } from "../layer.ts";
import type { Ask } from "../net/ask.ts";
import { createReadCapabilities } from "../wms/read-capabilities.ts";

/** A service that could be registered for one language instead of the present one. */
export interface Candidate extends Alike {
	/** The attempt that found it. */
	by: "https" | "redirect" | "service" | "folder";
}

/** Clients and settings of the search. */
export interface SearchOptions {
	/** The client for services, with its limits of requests. */
	ask: Ask;
	/** The guarded fetch, for requests whose redirects must not be followed. The same limits apply. */
	fetch: typeof fetch;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** Folders of a server, and addresses of one attempt, that are asked. */
const maxFolders = 20;
const maxAddresses = 5;

/** Redirects in a row that are followed; each has to be permanent. */
const maxHops = 3;

/** Candidates from which a person may have to choose. */
const maxShown = 5;

/**
 * Creates the search for the service of one language of a sick layer. The layers share answers. The attempts, the cheapest
 * first: https instead of http, the target of a permanent redirect, another number or name in the same service, another
 * folder of the same server. The search ends when one attempt finds the same layer. It asks no other host, unless a
 * permanent redirect leads there. It never rejects, and returns the best candidates: one, or several that agree equally.
 */
export function createFindCandidates({ ask, fetch, mapWkid }: SearchOptions) {
	const clients = { ask, mapWkid, read: createReadCapabilities(ask) };

	/** Compares a layer with the one at an address and, unless that is the same, with the other layers of its service. */
	async function findAt(registration: Registration, lang: Lang, known: LangDescription, address: string) {
		const moved = withEntry(registration, lang, { service_url: address });
		const own = alikeAt(known, address, await orNull(describe(moved, lang, clients)));
		if (own.some((one) => one.agreement.sure === "same")) return own;
		return [...own, ...(await findAlike(known, address, clients))];
	}

	return async (registration: Registration, lang: Lang, known: LangDescription): Promise<Candidate[]> => {
		const { service_url: address } = registration[lang];
		const isArcgis = !["ogcWms", "ogcWmts"].includes(serviceTypeOf(registration, lang));
		const inFolders = isArcgis || arcgisWms.test(address) ? otherFolders : linkedServices;
		const attempts: [Candidate["by"], () => string[] | Promise<string[]>][] = [
			["https", () => (address.startsWith("http:") ? [address.replace(/^http:/, "https:")] : [])],
			["redirect", () => permanentTarget(address, isArcgis, fetch)],
			["service", () => [address]],
			["folder", () => inFolders(address, ask)],
		];
		const asked = new Set<string>();
		const all: Candidate[] = [];
		for (const [by, addressesOf] of attempts) {
			const addresses = (await addressesOf()).filter((one) => !asked.has(one)).slice(0, maxAddresses);
			const found: Candidate[] = [];
			for (const one of addresses) {
				asked.add(one);
				const alike = await findAt(registration, lang, known, one);
				found.push(...alike.map((candidate) => ({ ...candidate, by })));
			}
			if (found.some(({ agreement }) => agreement.sure === "same")) return best(found);
			all.push(...found);
		}
		return best(all);
	};
}

/** The candidates that agree most; empty if there are too many to choose from. */
function best(found: readonly Candidate[]): Candidate[] {
	const weightOf = ({ agreement: { sure, rows } }: Candidate) =>
		(sure === "same" ? 1000 : 0) + rows.filter((row) => row.agrees).length;
	const maxWeight = Math.max(...found.map(weightOf));
	const top = found.filter((one) => weightOf(one) === maxWeight);
	return top.length > maxShown ? [] : top;
}

/** A registration with other members in one language. */
export function withEntry(
	registration: Registration,
	lang: Lang,
	{ service_url, layer }: { service_url: string; layer?: string | undefined },
): Registration {
	const named = layer === undefined ? {} : isVersion2(registration) ? { scrape_only: [layer] } : { layer };
	return { ...registration, [lang]: { ...registration[lang], service_url, ...named } } as Registration;
}

/** Statuses of a permanent redirect (RFC 9110, section 15.4). */
const permanent = new Set([301, 308]);

/** Parameters of the request itself. They are removed from an address before it is registered. */
const ownParameters = /^(?:f|service|request|version)$/i;

/** The address to which permanent redirects lead; empty if there is no redirect, or one of them is temporary. */
async function permanentTarget(address: string, isArcgis: boolean, fetch: SearchOptions["fetch"]) {
	let url = new URL(address);
	const query = isArcgis ? { f: "json" } : { SERVICE: "WMS", REQUEST: "GetCapabilities" };
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	for (let hops = 0; hops <= maxHops; hops += 1) {
		const answer = await fetch(url, { redirect: "manual" }).catch(() => null);
		await answer?.body?.cancel();
		if (!answer) return [];
		if (answer.status < 300 || answer.status > 399) return hops === 0 ? [] : [plainAddress(url)];
		const location = answer.headers.get("Location") ?? "";
		if (!permanent.has(answer.status) || location === "" || !URL.canParse(location, url)) return [];
		url = new URL(location, url);
	}
	return [];
}

function plainAddress(url: URL): string {
	const plain = new URL(url);
	for (const name of [...plain.searchParams.keys()])
		if (ownParameters.test(name)) plain.searchParams.delete(name);
	plain.hash = "";
	return plain.href;
}

/** Accept the address of a service of an ArcGIS server, and of the WMS of such a service. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:.+\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:.+\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** The addresses of services with the same name and type in any folder of the ArcGIS server. */
async function otherFolders(address: string, ask: Ask): Promise<string[]> {
	const service = arcgisService.exec(address);
	const [, root, name, type, layer = ""] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return [];
	const catalogue = service ? root : `${root}/rest/services`;
	const top = await askJson(`${catalogue}?f=json`, ask);
	const folders = listOf(top.folders).map(textOf).filter(Boolean).slice(0, maxFolders);
	const lists = [top];
	for (const folder of folders) lists.push(await askJson(`${catalogue}/${encodeURI(folder)}?f=json`, ask));
	const services = lists.flatMap((list) => listOf(list.services).filter(isObject));
	const same = services.filter((one) => {
		return textOf(one.name).split("/").at(-1) === name && textOf(one.type) === type;
	});
	return same.map((one) => {
		const place = `${encodeURI(textOf(one.name))}/${textOf(one.type)}`;
		return service ? `${root}/${place}${layer}` : `${root}/services/${place}/WMSServer`;
	});
}

async function askJson(address: string, ask: Ask): Promise<Record<string, unknown>> {
	const answer = await ask(address);
	return answer.ok ? objectOf(parseAnswer(answer.bytes)) : {};
}

/** Most links of a page that are read. */
const maxLinks = 200;

/** A link that may be registered: without the characters that an address may not have. A URL parser needs long for a long host. */
const plainLink = /^(?:https?:\/\/[^\s"<>/?#@]{1,253}(?=[/?#]|$)|(?![a-z][a-z0-9+.-]*:|[/\\]{2}))[^\s"<>]*$/i;

/** The first links of a page, each address once. */
function linksOf(html: string, front: URL): URL[] {
	const found = new Map<string, URL>();
	let seen = 0;
	for (const [, text = ""] of html.matchAll(/\bhref\s*=\s*["']([^"'<>]{1,2000})["']/gi)) {
		seen += 1;
		if (seen > maxLinks) break;
		const link = text.replaceAll("&amp;", "&");
		if (!plainLink.test(link) || !URL.canParse(link, front)) continue;
		const url = new URL(link, front);
		found.set(url.href, url);
	}
	return [...found.values()];
}

/** The WMS addresses on the same host to which the host's home page links. */
async function linkedServices(address: string, ask: Ask): Promise<string[]> {
	const front = new URL("/", address);
	const answer = await ask(front.href);
	if (!answer.ok) return [];
	const html = new TextDecoder().decode(answer.bytes);
	return linksOf(html, front)
		.filter(({ host, href }) => host === front.host && /\bwms\b/i.test(href))
		.map(plainAddress);
}
