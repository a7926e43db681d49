import { test } from "uvu";
import * as assert from "uvu/assert";
import { handleRead, routeOf } from "../../api/app.ts";
import { sortByGeometry } from "../../api/sorted.ts";
import type { WantedDocs } from "../../api/wanted.ts";
import { descriptionText } from "../../registry/description.ts";
import { descriptionPath } from "../../registry/smallkey.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { feature, Local, manual, textOf } from "../local.ts";
import { describedAt } from "../registry/targets/samples.ts";

const settings = { basePath: "", docsMaxKeys: 1000, targets: targetNames };

function wanted(target: string): WantedDocs {
	const route = routeOf("GET", target, settings);
	if (route.kind !== "docs") throw new Error(`${target} is no list`);
	return route;
}

test("v1 has lists in the order in which they are drawn, and no other target or path has", () => {
	assert.is(wanted("/v1/docs/en/a,b/sort").isSorted, true);
	assert.equal(wanted("/v1/docs/fr/a,%20b/sort?callback=f").items, ["a", "b"]);
	assert.is(wanted("/v1/docs/en/a,b").isSorted, false);
	for (const path of [
		"/v0.9/docs/en/a/sort",
		"/v1/doc/en/a/sort",
		"/v2/docs/en/a/sort",
		"/v1/docs/en/a/other",
	]) {
		const route = routeOf("GET", path, settings);
		assert.equal(route.kind === "refused" && route.status, 404, path);
	}
	for (const path of ["/v1/docs/en/a/b/sort", "/v1/docs/sort"])
		assert.is(routeOf("GET", path, settings).kind, "refused", path);
});

test("polygons come first, then lines and the rest, then points, each in the order asked for", async () => {
	const geometries: Record<string, string> = {
		point1: "esriGeometryPoint",
		line: "esriGeometryPolyline",
		polygon2: "esriGeometryPolygon",
		point2: "esriGeometryPoint",
		polygon1: "esriGeometryPolygon",
		many: "esriGeometryMultipoint",
	};
	const list = wanted("/v1/docs/en/point2,line,polygon2,wms,no key,point1,polygon1,many,point2/sort");
	const sorted = await sortByGeometry(list, async (smallkey) => geometries[smallkey] ?? "");
	assert.equal(sorted.items, [
		"polygon2",
		"polygon1",
		"line",
		"wms",
		"no key",
		"many",
		"point2",
		"point1",
		"point2",
	]);
});

test("a running service knows the geometry of what was harvested", async () => {
	const local = await Local.open();
	try {
		const { service_url } = JSON.parse(feature).en;
		const describe = async (smallkey: string, geometry_type: string) => {
			await local.put(smallkey, feature);
			const description = describedAt(service_url);
			for (const lang of [description.en, description.fr]) Object.assign(lang ?? {}, { geometry_type });
			const edits = [{ path: descriptionPath(smallkey), text: descriptionText(description) }];
			const meta = { smallkey, author: "x", time: local.now, subject: "x", trailers: [], request: null };
			await local.store.change(async () => edits, { ...meta, review: false });
		};
		await describe("points", "esriGeometryPoint");
		await describe("areas", "esriGeometryPolygon");
		await local.put("plain", manual);
		const { geometryOf } = local.context;
		assert.ok(geometryOf);
		const sorted = await sortByGeometry(wanted("/v1/docs/en/points,plain,none,areas/sort"), geometryOf);
		const reply = handleRead(sorted, null, local.publication.fragments, local.context.report);
		const keys = (JSON.parse(textOf(reply)) as ({ layers: Record<string, { id: string }[]> } | null)[]).map(
			(element) => element && Object.values(element.layers)[0]?.[0]?.id,
		);
		assert.equal(keys, ["rcs.areas.en", "rcs.plain.en", null, "rcs.points.en"]);
		await describe("points", "esriGeometryPolygon");
		assert.equal((await sortByGeometry(sorted, geometryOf)).items, ["areas", "points", "plain", "none"]);
	} finally {
		await local.end();
	}
});

test.run();
