import * as assert from "uvu/assert";
import { ramp4 } from "../../../registry/targets/ramp4.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, mapServer, metadata, renderAt, wmsWith } from "./samples.ts";

test("a wms layer has its sublayer, and the three types of feature info that RAMP4 reads", () => {
	const layerWith = (feature_info_type: string) => {
		const more = { service_name: "Roads", legend_format: "image/png", metadata, feature_info_type };
		return renderAt(ramp4, wmsWith(more));
	};
	const expected = {
		id: "rcs.k.en",
		layerType: "ogc-wms",
		url: "https://host.example/wms",
		name: "Roads",
		sublayers: [{ id: "roads" }],
	};
	assert.equal(layerWith("text/xml"), expected);
	for (const featureInfoMimeType of ["text/html", "text/plain", "application/json"])
		assert.equal(layerWith(featureInfoMimeType), { ...expected, featureInfoMimeType });
});

test("a feature layer that was not harvested leaves everything to RAMP4", () => {
	assert.equal(renderAt(ramp4, featureAt(mapServer)), {
		id: "rcs.k.en",
		layerType: "esri-feature",
		url: mapServer,
		name: "k",
	});
});

test("a harvested feature layer has its extent and its fields' names", () => {
	const more = { metadata, loading_mode: "ondemand", max_allowable_offset: 3 };
	const layer = renderAt(ramp4, featureAt(mapServer, more), { description: describedAt(mapServer) });
	assert.equal(layer, {
		id: "rcs.k.en",
		layerType: "esri-feature",
		url: mapServer,
		name: "Stations",
		nameField: "NAME",
		metadata: { url: "https://host.example/m.xml" },
		extent: { xmin: 1, ymin: 2, xmax: 3, ymax: 4, spatialReference: { wkid: 3978 } },
		fieldMetadata: {
			fieldInfo: [
				{ name: "OBJECTID", alias: "Number" },
				{ name: "NAME", alias: "‹b>Name‹/b>" },
			],
		},
	});
});

test.run();
