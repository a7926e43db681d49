import * as assert from "uvu/assert";
import { ramp4 } from "../../../registry/targets/ramp4.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, mapServer, metadata, renderAt } from "./samples.ts";

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
