import * as assert from "uvu/assert";
import { records } from "../../../extensions/records/index.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { buildCatalogue } from "../../site/data/entries.ts";
import { pageSettings } from "../../site/data/pages.ts";
import { layers, openRecords } from "./records-world.ts";

const test = sharedSuite("OGC API Records", async (use) => use(await openRecords()));

type Ask = Awaited<ReturnType<typeof openRecords>>["ask"];

async function read(ask: Ask, path: string, status = 200, ...more: [string?]) {
	const reply = await ask(`/base${path}`, ...more);
	assert.is(reply.status, status, path);
	return JSON.parse(reply.body);
}

const items = "/collections/layers/items";
const idsOf = (features: { id: string }[]) => features.map(({ id }) => id);

const queries: [query: string, ids: string][] = [
	["q=RIVIERES", "rivers"],
	["q=ecoles,base%20map", "schools tiles"],
	// Words that do not follow each other, and words of two texts.
	["q=rivers%20ontario", ""],
	["q=ontario%20every", ""],
	["q=d'eau", "rivers"],
	["q=COURS%20D%E2%80%99EAU", "rivers"],
	["q=education", "schools"],
	["q=bureau%20des", "schools"],
	["ids=rivers,schools&bbox=-80,40,-70,45", "rivers schools"],
	["ids=rivers,schools&bbox=170,50,-130,60", "schools"],
	["ids=rivers,schools&bbox=-80,40,0,-70,45,9", "rivers schools"],
	// Without a known extent.
	["ids=rivers,tiles&bbox=170,50,175,60", "tiles"],
	["ids=tiles,none,rivers", "rivers tiles"],
	["type=feature,ogcWmts", "schools tiles"],
	["type=wms&q=rivers", "rivers"],
	["datetime=2026-01-01T00:00:00Z/..&ids=rivers", "rivers"],
];

test("q, bbox, ids, type and datetime choose records", async ({ ask }) => {
	for (const [query, ids] of queries)
		assert.is(idsOf((await read(ask, `${items}?${query}`)).features).join(" "), ids, query);
});

test("limit and offset page through the records, each once", async ({ ask }) => {
	assert.is((await read(ask, items)).numberReturned, 10);
	assert.is((await read(ask, `${items}?limit=1000`)).numberReturned, 200);
	const first = await read(ask, `${items}?q=census&limit=150`, 200, "https://h.example");
	const nextOf = ({ links }: { links: { rel: string; href: string }[] }) =>
		links.find(({ rel }) => rel === "next")?.href ?? "";
	const second = await read(ask, nextOf(first).replace("https://h.example/base", ""));
	assert.equal([second.numberMatched, second.numberReturned], [200, 50]);
	assert.is(nextOf(second), "");
	assert.is(new Set(idsOf([...first.features, ...second.features])).size, 200);
});

test("what cannot be read is refused in the language of the request", async ({ ask }) => {
	const wrong = ["limit=0", "limit=x", "offset=-1", "bbox=1,2,3", "bbox=0,9,1,8", "bbox=a,b,c,d", "f=xml"];
	const times = ["datetime=yesterday", "datetime=a/b/c", "datetime=2026-13-41"];
	const long = [`q=${"x".repeat(201)}`, `query=${"x,".repeat(4_000)}`, `q=${"a,".repeat(11)}`];
	for (const query of [...wrong, ...times, "what=1", ...long]) {
		const { code, description } = await read(ask, `${items}?${query}`, 400);
		assert.is(code, "InvalidParameterValue", query);
		assert.match(description, query.split("=")[0] as string);
	}
	const french = await ask(`/base${items}?limit=0`, null, { "accept-language": "fr-CA" });
	const description = 'limit: doit être ≥ 1, et non "0"';
	const { code: _, ...answer } = JSON.parse(french.body);
	assert.equal(answer, { description, errors: [description] });
	const { "Content-Language": lang, Vary: vary } = french.headers as Record<string, string>;
	assert.equal([lang, vary], ["fr", "Accept-Language"]);
	for (const path of [`${items}/none`, `${items}/%zz`, "/collections/none"]) await read(ask, path, 404);
});

test("any page may read answers, and asks again only when they change", async ({ ask }) => {
	const path = `/base${items}/rivers`;
	const headers = (await ask(path)).headers as Record<string, string>;
	assert.is(headers["Access-Control-Allow-Origin"], "*");
	assert.match(headers["Content-Type"] ?? "", "application/geo+json");
	assert.is((await ask(path, null, { "if-none-match": headers.ETag ?? "" })).status, 304);
});

test("a record is a GeoJSON feature with links that QGIS' MetaSearch reads", async ({ ask }) => {
	const record = await read(ask, `${items}/rivers`);
	assert.equal([record.type, record.id, record.properties.type], ["Feature", "rivers", "wms"]);
	const ring = "[[-95,41],[-74,41],[-74,57],[-95,57],[-95,41]]";
	assert.is(JSON.stringify(record.geometry), `{"type":"Polygon","coordinates":[${ring}]}`);
	assert.is((await read(ask, `${items}/tiles`)).geometry, null);
	const services = async (smallkey: string) => {
		const { links } = await read(ask, `${items}/${smallkey}`);
		const ofServices = links.filter(({ protocol }: { protocol?: string }) => protocol);
		return ofServices.map(
			({ protocol, href, name }: Record<string, string>) => `${protocol} ${href} ${name}`,
		);
	};
	assert.equal(await services("rivers"), [
		"OGC:WMS https://maps.example.ca/wms hydro:rivers",
		"OGC:WMS https://cartes.example.ca/wms hydro:rivieres",
	]);
	assert.equal(await services("schools"), [
		"ESRI:ArcGIS:MapServer https://gis.example.ca/arcgis/rest/services/edu/MapServer 3",
	]);
	assert.is((await services("tiles"))[0], "OGC:WMTS https://maps.example.ca/wms base");
});

test("links are absolute where the host or PUBLIC_URL is known, else relative", async ({ ask }) => {
	await using published = await openRecords("https://layers.example.ca/rcs/");
	const linksAt = async (from: Ask, path: string, origin?: string) => {
		const { links } = await read(from, path, 200, origin);
		const own = links.filter(({ rel }: { rel: string }) => rel !== "item" && rel !== "describedby");
		return own.map(({ href }: { href: string }) => href);
	};
	const pages = ["", "/collections", "/collections/layers", `${items}?limit=2&offset=2`, `${items}/rivers`];
	for (const page of pages) {
		const below = `https://h.example/base${page === "" ? "/ogc" : ""}`;
		for (const href of await linksAt(ask, `/ogc${page}`, "https://h.example"))
			assert.ok(href.startsWith(below), `${page}: ${href}`);
		if (page === "") continue;
		// Below `/ogc` links stay there: a proxy may publish nothing else.
		for (const href of await linksAt(ask, `/ogc${page}`)) assert.match(href, /^(?:\.\.\/)+ogc\//, page);
		for (const href of await linksAt(published.ask, `/ogc${page}`, "https://h.example"))
			assert.ok(href.startsWith("https://layers.example.ca/rcs/ogc/c"), href);
	}
});

test("on a hosting of files every record is in a page of the crawlable catalogue", () => {
	const settings = { pages: pageSettings, isServed: false, commit: null, owners: () => [] };
	const files = buildCatalogue(layers, null, { ...settings, extensions: [records] });
	const { type, links } = JSON.parse(files.get("records/index.json") ?? "");
	assert.is(type, "Collection");
	const children = links.filter(({ rel }: { rel: string }) => rel === "child");
	const pages = children.flatMap(({ href }: { href: string }) => {
		return JSON.parse(files.get(href.replace("../", "")) ?? "").records;
	});
	assert.equal(idsOf(pages).sort(), layers.map(({ smallkey }) => smallkey).sort());
});

test.run();
