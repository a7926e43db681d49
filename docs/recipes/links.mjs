import { plainText } from "./texts.mjs";

/** Parameters of requests and pictures, which are no part of the address of a service. */
const ofRequest =
	/^(?:service|version|request|layers?|styles?|format|transparent|bgcolor|exceptions|[cs]rs|bbox|width|height|dpi|map_resolution|format_options|tiled|tilesorigin|query_layers|info_format|feature_count|legend_format|feature_info_type|f|callback|_)$/i;

/** A name that a catalogue gives to the link, not the name of a layer: `WMS`, `OGC:WMS-1.3.0`, `getCapabilities`. */
const ofLink = /^(?:(?:ogc[:_-]?)?wms|wms[_-]?server|getcapabilities)(?:[:_-]?\d[\d.]*)?$/i;

/** An ArcGIS service, its layer, and what people copy behind them: `…/MapServer/3/query`. */
const arcgis = /^(.*\/(Map|Feature|Image)Server)(?:\/(\d{1,9}))?(?:\/(?:query|export|legend|identify))?\/?$/i;

/** The types of answers to GetFeatureInfo that a registration may name. */
const infoTypes = ["text/html;fgpv=summary", "text/html", "text/plain", "application/json"];

const maxAddressLength = 2048;

/** Why a link is left out. */
class Reason extends Error {}

/**
 * The registrations of one data set.
 * @param links each with its `label` in the report, `isWms`, its `langs` (a set of "en" and "fr"; empty: both), `url(lang)`,
 * `name(lang)`, and `smallkeyOf(node)`
 * @param titleIn returns the title in a language
 * @returns `layers`: smallkey → registration; `leftOut`: one line for each link
 */
export function registrationsOf({ links, titleIn, metadata }) {
	const [readable, layers, leftOut] = [[], {}, []];
	const attempt = (label, task) => {
		try {
			task();
		} catch (error) {
			if (!(error instanceof Reason)) throw error;
			leftOut.push(`${label}: ${error.message}`);
		}
	};
	for (const link of links) attempt(link.label, () => readable.push(readLink(link, readable)));
	const names = { en: plainText(titleIn("en")), fr: plainText(titleIn("fr")) };
	for (const isWms of [true, false])
		for (const [english, french] of pairsOf(readable.filter((link) => link.isWms === isWms)))
			attempt((english ?? french).label, () => {
				if (!english || !french)
					throw new Reason("no link of the other language agrees in address and layer");
				const smallkey = english.smallkeyOf(english.en);
				if (!/^[\w=+-]{1,64}$/.test(smallkey))
					throw new Reason("has no smallkey of 1 to 64 of A-Z a-z 0-9 _ - + =");
				if (Object.hasOwn(layers, smallkey)) throw new Reason(`is the same layer as ${smallkey}`);
				layers[smallkey] = registrationOf(english.en, french.fr, names, metadata);
			});
	return { layers, leftOut };
}

/** A link with its nodes, `en` and `fr`. @throws {Reason} also if its language has the same layer already */
function readLink(link, others) {
	const [en, fr] = [nodeOf(link, "en"), nodeOf(link, "fr")];
	const lang = link.langs.size === 1 ? [...link.langs][0] : null;
	const same = others.find(
		(other) => lang && other.lang === lang && identityOf(other[lang]) === identityOf({ en, fr }[lang]),
	);
	if (same) throw new Reason(`is the same layer as ${same.label}`);
	return { ...link, lang, en, fr };
}

/**
 * Pairs the links of one kind by what agrees, never by their order. A link in both languages is a pair by itself; so is
 * each link where the other language has none.
 * @returns [English, French]; one of them is missing where nothing agrees, or several agree
 */
function pairsOf(links) {
	const english = links.filter(({ lang }) => lang === "en");
	const french = links.filter(({ lang }) => lang === "fr");
	if (english.length === 0 || french.length === 0) return links.map((link) => [link, link]);
	const pairs = links.filter(({ lang }) => lang === null).map((link) => [link, link]);
	const areLeft = (all) => all.filter((link) => !pairs.some((pair) => pair.includes(link)));
	for (const keyOf of agreements(english, french)) {
		const frenchByKey = byKey(areLeft(french), keyOf);
		for (const [key, [link, ...others]] of byKey(areLeft(english), keyOf)) {
			const [match, ...matches] = frenchByKey.get(key) ?? [];
			if (match && others.length + matches.length === 0) pairs.push([link, match]);
		}
	}
	return [
		...pairs,
		...areLeft(english).map((link) => [link, null]),
		...areLeft(french).map((link) => [null, link]),
	];
}

/** The ways in which two links may agree, the surest first: each returns the key that both have, or "". */
function agreements(english, french) {
	const addressOf = (link) => withoutLanguage(link[link.lang].service_url);
	const layerOf = (link) => withoutLanguage(layersOf(link[link.lang]).join(","));
	const ways = [
		(link) => `${addressOf(link)} ${layerOf(link)}`,
		// In other services, a name says enough, a number does not,
		(link) => (/[^\d,]/.test(layerOf(link)) ? layerOf(link) : ""),
	];
	// unless each language has one service, whose name may be translated.
	const haveOneService = [english, french].every((links) => new Set(links.map(addressOf)).size === 1);
	return haveOneService ? [...ways, layerOf] : ways;
}

function byKey(links, keyOf) {
	const groups = new Map();
	for (const link of links) groups.set(keyOf(link), [...(groups.get(keyOf(link)) ?? []), link]);
	groups.delete("");
	return groups;
}

/** A text without what names a language in it: `Roads_en` and `Roads_fr`, `lang=en`, `/fra/`. */
function withoutLanguage(text) {
	return text
		.replace(/^http:/i, "https:")
		.replace(/[?&](?:lang|language|locale)=[^&]*/gi, "")
		.replace(/(?<=[a-z\d])(?:EN|FR|En|Fr|Eng|Fra)(?![A-Za-z])/g, "")
		.replace(/[_./-]?(?<![a-z])(?:en|eng|english|anglais|fr|fra|fre|french|francais)(?![a-z])/gi, "")
		.toLowerCase();
}

/** The layer's address in a service and its name or number, for a hash that stays the same for the same layer. */
export function identityOf(node) {
	return `${node.service_url.replace(/^http:/i, "https:")} ${layersOf(node).join(",")}`;
}

function layersOf({ service_type, service_url, scrape_only = [] }) {
	return service_type === "esriFeature" ? [service_url.split("/").at(-1)] : scrape_only;
}

/** The layer of a link in one language, as a node of version 2.0 without name and metadata. @throws {Reason} */
function nodeOf(link, lang) {
	const text = String(link.url(lang) ?? "").replaceAll("&amp;", "&");
	if (!URL.canParse(text) || !/^\s*https?:/i.test(text)) throw new Reason("has no http address");
	const url = new URL(text);
	if (url.username || url.password) throw new Reason("has a password in its address");
	url.hash = "";
	const node = link.isWms ? wmsNode(url, plainText(link.name(lang))) : arcgisNode(url);
	// The characters that a browser's parser leaves, and RFC 3986 does not have.
	node.service_url = node.service_url.replace(/[{}|^`\\]/g, encodeURIComponent);
	if (node.service_url.length > maxAddressLength)
		throw new Reason(`has an address of over ${maxAddressLength} characters`);
	return node;
}

function arcgisNode({ origin, pathname }) {
	const [, service, kind, number] = arcgis.exec(pathname) ?? [];
	if (!service) throw new Reason("is no address of a MapServer, FeatureServer or ImageServer");
	if (/image/i.test(kind)) return { service_type: "esriImage", service_url: origin + service };
	if (number) return { service_type: "esriFeature", service_url: `${origin}${service}/${number}` };
	const service_type = /map/i.test(kind) ? "esriMapServer" : "esriFeatureServer";
	return { service_type, service_url: origin + service, recursive: true };
}

/** @param name of the layer in the catalogue, for an address without `layers` */
function wmsNode(url, name) {
	if (arcgis.test(url.pathname) && /\/rest\//i.test(url.pathname))
		throw new Reason("is called a WMS, but has an address of ArcGIS");
	const parameters = new Map([...url.searchParams].map(([key, text]) => [key.toLowerCase(), text]));
	for (const key of [...url.searchParams.keys()]) if (ofRequest.test(key)) url.searchParams.delete(key);
	// A name with spaces is a title for people.
	const fromCatalogue = /\s/.test(name) || ofLink.test(name) ? "" : name;
	const text = parameters.get("layers") || parameters.get("layer") || fromCatalogue;
	const layers = text.split(",").flatMap((layer) => layer.trim() || []);
	if (layers.length === 0) throw new Reason("names no layer of its WMS");
	const legend_format = parameters.get("legend_format");
	const feature_info_format = parameters.get("feature_info_type");
	return {
		service_type: "ogcWms",
		service_url: url.href.replace(/\?$/, ""),
		scrape_only: layers,
		...(/^image\/[\w.+-]+$/.test(legend_format) && { legend_format }),
		...(infoTypes.includes(feature_info_format) && { feature_info_format }),
	};
}

/** Version 1.0.0, which all viewers read, where it can say it: one layer of a WMS or of ArcGIS in both languages. */
function registrationOf(en, fr, names, metadata) {
	const nameOf = (lang) => ({ service_name: names[lang] || undefined, metadata });
	const isWms = [en, fr].every(({ scrape_only }) => scrape_only?.length === 1);
	if (!isWms && [en, fr].some(({ service_type }) => service_type !== "esriFeature"))
		return { version: "2.0", en: { ...en, ...nameOf("en") }, fr: { ...fr, ...nameOf("fr") } };
	const entryOf = ({ service_type, scrape_only, feature_info_format, ...others }, lang) => ({
		...others,
		layer: isWms ? scrape_only[0] : undefined,
		feature_info_type: feature_info_format,
		...nameOf(lang),
	});
	const payload_type = isWms ? "wms" : "feature";
	return { version: "1.0.0", payload_type, en: entryOf(en, "en"), fr: entryOf(fr, "fr") };
}
