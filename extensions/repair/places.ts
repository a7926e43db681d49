import type { LangDescription } from "../../registry/description.ts";
import { numberOf } from "../../site/service/decode.ts";
import { agreementOf, hasItsName } from "../harvest/agreement.ts";
import { askLayers, askList, type ListedService } from "../harvest/arcgis/answers.ts";
import { describeLayer } from "../harvest/arcgis/feature-layer.ts";
import { type Ask, orNull, orTrouble, Trouble } from "../harvest/ask.ts";
import type { Clients } from "../harvest/clients.ts";
import { findMatches } from "../harvest/matches.ts";
import { isCopyOf, seriesStep } from "../harvest/names.ts";
import { arcgisPlaceOf, knowsAll, numberIn } from "../harvest/siblings.ts";
import { describeLayers } from "../harvest/wms/describe-layers.ts";

type Fetch = typeof globalThis.fetch;

/**
 * `here`: the layer is there; or its service is listed, so it is down. `gone`: the service says that nothing is there.
 * `withdrawn`: the service lists other layers. `replaced`: by another layer, or a group. `unknown`: no answer says more.
 */
type Presence = "here" | "gone" | "withdrawn" | "replaced" | "unknown";

/** Statuses of HTTP and of ArcGIS. */
const signInNeeded = new Set([401, 403, 498, 499]);

function saysGone({ state, status, isTemporary }: Trouble) {
	return state === "wrong" && !isTemporary && status !== null && !signInNeeded.has(status);
}

export async function presenceOf(
	before: LangDescription,
	address: string,
	clients: Clients,
): Promise<Presence> {
	const { ask, read } = clients;
	if ("renderer" in before) {
		const layers = await orTrouble(askLayers(address, ask));
		if (layers instanceof Trouble) return presenceOfService(address, layers, ask);
		// A service lists nothing while it starts.
		if (layers.length === 0) return "unknown";
		const layer = layers.find(({ id }) => String(numberOf(id)) === numberIn(address));
		if (!layer) return "withdrawn";
		if (Array.isArray(layer.subLayerIds)) return "replaced";
		const now = await orNull(describeLayer(address, clients));
		// A number may become that of another layer.
		return !now || hasItsName(agreementOf(before, now.description)) ? "here" : "replaced";
	}
	const [name = ""] = "layers" in before ? before.layers : [];
	const capabilities = await orTrouble(read("WMS", address, [name]));
	if (capabilities instanceof Trouble) return presenceOfService(address, capabilities, ask);
	if (capabilities.layers.size === 0) return "unknown";
	if (!capabilities.layers.has(name)) return "withdrawn";
	const now = await orNull(describeLayers("WMS", address, [name], read));
	if (!now) return "here";
	const agreement = agreementOf(before, now.description);
	if (/^\d+$/.test(name)) return hasItsName(agreement) ? "here" : "replaced";
	// Two names are at most swapped.
	if (agreement.sure !== null) return "here";
	const matches = await findMatches(before, address, clients);
	return matches.some((match) => match.agreement.sure === "same") ? "replaced" : "here";
}

/** The service does not list its layers. */
async function presenceOfService(address: string, trouble: Trouble, ask: Ask): Promise<Presence> {
	const place = arcgisPlaceOf(address);
	if (!place) return saysGone(trouble) ? "gone" : "unknown";
	const list = await orTrouble(askList(place.catalogue, place.folder, ask));
	if (list instanceof Trouble) return saysGone(list) && saysGone(trouble) ? "gone" : "unknown";
	const path = [place.folder, place.name, place.type].filter(Boolean).join("/");
	if (list.services.some((service) => isSameText(service.path, path))) return "here";
	return saysGone(trouble) ? "gone" : "unknown";
}

const maxHops = 3;

const permanent = new Set([301, 308]);

/** Parameters of the request itself are not registered. */
const ownParameters = /^(?:f|service|request|version|token)$/i;

/** Null if there is no redirect, or one of them is temporary. */
export async function permanentTarget(
	address: string,
	isArcgis: boolean,
	fetch: Fetch,
	method: "GET" | "HEAD",
): Promise<string | null> {
	let url = new URL(address);
	const query = isArcgis ? { f: "json" } : { SERVICE: "WMS", REQUEST: "GetCapabilities" };
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	for (let hops = 0; hops <= maxHops; hops += 1) {
		const answer = await fetch(url, { redirect: "manual", method }).catch(() => null);
		await answer?.body?.cancel();
		if (!answer) return null;
		if (answer.status < 300 || answer.status > 399) return hops === 0 ? null : plainAddress(url, isArcgis);
		const location = answer.headers.get("Location") ?? "";
		if (!permanent.has(answer.status) || location === "" || !URL.canParse(location, url)) return null;
		url = new URL(location, url);
	}
	return null;
}

/** Removes a session's identifier; an address of ArcGIS needs no query. */
function plainAddress(url: URL, isArcgis = false) {
	const plain = new URL(url);
	for (const name of [...plain.searchParams.keys()])
		if (isArcgis || ownParameters.test(name)) plain.searchParams.delete(name);
	plain.pathname = plain.pathname.replace(/;jsessionid=[^/]*/i, "");
	plain.hash = "";
	return plain.href;
}

const maxFolders = 60;

/**
 * On the same ArcGIS server. `same`: of the same name and type in any folder. `similar`: of a similar name in the folder
 * that were not there before, or of the same name and another type.
 */
export async function otherServices(before: LangDescription, address: string, ask: Ask) {
	const place = arcgisPlaceOf(address);
	if (!place) return { same: [], similar: [] };
	const { folder, name, type } = place;
	// ArcGIS servers before version 11, and since.
	const [older, newer] = ["/arcgis/rest/", "/server/rest/"] as const;
	const others = [place.catalogue.replace(older, newer), place.catalogue.replace(newer, older)];
	for (const catalogue of new Set([place.catalogue, ...others])) {
		const services = await listServices(catalogue, folder, ask);
		if (!services) continue;
		const addressOf = ({ path }: ListedService) => place.addressOf(path, catalogue);
		const same = services.filter((other) => isSameText(other.name, name) && isSameText(other.type, type));
		const neighbours = services.filter((other) => other.folder === folder);
		const similar = neighbours.filter((other) => isSimilar(other, name, type, before));
		return { same: same.map(addressOf), similar: same.length > 0 ? [] : similar.map(addressOf) };
	}
	return { same: [], similar: [] };
}

/** Leaves out copies of the folder; null if the server does not answer. */
async function listServices(catalogue: string, folder: string, ask: Ask): Promise<ListedService[] | null> {
	const top = await orNull(askList(catalogue, "", ask));
	if (!top) return null;
	const services = [...top.services];
	for (const name of top.folders.filter((name) => !isCopyOf(folder, name)).slice(0, maxFolders))
		services.push(...((await orNull(askList(catalogue, name, ask)))?.services ?? []));
	return services;
}

/** ArcGIS ignores the case of names. */
function isSameText(a: string, b: string) {
	return a.toLowerCase() === b.toLowerCase();
}

const drawnTypes = new Set(["MapServer", "FeatureServer"]);

function isSimilar(other: ListedService, name: string, type: string, { services }: LangDescription) {
	if (other.name === name) return other.type !== type && drawnTypes.has(other.type) && drawnTypes.has(type);
	if (other.type !== type || !knowsAll(services) || services.includes(`${other.name}/${type}`)) return false;
	const step = seriesStep(name, other.name);
	return step === "later" || (step === null && other.name.startsWith(`${name}_`));
}

const maxLinks = 200;

/** A URL parser needs long for a long host. */
const plainLink = /^(?:https?:\/\/[^\s"<>/?#@]{1,253}(?=[/?#]|$)|(?![a-z][a-z0-9+.-]*:|[/\\]{2}))[^\s"<>]*$/i;

/** On the home page of the same host, wherever that redirects. */
export async function linkedServices(address: string, fetch: Fetch): Promise<string[]> {
	const answer = await fetch(new URL("/", address)).catch(() => null);
	if (!answer?.ok) return [];
	const links = [...(await answer.text()).matchAll(/\bhref\s*=\s*["']([^"'<>]{1,2000})["']/gi)];
	const hrefs = links.slice(0, maxLinks).flatMap(([, text = ""]) => {
		const link = text.replaceAll("&amp;", "&");
		return plainLink.test(link) && URL.canParse(link, answer.url) ? new URL(link, answer.url).href : [];
	});
	return Array.from(new Set(hrefs), (href) => new URL(href))
		.filter(({ host, href }) => host === new URL(address).host && /\bwms\b/i.test(href))
		.map((url) => plainAddress(url));
}
