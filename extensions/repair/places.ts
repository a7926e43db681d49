import { Trouble } from "../../api/service/net/trouble.ts";
import type { LangDescription } from "../../registry/description.ts";
import { numberOf } from "../../site/service/decode.ts";
import { agreementOf, hasItsName } from "../harvest/agreement.ts";
import { findAlike } from "../harvest/alike.ts";
import { describeLayer } from "../harvest/arcgis/feature-layer.ts";
import { orNull, orTrouble } from "../harvest/finding.ts";
import { isCopyOf, seriesStep } from "../harvest/names.ts";
import { arcgisPlaceOf, askLayers, askList, knowsAll, numberIn } from "../harvest/siblings.ts";
import { describeLayers } from "../harvest/wms/describe-layers.ts";
import type { Clients } from "../harvest/wms/read-capabilities.ts";

type Fetch = typeof globalThis.fetch;

/**
 * What is at the registered place. `here`: the layer, or its service is still in the list of the server: what fails is
 * down. `gone`: the service says that nothing is there. `withdrawn`: the service lists other layers. `replaced`: another
 * layer, or a group. `unknown`: no answer says more.
 */
export type Standing = "here" | "gone" | "withdrawn" | "replaced" | "unknown";

/** Statuses and ArcGIS codes of a service that wants a sign-in. */
const signIn = new Set([401, 403, 498, 499]);

function saysGone({ state, status, isTemporary }: Trouble): boolean {
	return state === "wrong" && !isTemporary && status !== null && !signIn.has(status);
}

/** Finds out what is at an address, from the lists of its service and server. Never rejects. */
export async function standingOf(
	known: LangDescription,
	address: string,
	clients: Clients,
): Promise<Standing> {
	const { ask, read } = clients;
	const [name = ""] = "layers" in known ? known.layers : [];
	const list =
		"renderer" in known
			? await askLayers(address, ask)
			: await orTrouble(read("WMS", address, [name]).then(({ layers }) => [...layers.keys()]));
	if (list instanceof Trouble) return withoutList(address, list, ask);
	// A service lists nothing while it starts.
	if (list.length === 0) return "unknown";
	const listed = list.find((one) =>
		typeof one === "string" ? one === name : String(numberOf(one.id)) === numberIn(address),
	);
	if (listed === undefined) return "withdrawn";
	// A number may become that of another layer; two names are at most swapped.
	if (typeof listed === "string" && !/^\d+$/.test(listed))
		return (await isSwapped(known, address, clients)) ? "replaced" : "here";
	if (typeof listed !== "string" && Array.isArray(listed.subLayerIds)) return "replaced";
	const now = await orTrouble(
		"renderer" in known ? describeLayer(address, clients) : describeLayers("WMS", address, [name], read),
	);
	if (now instanceof Trouble) return "here";
	return hasItsName(agreementOf(known, now.description)) ? "here" : "replaced";
}

/** Whether the name of a layer is now that of another one, and the layer itself has another name. */
async function isSwapped(known: LangDescription, address: string, clients: Clients): Promise<boolean> {
	const [name = ""] = "layers" in known ? known.layers : [];
	const now = await orNull(describeLayers("WMS", address, [name], clients.read));
	if (!now || agreementOf(known, now.description).sure !== null) return false;
	return (await findAlike(known, address, clients)).some(({ agreement }) => agreement.sure === "same");
}

/** What the list of the server says of a service that does not answer with its layers. */
async function withoutList(address: string, trouble: Trouble, ask: Clients["ask"]): Promise<Standing> {
	const place = arcgisPlaceOf(address);
	if (!place) return saysGone(trouble) ? "gone" : "unknown";
	const list = await askList(place.catalogue, place.folder, ask);
	// ArcGIS ignores the case of names.
	const path = [place.folder, place.name, place.type].filter(Boolean).join("/").toLowerCase();
	if (!(list instanceof Trouble) && list.paths.some((one) => one.toLowerCase() === path)) return "here";
	const isOut = !(list instanceof Trouble) || saysGone(list);
	return isOut && saysGone(trouble) ? "gone" : "unknown";
}

/** Redirects in a row that are followed; each has to be permanent. */
const maxHops = 3;

/** Statuses of a permanent redirect (RFC 9110, section 15.4). */
const permanent = new Set([301, 308]);

/** Parameters of the request itself. They are removed from an address before it is registered. */
const ownParameters = /^(?:f|service|request|version|token)$/i;

/** The address to which permanent redirects lead; empty if there is no redirect, or one of them is temporary. */
export async function permanentTarget(address: string, isArcgis: boolean, fetch: Fetch, method = "GET") {
	let url = new URL(address);
	const query = isArcgis ? { f: "json" } : { SERVICE: "WMS", REQUEST: "GetCapabilities" };
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	for (let hops = 0; hops <= maxHops; hops += 1) {
		const answer = await fetch(url, { redirect: "manual", method }).catch(() => null);
		await answer?.body?.cancel();
		if (!answer) return [];
		if (answer.status < 300 || answer.status > 399) return hops === 0 ? [] : [plainAddress(url, isArcgis)];
		const location = answer.headers.get("Location") ?? "";
		if (!permanent.has(answer.status) || location === "" || !URL.canParse(location, url)) return [];
		url = new URL(location, url);
	}
	return [];
}

/** An address as it is registered: without the identifier of a session. One of ArcGIS needs no query. */
function plainAddress(url: URL, isArcgis = false): string {
	const plain = new URL(url);
	for (const name of [...plain.searchParams.keys()])
		if (isArcgis || ownParameters.test(name)) plain.searchParams.delete(name);
	plain.pathname = plain.pathname.replace(/;jsessionid=[^/]*/i, "");
	plain.hash = "";
	return plain.href;
}

/** Folders of a server that are asked. */
const maxFolders = 60;

/** The path of an ArcGIS server before version 11, and the one that takes its place. */
const paths = ["/arcgis/rest/", "/server/rest/"] as const;

/**
 * The addresses of services on the same ArcGIS server: those of the same name and type in any folder, else those of a
 * similar name in the same folder that were not there before, or of the same name and another type.
 */
export async function otherServices(known: LangDescription, address: string, ask: Clients["ask"]) {
	const none = { same: [] as string[], similar: [] as string[] };
	const place = arcgisPlaceOf(address);
	if (!place) return none;
	const { folder, name, type } = place;
	const other = paths.map((path, at) => place.catalogue.replace(path, paths[1 - at] as string));
	for (const catalogue of [place.catalogue, ...other.filter((one) => one !== place.catalogue)]) {
		const top = await askList(catalogue, "", ask);
		if (top instanceof Trouble) continue;
		const found = [...top.paths];
		for (const one of top.folders.filter((one) => !isCopyOf(folder, one)).slice(0, maxFolders)) {
			const list = await askList(catalogue, one, ask);
			found.push(...(list instanceof Trouble ? [] : list.paths));
		}
		const all = found.map((path) => ({ path, parts: path.split("/") }));
		const addressOf = ({ path }: { path: string }) => place.addressOf(path, catalogue);
		const isOwn = (parts: string[]) => isSameText(parts.at(-2), name) && isSameText(parts.at(-1), type);
		const same = all.filter(({ parts }) => isOwn(parts)).map(addressOf);
		const beside = all.filter(({ parts }) => parts.slice(0, -2).join("/") === folder);
		const similar = beside.filter(({ parts }) => isSimilar(parts.slice(-2).join("/"), name, type, known));
		return { same, similar: same.length > 0 ? [] : similar.map(addressOf) };
	}
	return none;
}

function isSameText(one = "", other = ""): boolean {
	return one.toLowerCase() === other.toLowerCase();
}

/** Kinds of services that may have the same layers. */
const kinds = new Set(["MapServer", "FeatureServer"]);

function isSimilar(found: string, name: string, type: string, { services }: LangDescription): boolean {
	const [foundName = "", foundType = ""] = found.split("/");
	if (foundName === name) return foundType !== type && kinds.has(foundType) && kinds.has(type);
	if (foundType !== type || !knowsAll(services) || services.includes(found)) return false;
	const step = seriesStep(name, foundName);
	return step > 0 || (step === 0 && foundName.startsWith(`${name}_`));
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

/** The WMS addresses on the same host to which the host's home page links, wherever that redirects. */
export async function linkedServices(address: string, fetch: Fetch): Promise<string[]> {
	const answer = await fetch(new URL("/", address)).catch(() => null);
	if (!answer?.ok) return [];
	const front = new URL(answer.url);
	return linksOf(await answer.text(), front)
		.filter(({ host, href }) => host === new URL(address).host && /\bwms\b/i.test(href))
		.map((url) => plainAddress(url));
}
