import * as assert from "uvu/assert";
import { createWatchLayer } from "../../harvest/layer.ts";
import { createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import type { Registration, Registration1, Registration2 } from "../../registry/registration.ts";
import { test } from "../helpers/suite.ts";
import { featureAt } from "../viewer/viewer.ts";
import { mapLayer, serveLayer } from "./arcgis-server.ts";
import { hang, json, Peer, type Route, text } from "./peer.ts";
import { blank, drawn } from "./pictures.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

async function watch(registration: Registration, signal?: AbortSignal) {
	const fetch = createFetch({ allowPrivate: true, timeoutMs: 60_000 });
	const look = createWatchLayer(createAsk({ fetch, sleep: async () => {} }), "");
	const { state, findings } = await look(registration, signal);
	return { state, findings: findings.map(({ pointer, text }) => [pointer, text.replace(/^\S+ /, "")]) };
}

function wms(en = "roads", fr = en): Registration1 {
	const service_url = `${peer.origin}/wms`;
	return {
		version: "1.0.0",
		payload_type: "wms",
		en: { service_url, layer: en },
		fr: { service_url, layer: fr },
	};
}

const capabilities = (box: string) => `<WMT_MS_Capabilities><Capability><Layer>${box}
<Layer><Name>roads</Name></Layer><Layer><Name>routes</Name></Layer></Layer></Capability></WMT_MS_Capabilities>`;

const older = '<LatLonBoundingBox minx="-80" miny="40" maxx="-60" maxy="50"/>';
const current = `<EX_GeographicBoundingBox><westBoundLongitude>-80</westBoundLongitude><eastBoundLongitude>-60</eastBoundLongitude>
<southBoundLatitude>40</southBoundLatitude><northBoundLatitude>50</northBoundLatitude></EX_GeographicBoundingBox>`;

/** A WMS that answers each picture by what it is asked for. */
function serveWms(map: (query: URLSearchParams) => Route, box = older): void {
	peer.on("/wms", (request, response) => {
		const query = new URL(request.url ?? "", peer.origin).searchParams;
		const route = query.get("REQUEST") === "GetMap" ? map(query) : text(capabilities(box), "text/xml");
		route(request, response);
	});
}

const png = (bytes: Uint8Array) => text(bytes, "image/png");

test("a wms layer with something on its picture is well; the picture is of where the service says it lies", async () => {
	for (const box of [older, current]) {
		peer.asked.length = 0;
		serveWms(() => png(drawn), box);
		assert.equal(await watch(wms()), { state: null, findings: [] });
		assert.is(peer.asked.length, 2, "both languages name one layer: once each");
		const query = new URL(peer.asked[1] ?? "", peer.origin).searchParams;
		assert.equal(Object.fromEntries(query), {
			SERVICE: "WMS",
			REQUEST: "GetMap",
			VERSION: "1.1.1",
			LAYERS: "roads",
			STYLES: "",
			SRS: "EPSG:4326",
			BBOX: "-80,40,-60,50",
			WIDTH: "64",
			HEIGHT: "64",
			FORMAT: "image/png",
			TRANSPARENT: "TRUE",
		});
	}
});

test("a layer that is drawn at large scales only is well; one that never is is empty", async () => {
	serveWms((query) => png(query.get("BBOX") === "-70.1,44.95,-69.9,45.05" ? drawn : blank));
	assert.is((await watch(wms())).state, null);
	serveWms((query) => png(query.get("LAYERS") === "routes" ? blank : drawn));
	assert.equal(await watch(wms("roads", "routes")), {
		state: "empty",
		findings: [["/fr/service_url", "draws an empty picture of routes"]],
	});
});

test("an exception or a page in place of the picture, and a server that refuses it, are the server's", async () => {
	const exception =
		"<ServiceExceptionReport><ServiceException>No\ndata</ServiceException></ServiceExceptionReport>";
	for (const [route, words] of [
		[text(exception, "application/vnd.ogc.se_xml"), "answers with no picture: No data"],
		[text("<html>", "text/html"), "answers with no picture"],
		[text("no", "text/plain", 503), "answers with status 503"],
	] as [Route, string][]) {
		serveWms(() => route);
		const { state, findings } = await watch(wms());
		assert.is(state, "down");
		assert.equal(findings[0], ["/en/service_url", words]);
	}
	serveWms(() => text("GIF89a", "image/gif"));
	assert.is((await watch(wms())).state, null, "a picture that cannot be looked into");
});

test("a wrong registration is not checked, and is worse than a service that is down", async () => {
	serveWms(() => text("no", "text/plain", 503));
	const wrong = await watch(wms("rails", "roads"));
	assert.is(wrong.state, "wrong");
	assert.equal(wrong.findings, [
		["/en/layer", "has no layer rails among its 2"],
		["/fr/service_url", "answers with status 503"],
	]);
});

test("capabilities that end in the middle are the server's; a page to sign in is the publisher's to correct", async () => {
	for (const [answer, state, words] of [
		[
			text(capabilities(older).slice(0, -30), "text/xml"),
			"down",
			"answers with capabilities that end in the middle",
		],
		[text("<html><form>Sign in</form></html>", "text/html"), "wrong", "does not answer as a WMS does"],
	] as [Route, string, string][]) {
		peer.on("/wms", answer);
		const found = await watch(wms());
		assert.equal([found.state, found.findings[0]], [state, ["/en/service_url", words]]);
	}
});

test("a feature layer is well with a feature, empty without, and down where the query fails", async () => {
	for (const [feature, state] of [
		[json({ features: [{ attributes: {} }] }), null],
		[json({ features: [] }), "empty"],
		[json({ error: { code: 500, message: "Unable to complete operation." } }), "down"],
		[text("no", "text/plain", 503), "down"],
		[json({ error: { code: 400, message: "Query is not supported" } }), null],
		[text("no", "text/plain", 403), null],
		[json({ features: Array.from({ length: 300_000 }, () => ({ attributes: { a: 1 } })) }), null],
	] as [Route, string | null][]) {
		serveLayer(peer, { feature });
		assert.is((await watch(featureAt(peer.origin + mapLayer))).state, state);
	}
	serveLayer(peer, { layer: text("no", "text/plain", 503) });
	peer.asked.length = 0;
	assert.is((await watch(featureAt(peer.origin + mapLayer))).state, "down");
	assert.not(peer.asked.some((target) => target.includes("/query")));
});

test("registrations of version 2.0: named layers of a WMS are checked, pictures and whole services are not", async () => {
	serveWms(() => png(blank));
	const node = (more: object) => ({ service_url: `${peer.origin}/wms`, ...more }) as Registration2["en"];
	const version2 = (more: object): Registration2 => ({ version: "2.0", en: node(more), fr: node(more) });
	peer.on("/tiles", json({ tileInfo: {} }));
	const tiles = `${peer.origin}/tiles`;
	assert.is((await watch(version2({ service_type: "esriTile", service_url: tiles }))).state, null);
	assert.equal(peer.asked, ["/tiles?f=json", "/tiles?f=json"], "no picture");
	assert.is((await watch(version2({ service_type: "ogcWmts" }))).state, "wrong");
	assert.is((await watch(version2({ service_type: "ogcWms", scrape_only: ["roads"] }))).state, "empty");
});

test("the time of a layer also ends the requests for its capabilities and its document", async () => {
	peer.on("/wms", hang);
	peer.on(mapLayer, hang);
	const late = AbortSignal.timeout(100);
	const ended = "was not asked to the end";
	for (const registration of [wms(), featureAt(peer.origin + mapLayer)]) {
		const { state, findings } = await watch(registration, late);
		assert.is(state, "down");
		assert.equal(
			findings.map(([, words]) => words),
			[ended, ended],
		);
	}
});

test.run();
