import * as assert from "uvu/assert";
import { drawableOf, drawnTargets } from "../../site/map/drawable.ts";
import { test } from "../helpers/suite.ts";

const wms = JSON.stringify({
	layers: { wms: [{ displayName: "Title", url: "https://x/", layerName: "l" }] },
});
const v2 = JSON.stringify({
	layers: [{ layerType: "ogcWms", name: "Other", url: "https://y/", metadataUrl: "https://m/" }],
});

test("a layer is drawn by its most detailed fragment, with any fragment's metadata", () => {
	assert.equal(drawnTargets(["ramp4", "v2", "v1", "v0.9"]), ["v0.9", "v2"]);
	assert.equal(drawnTargets(["v2", "v1"]), ["v1", "v2"]);
	const drawn = drawableOf([wms, v2]);
	assert.equal([drawn?.kind, drawn?.title, drawn?.url], ["wms", "Title", "https://x/"]);
	assert.is(drawn?.metadataUrl, "https://m/");
	const titleOf = (v09: string | null, text: string) => drawableOf([v09, text])?.title;
	assert.equal([titleOf("{}", v2), titleOf(null, "[]")], ["Other", undefined]);
});

test("of a fragment in another shape there is nothing to draw", () => {
	const layers = [5, null, { wms: 5 }, { feature: {} }, { feature: [{ layerEntries: 5 }] }];
	for (const text of ["", "{", "null", "5", "{}", ...layers.map((of) => JSON.stringify({ layers: of }))])
		assert.is(drawableOf([text]), null, text);
});

test.run();
