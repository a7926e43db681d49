import type { OtherRoute, Question } from "../../api/context.ts";
import { answerTagged, headersOfAnyType, type Reply, refusalCaching, textReply } from "../../api/reply.ts";
import { decodeSegment, type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { type Problem, problemAt, textIn } from "../../registry/texts.ts";
import type { Catalogue } from "../../site/http/catalogue-requests.ts";
import { rootFrom } from "../../site/http/pages.ts";
import { etagOf } from "../../store/hashes.ts";
import { about, catalogOf, linkTo, recordOf } from "./records.ts";
import { createSearch, parseItemsQuery, rules } from "./search.ts";

const conformance = [
	"common-1/1.0/conf/core",
	"common-2/1.0/conf/collections",
	"features-1/1.0/conf/core",
	"features-1/1.0/conf/geojson",
	"records-1/1.0/conf/record-core",
	"records-1/1.0/conf/record-collection",
	"records-1/1.0/conf/json",
].map((part) => `http://www.opengis.net/spec/ogcapi-${part}`);

const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
const geoJsonType = "application/geo+json";
/** OWSLib reads only this version of OpenAPI, so that `schemas/openapi.json` is of no use to it. */
const openApiType = "application/vnd.oai.openapi+json;version=3.0";

const collectionPath = "collections/layers";
const items = `${collectionPath}/items`;

function openApi(api: string): object {
	const operation = (summary: string, place = "path", names: readonly string[] = []) => {
		const required = place === "path";
		const parameters = names.map((name) => ({ name, in: place, required, schema: { type: "string" } }));
		return { get: { summary, parameters, responses: { 200: { description: summary } } } };
	};
	const paths = {
		"/conformance": operation("What the API conforms to"),
		"/collections": operation("The only collection"),
		[`/${collectionPath}`]: operation("The collection of layers"),
		[`/${items}`]: operation("Layers that match a query", "query", [...rules.keys()]),
		[`/${items}/{smallkey}`]: operation("One layer", "path", ["smallkey"]),
	};
	const servers = [{ url: api.slice(0, -1) }];
	return { openapi: "3.0.3", info: { ...about, version: "1.0.0" }, servers, paths };
}

const ogc = /^ogc(?:\/|$)/;
const recordsPath = /^\/(?:collections|conformance|ogc)(?:[/?]|$)/;

/** GET <base>/ogc/…, /conformance and /collections… (OGC API Records). */
export function recordsRoutes(catalogue: Catalogue): OtherRoute[] {
	const search = createSearch();

	async function answer(question: Question): Promise<Reply> {
		const [, below = "", query = ""] = /^\/([^?]*)(?:\?(.*))?$/s.exec(question.path) ?? [];
		const part = below.replace(ogc, "").replace(/\/$/, "");
		const settings = await catalogue.settings();
		if (!settings) return problemReply(503, problemAt("", "busy"), { "Retry-After": "5" });
		const { address, ifNoneMatch } = question;
		const root = rootFrom(below);
		const site = settings.publicUrl || (address === null ? root : new URL(root, address).href);
		// A proxy may publish only what is below `/ogc`.
		const api = ogc.test(below) ? `${site}ogc/` : site;
		if (part === items) return answerItems(query, site, api, question);
		if (part.startsWith(`${items}/`)) {
			const smallkey = parseSmallkey(decodeSegment(part.slice(items.length + 1)) ?? "");
			const entry = smallkey === null ? null : await catalogue.entries.find(smallkey);
			if (!entry) return problemReply(404, problemAt("", "no-file"));
			const record = recordOf(entry, site);
			const self = linkTo("self", `${api}${items}/${encodeURIComponent(entry.smallkey)}`, geoJsonType);
			const links = [self, linkTo("collection", api + collectionPath), ...record.links];
			return jsonReply({ ...record, links }, ifNoneMatch, geoJsonType);
		}
		const page = pageOf(part, site, api);
		return page ? jsonReply(page, ifNoneMatch) : problemReply(404, problemAt("", "no-file"));
	}

	async function answerItems(query: string, site: string, api: string, question: Question): Promise<Reply> {
		const parsed = parseItemsQuery(query);
		if ("code" in parsed) return problemReply(400, parsed);
		const load = async () => (await catalogue.entries.listed()).entries;
		const matches = await search(load, parsed, question.client);
		if (!matches) return problemReply(503, problemAt("", "busy"), { "Retry-After": "1" });
		const { limit, offset, text } = parsed;
		const features = matches.slice(offset, offset + limit).map((entry) => recordOf(entry, site));
		const link = (rel: string, start: number) =>
			linkTo(rel, `${api}${items}?${text && `${text}&`}limit=${limit}&offset=${start}`, geoJsonType);
		const links = [link("self", offset), linkTo("collection", api + collectionPath)];
		if (offset > 0) links.push(link("prev", Math.max(offset - limit, 0)));
		if (offset + limit < matches.length) links.push(link("next", offset + limit));
		const [numberMatched, numberReturned] = [matches.length, features.length];
		const value = { type: "FeatureCollection", numberMatched, numberReturned, features, links };
		return jsonReply(value, question.ifNoneMatch, geoJsonType);
	}

	return [{ name: "records", matches: (path) => recordsPath.test(path), answer }];
}

/** `GET /ogc`, `/ogc/api`, `/conformance`, `/collections` and `/collections/layers`. */
function pageOf(part: string, site: string, api: string): object | null {
	const collectionLinks = [linkTo("self", api + collectionPath), linkTo("items", api + items, geoJsonType)];
	const collection = { ...catalogOf(collectionLinks), crs: [crs84] };
	const links = [
		linkTo("self", `${site}ogc`),
		linkTo("service-desc", `${api}api`, openApiType),
		linkTo("conformance", `${api}conformance`),
		linkTo("data", `${api}collections`),
	];
	if (part === "") return { ...about, links };
	if (part === "api") return openApi(api);
	if (part === "conformance") return { conformsTo: conformance };
	if (part === collectionPath) return collection;
	if (part !== "collections") return null;
	return { links: [linkTo("self", `${api}collections`)], collections: [collection] };
}

function jsonReply(value: object, ifNoneMatch: string | null, type = "application/json"): Reply {
	const body = new TextEncoder().encode(JSON.stringify(value));
	const headers = { "Content-Type": type, ...headersOfAnyType, ETag: etagOf(body) };
	return answerTagged(headers, ifNoneMatch, () => body);
}

/** An exception (OGC API Common, "exception.yaml"), with the service's own member `errors`. */
function problemReply(status: number, error: Problem, headers: Record<string, string> = {}): Reply {
	const code = { 400: "InvalidParameterValue", 404: "NotFound" }[status] ?? "ServerError";
	const valueIn = (lang: Lang) => {
		const text = textIn(lang, error);
		return { code, description: text, errors: [text] };
	};
	return textReply(status, valueIn, { ...headersOfAnyType, "Cache-Control": refusalCaching, ...headers });
}
