import pLimit from "p-limit";
import type { OtherRoute, Question } from "../../api/context.ts";
import { type Client, Room } from "../../api/limits.ts";
import { answerTagged, headersOfAnyType, type Reply, refusalCaching, textReply } from "../../api/reply.ts";
import { eachInSlices } from "../../publish/file-writer.ts";
import { decodeSegment, type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { type Problem, problemAt, textIn } from "../../registry/texts.ts";
import type { Entry } from "../../site/data/entries.ts";
import type { Catalogue } from "../../site/http/catalogue-requests.ts";
import { rootFrom } from "../../site/http/pages.ts";
import { etagOf } from "../../store/hashes.ts";
import {
	catalogOf,
	description,
	type ItemsQuery,
	json,
	parseItemsQuery,
	recordOf,
	title,
} from "./records.ts";

/** Most searches that run or wait; they run one after the other. */
export const maxSearches = 64;

/** Searches all entries in slices that let other requests through. */
export function createSearch() {
	const room = new Room(maxSearches);
	const oneByOne = pLimit(1);

	/** @returns the entries that match, in their order; null if too many searches wait */
	return async (load: () => Promise<readonly Entry[]>, query: ItemsQuery, client: Client) => {
		const held = room.hold(client);
		if (held.take(1)) return null;
		const search = async () => {
			const matches: Entry[] = [];
			await eachInSlices(await load(), (entry) => {
				if (query.isMatch(entry)) matches.push(entry);
			});
			return matches;
		};
		return oneByOne(search).finally(held.end);
	};
}

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
const geoJson = (rel: string, href: string) => ({ ...json(rel, href), type: geoJsonType });
/** OWSLib reads only this version of OpenAPI, so that `schemas/openapi.json` is of no use to it. */
const openApiType = "application/vnd.oai.openapi+json;version=3.0";

const queries = ["q", "bbox", "ids", "type", "datetime", "limit", "offset"];
const items = "collections/layers/items";

function openApi(api: string): object {
	const operation = (summary: string, place = "path", names: readonly string[] = []) => {
		const required = place === "path";
		const parameters = names.map((name) => ({ name, in: place, required, schema: { type: "string" } }));
		return { get: { summary, parameters, responses: { 200: { description: summary } } } };
	};
	const paths = {
		"/conformance": operation("What the API conforms to"),
		"/collections": operation("The only collection"),
		"/collections/layers": operation("The collection of layers"),
		[`/${items}`]: operation("Layers that match a query", "query", queries),
		[`/${items}/{smallkey}`]: operation("One layer", "path", ["smallkey"]),
	};
	const info = { title, description, version: "1.0.0" };
	return { openapi: "3.0.3", info, servers: [{ url: api.slice(0, -1) }], paths };
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
		if (!settings) return problem(503, problemAt("", "busy"), { "Retry-After": "5" });
		const { address, ifNoneMatch } = question;
		const relative = rootFrom(below);
		const site = settings.publicUrl || (address === null ? relative : new URL(relative, address).href);
		// A proxy may publish only what is below `/ogc`.
		const api = ogc.test(below) ? `${site}ogc/` : site;
		if (part === items) return answerItems(query, site, api, question);
		if (part.startsWith(`${items}/`)) {
			const smallkey = parseSmallkey(decodeSegment(part.slice(items.length + 1)) ?? "");
			const entry = smallkey === null ? null : await catalogue.entries.find(smallkey);
			if (!entry) return problem(404, problemAt("", "no-file"));
			const { links, ...record } = recordOf(entry, site);
			const self = geoJson("self", `${api}${items}/${encodeURIComponent(entry.smallkey)}`);
			const all = [self, json("collection", `${api}collections/layers`), ...links];
			return jsonReply({ ...record, links: all }, ifNoneMatch, geoJsonType);
		}
		const page = pageOf(part, site, api);
		return page ? jsonReply(page, ifNoneMatch) : problem(404, problemAt("", "no-file"));
	}

	async function answerItems(query: string, site: string, api: string, question: Question): Promise<Reply> {
		const parsed = parseItemsQuery(query);
		if ("code" in parsed) return problem(400, parsed);
		const load = async () => (await catalogue.entries.listed()).entries;
		const matches = await search(load, parsed, question.client);
		if (!matches) return problem(503, problemAt("", "busy"), { "Retry-After": "1" });
		const { limit, offset, text } = parsed;
		const features = matches.slice(offset, offset + limit).map((entry) => recordOf(entry, site));
		const link = (rel: string, start: number) =>
			geoJson(rel, `${api}${items}?${text && `${text}&`}limit=${limit}&offset=${start}`);
		const links = [link("self", offset), json("collection", `${api}collections/layers`)];
		if (offset > 0) links.push(link("prev", Math.max(offset - limit, 0)));
		if (offset + limit < matches.length) links.push(link("next", offset + limit));
		const counts = { numberMatched: matches.length, numberReturned: features.length };
		const value = { type: "FeatureCollection", ...counts, features, links };
		return jsonReply(value, question.ifNoneMatch, geoJsonType);
	}

	return [{ name: "records", matches: (path) => recordsPath.test(path), answer }];
}

/** `GET /ogc`, `/ogc/api`, `/conformance`, `/collections` and `/collections/layers`; undefined for any other path. */
function pageOf(part: string, site: string, api: string): object | undefined {
	const self = json("self", `${api}collections/layers`);
	const collection = { ...catalogOf([self, geoJson("items", api + items)]), crs: [crs84] };
	const links = [
		json("self", `${site}ogc`),
		{ rel: "service-desc", type: openApiType, href: `${api}api` },
		json("conformance", `${api}conformance`),
		json("data", `${api}collections`),
	];
	const pages = new Map<string, object>([
		["", { title, description, links }],
		["api", openApi(api)],
		["conformance", { conformsTo: conformance }],
		["collections", { links: [json("self", `${api}collections`)], collections: [collection] }],
		["collections/layers", collection],
	]);
	return pages.get(part);
}

function jsonReply(value: object, ifNoneMatch: string | null, type = "application/json"): Reply {
	const body = new TextEncoder().encode(JSON.stringify(value));
	const headers = { "Content-Type": type, ...headersOfAnyType, ETag: etagOf(body) };
	return answerTagged(headers, ifNoneMatch, () => body);
}

/** An exception of the OGC API (OGC API Common, "exception.yaml"), with the service's own member `errors`. */
function problem(status: number, error: Problem, headers: Record<string, string> = {}): Reply {
	const code = { 400: "InvalidParameterValue", 404: "NotFound" }[status] ?? "ServerError";
	const valueIn = (lang: Lang) => {
		const text = textIn(lang, error);
		return { code, description: text, errors: [text] };
	};
	return textReply(status, valueIn, { ...headersOfAnyType, "Cache-Control": refusalCaching, ...headers });
}
