import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import type { Renderer } from "../../../registry/description.ts";
import { Peer } from "../../extensions/harvest/peer.ts";
import { assertColour, isDrawn, pageSuite } from "../browser.ts";
import {
	blue,
	type Colour,
	green,
	red,
	sendJson,
	sendText,
	serveExport,
	serveFeatures,
	serveWms,
	symbolImage,
} from "../map-services.ts";
import { featureLayer, SiteWorld, type TestLayer, wmsLayer } from "../site-world.ts";

/** A square of a million metres to a side, by its lower left corner. */
function square(x: number, y: number) {
	const [right, top] = [x + 1_000_000, y + 1_000_000];
	const corners = `${x},${y} ${x},${top} ${right},${top} ${right},${y} ${x},${y}`;
	return { rings: [corners.split(" ").map((corner) => corner.split(",").map(Number))] };
}

function drawing(fill: Colour, label: string) {
	return { image: symbolImage(fill), label };
}

function layersOf(maps: Peer, odd: Peer): TestLayer[] {
	const at = (path: string) => maps.origin + path;
	serveWms(maps, "/wms-3857", { onlyReference: "EPSG:3857", colourOf: () => green });
	odd.on("/status", sendText("no", "text/plain", 503));
	odd.on("/page", sendText("<html>Maintenance</html>", "text/html"));
	serveExport(maps, "/rest/MapServer", green);
	const point = (x: number, y: number, attributes: object) => ({ attributes, geometry: { x, y } });
	serveFeatures(maps, "/points/MapServer/0", [point(0, 1_000_000, { NAME: "<i>Middle</i>", KIND: 1 })]);
	serveFeatures(maps, "/areas/MapServer/0", [
		{ attributes: { NAME: "west", KIND: 1 }, geometry: square(-1_000_000, 500_000) },
		{ attributes: { NAME: "east", KIND: 2 }, geometry: square(0, 500_000) },
	]);
	odd.on("/MapServer/0/query", sendJson({ error: { code: 400, message: "Invalid <b>query</b>" } }));
	const unique: Renderer = {
		type: "unique",
		fields: ["KIND"],
		default: null,
		classes: [
			{ ...drawing(red, "one"), value: 1 },
			{ ...drawing(blue, "two"), value: 2 },
		],
	};
	const breaks: Renderer = {
		type: "breaks",
		field: "KIND",
		min: 0,
		default: null,
		classes: [
			{ ...drawing(green, "to 1"), max: 1 },
			{ ...drawing(blue, "to 5"), max: 5 },
		],
	};
	const wms = (smallkey: string, address: string, members?: object) =>
		wmsLayer(smallkey, address, [`Pictures ${smallkey}`, `Images ${smallkey}`], {}, members);
	const feature = { service_url: at("/rest/MapServer/3") };
	return [
		wms("wms-3857", at("/wms-3857"), { layer: "l" }),
		wms("status", `${odd.origin}/status`),
		wms("page", `${odd.origin}/page`),
		wms("nowhere", "https://nowhere.example.ca/wms"),
		featureLayer("points", at("/points/MapServer/0"), { type: "simple", ...drawing(red, "Station") }),
		featureLayer("unique", at("/areas/MapServer/0"), unique),
		featureLayer("breaks", at("/areas/MapServer/0"), breaks),
		featureLayer("error", `${odd.origin}/MapServer/0`, unique),
		{
			smallkey: "not-harvested",
			registration: { version: "1.0.0", payload_type: "feature", en: feature, fr: feature },
		},
	];
}

const test = pageSuite("map", async (use) => {
	const maps = use(await Peer.open());
	return { maps, world: use(await SiteWorld.open(layersOf(maps, use(await Peer.open())))) };
});

async function openLayer(
	{ page, world }: { page: Page; world: SiteWorld },
	smallkey: string,
	end: "drawn" | "failed" = "drawn",
) {
	await page.goto(world.url(`en/layer/${smallkey}`));
	await isDrawn(page, end);
	return { page, status: await page.locator(".mapstatus").innerText() };
}

test("features have the fragment's symbols: one for all, by value, by range", async (context) => {
	const simple = await openLayer(context, "points");
	assert.is(simple.status, "1 feature drawn.");
	await assertColour(simple.page, 0.5, 0.5, red);
	await assertColour(simple.page, 0.25, 0.5, red, true);
	const unique = await openLayer(context, "unique");
	assert.is(unique.status, "2 features drawn.");
	await assertColour(unique.page, 0.42, 0.5, red);
	await assertColour(unique.page, 0.58, 0.5, blue);
	assert.match(await unique.page.locator(".legend").innerText(), /Legend\s+one\s+two/);
	const breaks = await openLayer(context, "breaks");
	await assertColour(breaks.page, 0.42, 0.5, green);
	await assertColour(breaks.page, 0.58, 0.5, blue);
});

test("a layer that was not harvested is drawn by its service, and said to be", async (context) => {
	const { page, status } = await openLayer(context, "not-harvested");
	assert.match(status, /^Drawn\. Drawn by the service itself/);
	await assertColour(page, 0.5, 0.5, green);
	assert.ok(context.maps.asked.some((target) => /\/export\?.*LAYERS=show%3A3/.test(target)));
});

test("a service without the map's reference is asked in another, and the page says so", async (context) => {
	const { page, status } = await openLayer(context, "wms-3857");
	assert.match(status, /does not draw in the map’s reference/);
	await assertColour(page, 0.5, 0.5, green);
});

test("a service that fails is named with what it said, and is not drawn", async (context) => {
	for (const [smallkey, expected] of [
		["status", /^127\.0\.0\.1:\d+ answers with status 503$/],
		["page", /^127\.0\.0\.1:\d+ answers with no picture$/],
		["error", /^127\.0\.0\.1:\d+ answers with an exception: Invalid <b>query<\/b>$/],
		["nowhere", /^nowhere\.example\.ca cannot be reached: it is down/],
	] as const) {
		const { status } = await openLayer(context, smallkey, "failed");
		assert.match(status, expected);
	}
});

test.run();
