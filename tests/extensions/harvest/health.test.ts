import { encode } from "fast-png";
import * as assert from "uvu/assert";
import { createAsk } from "../../../api/service/net/ask.ts";
import { createWatchLayer } from "../../../extensions/harvest/layer.ts";
import { isBlank } from "../../../extensions/harvest/wms/look.ts";
import type { Registration, Registration1, Registration2 } from "../../../registry/registration.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { layerDocument, mapLayer } from "./arcgis-server.ts";
import { host, type MemoryAnswer, memoryFetch } from "./memory.ts";
import { blank, drawn, picture } from "./pictures.ts";

const json = (value: unknown): MemoryAnswer => ({ type: "application/json", body: JSON.stringify(value) });
const text = (body: string, type = "text/plain", status = 200): MemoryAnswer => ({ body, type, status });
const png = (body: Uint8Array): MemoryAnswer => ({ body, type: "image/png" });
const busy = text("no", "text/plain", 503);

/** What a layer's services answer: capabilities and pictures of a WMS; document and one feature of a layer. */
interface Services {
	capabilities?: MemoryAnswer;
	map?: (query: URLSearchParams) => MemoryAnswer;
	layer?: MemoryAnswer;
	feature?: MemoryAnswer;
}

const older = '<LatLonBoundingBox minx="-80" miny="40" maxx="-60" maxy="50"/>';
const current = `<EX_GeographicBoundingBox><westBoundLongitude>-80</westBoundLongitude><eastBoundLongitude>-60</eastBoundLongitude>
<southBoundLatitude>40</southBoundLatitude><northBoundLatitude>50</northBoundLatitude></EX_GeographicBoundingBox>`;
const capabilities = (box: string) => `<WMT_MS_Capabilities><Capability><Layer>${box}
<Layer><Name>roads</Name></Layer><Layer><Name>routes</Name></Layer></Layer></Capability></WMT_MS_Capabilities>`;

async function watch(
	registration: Registration,
	services: Services = {},
	site: string | null = null,
	signal?: AbortSignal,
) {
	const {
		map = () => png(drawn),
		feature = json({ features: [{}] }),
		layer = json(layerDocument()),
	} = services;
	const asked: string[] = [];
	const answerOf = ({ pathname, searchParams }: URL): MemoryAnswer => {
		if (pathname === mapLayer) return layer;
		if (pathname === `${mapLayer}/query`) return feature;
		if (pathname !== "/wms") return json({ tileInfo: {} });
		if (searchParams.get("REQUEST") === "GetMap") return map(searchParams);
		return services.capabilities ?? text(capabilities(older), "text/xml");
	};
	const ask = createAsk({ fetch: memoryFetch(answerOf, { asked }), sleep: async () => {} });
	const { state, findings } = await createWatchLayer(ask, site)(registration, signal);
	return {
		state,
		asked,
		findings: findings.map(({ pointer, text }) => [pointer, text.replace(/^\S+ /, "")]),
	};
}

function wms(en = "roads", fr = en): Registration1 {
	const entryOf = (layer: string) => ({ service_url: `${host}/wms`, layer });
	return { version: "1.0.0", payload_type: "wms", en: entryOf(en), fr: entryOf(fr) };
}

test("a wms layer is asked for a picture of where its service says it lies, once if both languages name it", async () => {
	for (const box of [older, current]) {
		const { state, asked } = await watch(wms(), { capabilities: text(capabilities(box), "text/xml") });
		const [, map = "", ...others] = asked;
		assert.equal([state, others], [null, []]);
		assert.equal(Object.fromEntries(new URL(map).searchParams), {
			...{
				SERVICE: "WMS",
				REQUEST: "GetMap",
				VERSION: "1.1.1",
				LAYERS: "roads",
				STYLES: "",
				SRS: "EPSG:4326",
			},
			...{ BBOX: "-80,40,-60,50", WIDTH: "64", HEIGHT: "64", FORMAT: "image/png", TRANSPARENT: "TRUE" },
		});
	}
});

test("the state of a wms layer, with the first finding", async () => {
	const exception =
		"<ServiceExceptionReport><ServiceException>No\ndata</ServiceException></ServiceExceptionReport>";
	const en = (words: string) => ["/en/service_url", words];
	const onlyAt = (box: string) => (query: URLSearchParams) => png(query.get("BBOX") === box ? drawn : blank);
	type Row = [Registration, Services, state: string | null, finding?: string[]];
	const rows: Row[] = [
		[wms(), {}, null],
		[wms(), { map: onlyAt("-70.1,44.95,-69.9,45.05") }, null],
		[wms(), { map: () => png(blank) }, "empty", en("draws an empty picture of roads")],
		[
			wms("roads", "routes"),
			{ map: (query: URLSearchParams) => png(query.get("LAYERS") === "routes" ? blank : drawn) },
			"empty",
			["/fr/service_url", "draws an empty picture of routes"],
		],
		[wms(), { map: () => text("GIF89a", "image/gif") }, null],
		[
			wms(),
			{ map: () => text(exception, "application/vnd.ogc.se_xml") },
			"down",
			en("answers with no picture: No data"),
		],
		[wms(), { map: () => text("<html>", "text/html") }, "down", en("answers with no picture")],
		[wms(), { map: () => busy }, "down", en("answers with status 503")],
		[wms("rails", "roads"), { map: () => busy }, "wrong", ["/en/layer", "has no layer rails among its 2"]],
		[
			wms(),
			{ capabilities: text(capabilities(older).slice(0, -30), "text/xml") },
			"down",
			en("answers with capabilities that end in the middle"),
		],
		[
			wms(),
			{ capabilities: text("<html><form>Sign in</form></html>", "text/html") },
			"wrong",
			en("does not answer as a WMS does"),
		],
	];
	for (const [registration, services, state, finding] of rows) {
		const found = await watch(registration, services);
		assert.equal([found.state, found.findings[0]], [state, finding]);
	}
	const blocked = await watch(wms(), {}, "https://site.example/");
	assert.equal([blocked.state, (await watch(wms(), {}, "http://site.example/")).state], ["blocked", null]);
	const sick = await watch(wms(), { map: () => busy }, "https://site.example/");
	assert.is(sick.state, "down", "worse than what a browser blocks");
});

test("a feature layer is well with a feature or a refused query, empty without, and down where the query fails", async () => {
	const error = (code: number) => json({ error: { code, message: "No" } });
	for (const [services, state] of [
		[{ feature: json({ features: [{ attributes: {} }] }) }, null],
		[{ feature: json({ features: [] }) }, "empty"],
		[{ feature: error(500) }, "down"],
		[{ feature: busy }, "down"],
		[{ feature: error(400) }, null],
		[{ feature: text("no", "text/plain", 403) }, null],
		[{ feature: text(" ".repeat(5_000_001)) }, null],
		[{ layer: busy }, "down"],
		[{ layer: json({}) }, "wrong"],
	] as [Services, string | null][]) {
		const found = await watch(featureAt(host + mapLayer), services);
		assert.is(found.state, state, JSON.stringify(found.findings));
		if (services.layer) assert.not(found.asked.some((address) => address.includes("/query")));
	}
});

test("of version 2.0 a named layer of a WMS is looked at; a whole service is only checked, and a time-out ends both", async () => {
	const version2 = (service_type: string, path = "/wms", more: object = {}): Registration2 => {
		const node = { service_type, service_url: host + path, ...more } as Registration2["en"];
		return { version: "2.0", en: node, fr: node };
	};
	const map = () => png(blank);
	const tiles = await watch(version2("esriTile", "/tiles"), { map });
	assert.equal([tiles.state, tiles.asked], [null, Array(2).fill(`${host}/tiles?f=json`)]);
	assert.is((await watch(version2("ogcWmts"), { map })).state, "wrong");
	assert.is((await watch(version2("ogcWms", "/wms", { scrape_only: ["roads"] }), { map })).state, "empty");
	for (const registration of [wms(), featureAt(host + mapLayer)]) {
		const late = await watch(registration, {}, null, AbortSignal.abort());
		assert.equal([late.state, late.findings[1]?.[1]], ["down", "was not asked to the end"]);
	}
});

/** A PNG with a palette of two colours, 64 by 64; its first pixel has colour 0, the others the given one. */
const withPalette = (index: number) =>
	encode({
		...{
			width: 64,
			height: 64,
			channels: 1,
			depth: 8,
			palette: [
				[0, 0, 0],
				[255, 0, 0],
			],
		},
		data: Uint8Array.from({ length: 64 * 64 }, (_, at) => (at === 0 ? 0 : index)),
	});

test("one colour, or nothing but transparency, is blank in every kind of PNG; a single pixel is not", () => {
	for (const empty of [
		blank,
		picture(() => [255, 255, 255, 255]),
		picture((x) => [x, x, x, 0]),
		withPalette(0),
	])
		assert.ok(isBlank(empty));
	for (const channels of [1, 2, 3, 4])
		for (const depth of [8, 16] as const) {
			const data = new (depth === 8 ? Uint8Array : Uint16Array)(64 * 64 * channels).fill(7);
			const encoded = () => encode({ width: 64, height: 64, data, channels, depth });
			assert.ok(isBlank(encoded()), `${channels} ${depth}`);
			data[64 * 3 * channels] = 9;
			assert.not(isBlank(encoded()), `${channels} ${depth}`);
		}
	const huge = Buffer.from(blank);
	huge.writeUInt32BE(1_000_000_000, 16);
	for (const other of [
		...[drawn, picture((x, y) => [x === 63 && y === 63 ? 1 : 0, 0, 0, 255]), withPalette(1)],
		...[
			new Uint8Array(0),
			new TextEncoder().encode("<ServiceException/>"),
			huge,
			picture(() => [0, 0, 0, 0], 65, 64),
		],
		Buffer.concat([blank, Buffer.alloc(100_000)]),
		...[8, 20, 33, 50, blank.length - 20].map((length) => blank.subarray(0, length)),
	])
		assert.not(isBlank(other));
});

test.run();
