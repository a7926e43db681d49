import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import type { Browser, Page } from "playwright-core";
import * as assert from "uvu/assert";
import { createFetch } from "../../api/service/net/fetch.ts";
import { createAsk } from "../../extensions/harvest/ask.ts";
import { Harvester } from "../../extensions/harvest/harvester/harvester.ts";
import { systemTimers } from "../../extensions/harvest/harvester/schedule.ts";
import { harvestLayer } from "../../extensions/harvest/layer.ts";
import { createClients } from "../../extensions/harvest/wms/read-capabilities.ts";
import { featureLayer, layerDocument, mapLayer, serveLayer } from "../extensions/harvest/arcgis-server.ts";
import { json, Peer, text } from "../extensions/harvest/peer.ts";
import { type Listening, listen } from "../helpers/listen.ts";
import { Local, manual } from "../helpers/local.ts";
import { root } from "../helpers/process.ts";
import { suite } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { runUnless } from "../helpers/world.ts";
import { executable, openBrowser } from "../site/browser.ts";
import { logTo } from "../store/git-store.ts";
import { assertAccepted } from "./viewer.ts";

/** The viewer's page: dojo reads the fragments as a script. The viewer gives up after two seconds; a test waits. */
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Viewer</title>
<script src="/dojo/dojo.js" data-dojo-config="async: true"></script>
<script>
function readFragments(address) {
	return new Promise((resolve) => {
		require(["dojo/request/script"], (script) => {
			script.get(address, { jsonp: "callback" }).then(
				(fragments) => resolve({ fragments }),
				(error) => resolve({ error: String(error) }),
			);
		});
	});
}
async function drawImages(addresses) {
	const widths = [];
	for (const address of addresses) {
		const image = new Image();
		image.src = address;
		await image.decode();
		widths.push(image.naturalWidth);
	}
	return widths;
}
</script></html>`;

/** What dojo's callback parameter looks like; the viewer 4.0.x sends no other. */
const dojoCallback = /[?&]callback=dojo_request_script_callbacks\.dojo_request_script\d+$/;

interface Viewer {
	service: string;
	server: Listening;
	local: Local;
	maps: Peer;
	site: Peer;
	browser: Browser;
	page: Page;
}

const test = suite<Viewer>("viewer");

/** The viewer's own site, with dojo in it. */
async function openSite(): Promise<Peer> {
	const site = await Peer.open();
	site.on("/", text(page, "text/html; charset=utf-8"));
	const types: Record<string, string> = { ".js": "text/javascript", ".json": "application/json" };
	site.server.prependListener("request", (request) => {
		const path = normalize((request.url ?? "").split("?")[0] ?? "");
		if (!path.startsWith("/dojo/")) return;
		site.on(path, async (_request, response) => {
			const file = await readFile(join(root, "node_modules", path)).catch(() => null);
			response
				.writeHead(file ? 200 : 404, { "Content-Type": types[extname(path)] ?? "text/plain" })
				.end(file);
		});
	});
	return site;
}

/** A map service with one layer whose classes are drawn, and one with a legend image. */
async function openMaps(): Promise<Peer> {
	const maps = await Peer.open();
	const shapes = [
		{ type: "esriSMS", style: "esriSMSTriangle", color: [200, 0, 0, 255], size: 9, outline: null },
		{ type: "esriSLS", style: "esriSLSDash", color: [0, 0, 200, 128], width: 2 },
		{ type: "esriSFS", style: "esriSFSDiagonalCross", color: [0, 200, 0, 255], outline: { type: "esriSLS" } },
	];
	const uniqueValueInfos = shapes.map((symbol, index) => ({
		value: String(index),
		label: "</script>",
		symbol,
	}));
	const renderer = { type: "uniqueValue", field1: "CLASS", uniqueValueInfos, defaultSymbol: shapes[0] };
	serveLayer(maps);
	maps.on(featureLayer, json(layerDocument({ name: "Zones \u2028 d’étude", drawingInfo: { renderer } })));
	return maps;
}

function feature(address: string): string {
	const entry = { service_url: address };
	return JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry });
}

async function harvest(local: Local, smallkey: string): Promise<void> {
	const lines: object[] = [];
	const clients = createClients(createAsk({ fetch: createFetch({ allowPrivate: true }) }), 3978);
	const harvester = new Harvester({
		store: local.store,
		harvest: (registration, _signal, before = null) => harvestLayer(registration, before, clients),
		everyMs: 86_400_000,
		now: () => new Date(local.now),
		allKeys: () => local.publication.smallkeys(),
		timers: systemTimers,
		log: logTo(local.reported, lines),
	});
	harvester.follow(smallkey);
	await eventually(() => lines.length === 1);
	assert.equal(lines, [{ harvested: 1, changed: 1 }]);
	await harvester.close();
}

test.before(async (context) => {
	context.maps = await openMaps();
	context.site = await openSite();
	context.local = await Local.open();
	const { local, maps } = context;
	await local.put("23ax5t", manual);
	await local.put("zones", feature(maps.origin + featureLayer));
	await local.put("later", feature(maps.origin + mapLayer));
	await harvest(local, "zones");
	context.server = await listen(local);
	context.service = context.server.origin;
	context.browser = await openBrowser();
	context.page = await context.browser.newPage();
	await context.page.goto(`${context.site.origin}/`);
});

test.after(async ({ browser, server, local, site, maps }) => {
	await browser?.close();
	await server.end();
	await local.end();
	await site.close();
	await maps.close();
});

type Read = { fragments: Record<string, unknown>[] } | { error: string };

function read(context: Viewer, keys: string, lang = "en"): Promise<Read> {
	const address = `${context.service}/v0.9/docs/${lang}/${keys}`;
	return context.page.evaluate(`readFragments(${JSON.stringify(address)})`);
}

test("reads layers of every kind and a missing key, merges them, and its schema accepts the whole", async (context) => {
	const requests: string[] = [];
	context.page.on("request", (request) => requests.push(request.url()));
	const answer = await read(context, "23ax5t,zones,later,nothing");
	assert.ok("fragments" in answer, JSON.stringify(answer));
	const { fragments } = answer as { fragments: Record<string, unknown>[] };
	assert.match(requests.find((address) => address.includes("/docs/")) ?? "", dojoCallback);
	assert.is(fragments.length, 4);
	assert.equal(fragments[3], { error_code: 404, smallkey: "nothing" });
	const layers = fragments.slice(0, 3);
	assertAccepted(...layers.map((fragment) => JSON.stringify(fragment)));
	const nodes = layers.flatMap(({ layers }) => Object.values(layers as object).flat());
	const found = nodes.map((node) => [node.id, node.displayName]);
	assert.equal(found, [
		["rcs.23ax5t.en", "limits"],
		["rcs.zones.en", "Zones \u2028 d’étude"],
		["rcs.later.en", "later"],
	]);
});

test("the browser can draw every image of a fragment", async (context) => {
	const answer = await read(context, "zones,later,23ax5t", "fr");
	assert.ok("fragments" in answer, JSON.stringify(answer));
	const images = JSON.stringify(answer).match(/data:image[^"]*/g) ?? [];
	// Three classes and the default symbol, the generic symbol of the layer that was not harvested, and the image's.
	assert.is(images.length, 6);
	const widths = (await context.page.evaluate(`drawImages(${JSON.stringify(images)})`)) as number[];
	for (const width of widths) assert.ok(width > 0 && width <= 64, String(widths));
});

runUnless(
	executable || process.env.CI ? null : "there is no Chromium (Debian: apt-get install chromium)",
	test,
);
