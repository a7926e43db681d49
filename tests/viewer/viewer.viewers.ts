import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { featureLayer, layerDocument, serveLayer } from "../extensions/harvest/arcgis-server.ts";
import { json, Peer } from "../extensions/harvest/peer.ts";
import { manual, secrets } from "../helpers/handlers.ts";
import { root } from "../helpers/process.ts";
import { serve } from "../helpers/serving.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { answering, runUnless, sharedSuite, temporaryFolder } from "../helpers/world.ts";
import { executable, openBrowser } from "../site/browser.ts";
import { assertAccepted, featureAt } from "./viewer.ts";

/** dojo reads the fragments as a script. The viewer gives up after two seconds; a test waits. */
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
	page: Page;
}

function openSite() {
	const types: Record<string, string> = { ".js": "text/javascript", ".json": "application/json" };
	return answering(async ({ url = "" }, response) => {
		const path = normalize(url.split("?")[0] ?? "");
		const isDojo = path.startsWith("/dojo/");
		const file = isDojo ? await readFile(join(root, "node_modules", path)).catch(() => null) : page;
		const type = isDojo ? (types[extname(path)] ?? "text/plain") : "text/html; charset=utf-8";
		response.writeHead(file ? 200 : 404, { "Content-Type": type }).end(file);
	});
}

async function openMaps() {
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

const test = sharedSuite<Viewer>("viewer", async (use) => {
	const { path: DATA_DIR } = use(await temporaryFolder());
	const maps = use(await openMaps());
	const site = use(await openSite());
	const SENDERS = JSON.stringify({ jstest: secrets.jstest });
	const harvesting = { HARVEST: "on", HARVEST_ALLOW_PRIVATE: "on" };
	const { url: service } = use(await serve({ DATA_DIR, SENDERS, SITE: "off", ...harvesting }));
	const layers = {
		"23ax5t": manual,
		zones: JSON.stringify(featureAt(maps.origin + featureLayer)),
		// Its service does not answer.
		later: JSON.stringify(featureAt(`${maps.origin}/arcgis/rest/services/None/MapServer/3`)),
	};
	for (const [smallkey, body] of Object.entries(layers)) {
		const path = `/register/${smallkey}`;
		assert.is((await fetch(service + path, await signed(path, body))).status, 201);
	}
	const zones = async () => (await fetch(`${service}/v0.9/doc/en/zones`)).text();
	await eventually(async () => (await zones()).includes("Zones"));
	const browser = await openBrowser();
	use(() => browser.close());
	const viewer = await browser.newPage();
	await viewer.goto(`${site.origin}/`);
	return { service, page: viewer };
});

type Read = { fragments: Record<string, unknown>[] } | { error: string };

function read(context: Viewer, keys: string, lang = "en"): Promise<Read> {
	const address = `${context.service}/v0.9/docs/${lang}/${keys}`;
	return context.page.evaluate(`readFragments(${JSON.stringify(address)})`);
}

test("reads and merges layers of every kind and a missing key, and its schema accepts them", async (context) => {
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
	// Three classes and the default symbol, the generic symbol, and the image's.
	assert.is(images.length, 6);
	const widths = (await context.page.evaluate(`drawImages(${JSON.stringify(images)})`)) as number[];
	for (const width of widths) assert.ok(width > 0 && width <= 64, String(widths));
});

runUnless(
	executable || process.env.CI ? null : "there is no Chromium (Debian: apt-get install chromium)",
	test,
);
