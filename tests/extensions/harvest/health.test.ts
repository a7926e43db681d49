import * as assert from "uvu/assert";
import { limitClients } from "../../../extensions/harvest/clients.ts";
import { resultOf } from "../../../extensions/harvest/finding.ts";
import { harvestLayer } from "../../../extensions/harvest/harvest-layer.ts";
import { watchLayer } from "../../../extensions/harvest/watch-layer.ts";
import { isBlank } from "../../../extensions/harvest/wms/look.ts";
import type { Registration } from "../../../registry/registration.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { layerDocument, mapLayer } from "./arcgis-server.ts";
import { clientsOf, host, json, type MemoryAnswer, nodeAt } from "./memory.ts";
import { blank, drawn, picture } from "./pictures.ts";

const text = (body: string, type = "text/plain"): MemoryAnswer => ({ body, type });

interface Services {
	layer?: MemoryAnswer;
	feature?: MemoryAnswer | ((query: URLSearchParams) => MemoryAnswer);
}

async function watch(
	registration: Registration,
	{ feature = json({ features: [{}] }), layer = json(layerDocument()) }: Services,
	signal?: AbortSignal,
) {
	const requests: string[] = [];
	const answerOf = ({ pathname, searchParams }: URL): MemoryAnswer => {
		if (pathname === mapLayer) return layer;
		return typeof feature === "function" ? feature(searchParams) : feature;
	};
	const clients = clientsOf(answerOf, { asked: requests });
	const ending = signal ? limitClients(clients, signal) : clients;
	const findings = await watchLayer(registration, null, ending, null);
	const texts = findings.map(({ pointer, text }) => [pointer, text.replace(/^\S+ /, "")]);
	return { state: resultOf(findings)?.state ?? null, requests, findings: texts };
}

test("a feature layer is well with a feature, empty without, down without an answer", async () => {
	const error = (code: number) => json({ error: { code, message: "No" } });
	const site = (code?: number) => json({ status: "error", messages: ["No machine"], code });
	const page = text("<html>Request Rejected</html>", "text/html");
	const [some, none] = [json({ features: [{ attributes: {} }] }), json({ features: [] })];
	const unlessFirst =
		(first: MemoryAnswer, then = some) =>
		(query: URLSearchParams) =>
			/1=1/.test(query.get("where") ?? "") || query.has("resultRecordCount") ? first : then;
	const only = (capabilities: unknown) => json(layerDocument({ capabilities }));
	const unseen = (words: string) => `could not be checked for features, since it ${words}`;
	const refused = unseen("answers with ArcGIS error 400: No");
	const noList = "does not answer as ArcGIS (/query) does";
	const rows: [services: Services, state: string | null, finding?: string][] = [
		[{ feature: some }, null],
		[{ feature: none }, "empty", "has no features"],
		[{ feature: text(" ".repeat(5_000_001)) }, null],
		[{ feature: error(500) }, "down", "answers with ArcGIS error 500: No"],
		[{ feature: site() }, "down", "answers with ArcGIS error ?: No machine"],
		[{ feature: site(403) }, "wrong", "answers with ArcGIS error 403: No machine"],
		[{ feature: page }, "down", noList],
		[{ feature: error(400) }, null, refused],
		[
			{ feature: error(400), layer: only("Map,Data") },
			"wrong",
			"cannot be queried for its features, only for: Map,Data",
		],
		[{ feature: error(499), layer: only("Map") }, null, unseen("answers with ArcGIS error 499: No")],
		[{ feature: unlessFirst(page) }, null],
		[{ feature: unlessFirst(error(400)), layer: only("Map") }, null],
		[{ feature: unlessFirst(page, none) }, null, unseen(noList)],
		[{ layer: json({}) }, "wrong", "does not answer as ArcGIS does"],
	];
	for (const [services, state, words] of rows) {
		const result = await watch(featureAt(host + mapLayer), services);
		const finding = words === undefined ? undefined : ["/en/service_url", words];
		assert.equal([result.state, result.findings[0]], [state, finding]);
		if (services.layer && !services.feature)
			assert.not(result.requests.some((address) => address.includes("/query")));
	}
});

test("a service of version 2.0 is wrong for what its kind does not draw", async () => {
	const map = { layers: [{ id: 0 }, { id: 1, subLayerIds: [0] }], tables: [{ id: 2 }] };
	const [image, vector] = [{ pixelType: "U8" }, { tileInfo: {}, resourceInfo: { styleVersion: 8 } }];
	const site = { status: "error", messages: ["No machine"] };
	const whole = "is of another kind: Feature Layer";
	const wms =
		"<WMS_Capabilities><Capability><Layer><Name>roads</Name></Layer></Capability></WMS_Capabilities>";
	const rows: [type: string, document: object | string, more: object, finding?: string][] = [
		["ogcWms", wms, { recursive: true }],
		["ogcWms", wms, { scrape_only: ["roads", "rails"] }, "has no layer rails among its 1"],
		["ogcWmts", wms, { recursive: true }, "does not answer as WMTS does"],
		["ogcWms", wms.replace("<Name>roads</Name>", ""), { recursive: true }, "has no layers"],
		["esriTile", { ...map, tileInfo: {} }, {}],
		["esriTile", map, {}, "does not answer as MapServer (tiles) does"],
		["esriTile", vector, {}, "is of another kind: VectorTileServer"],
		["esriTile", site, {}, "answers with ArcGIS error ?: No machine"],
		["esriImage", image, {}],
		["esriImage", map, {}, "does not answer as ImageServer does"],
		["esriMapServer", map, { recursive: true }],
		["esriMapServer", map, { scrape_only: [1, 5] }, "has no layer 5 among its 3"],
		["esriMapServer", map, { scrape_only: [0, 2] }, "has a table or a group as 2, which is not drawn"],
		["esriMapServer", { layers: [], tables: [{ id: 2 }] }, { recursive: true }, "has no layers"],
		["esriMapServer", layerDocument(), { recursive: true }, whole],
		["esriFeatureServer", map, { scrape_only: [1] }, "has a table or a group as 1, which is not drawn"],
	];
	for (const [service_type, document, more, words] of rows) {
		const registration = nodeAt(service_type, "/tiles", more);
		const answerOf = ({ pathname }: URL) =>
			typeof document === "string"
				? text(document, "text/xml")
				: json(pathname.endsWith("/query") ? { features: [{}] } : document);
		const clients = clientsOf(answerOf);
		const findings = await watchLayer(registration, null, clients, null);
		const state = resultOf(findings)?.state ?? null;
		const said = findings[0]?.text.replace(/^\S+ /, "");
		const expected = words === undefined ? null : document === site ? "down" : "wrong";
		assert.equal([state, said], [expected, words], `${service_type} ${JSON.stringify(document)}`);
		const harvested = await harvestLayer(registration, null, clients);
		// The harvest of named layers asks only for the service's title.
		if (findings[0]?.pointer !== "/en/scrape_only/1" && findings[0]?.pointer !== "/en/scrape_only/0")
			assert.is(harvested.findings[0]?.text, findings[0]?.text);
	}
});

test("a time-out ends a check", async () => {
	const late = await watch(featureAt(host + mapLayer), {}, AbortSignal.abort());
	assert.equal([late.state, late.findings[1]?.[1]], ["down", "could not be checked completely"]);
});

test("one colour, or nothing but transparency, is blank; a single pixel is not", () => {
	for (const empty of [blank, picture(() => [255, 255, 255, 255]), picture((x) => [x, x, x, 0])])
		assert.ok(isBlank(empty));
	const onePixel = picture((x, y) => [x === 63 && y === 63 ? 1 : 0, 0, 0, 255]);
	for (const other of [
		drawn,
		onePixel,
		new TextEncoder().encode("<ServiceException/>"),
		blank.subarray(0, 50),
	])
		assert.not(isBlank(other));
});

test.run();
