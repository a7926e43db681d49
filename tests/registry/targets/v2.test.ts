import * as assert from "uvu/assert";
import { v2 } from "../../../registry/targets/v2.ts";
import { test } from "../../helpers/suite.ts";
import { readAsFgpv } from "../../viewer/fgpv.ts";
import { readAsGeoview } from "../../viewer/geoview.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, featureServer, mapServer, renderAt, wmsWith } from "./samples.ts";

test("types that FGPV does not know are left out", () => {
	const nodeWith = (feature_info_type: string, legend_format: string) =>
		renderAt(v2, wmsWith({ feature_info_type, legend_format })).layers[0];
	const odd = nodeWith("application/vnd.ogc.gml", "image/tiff");
	assert.not("featureInfoMimeType" in odd || "legendMimeType" in odd);
	const summary = nodeWith("text/html;fgpv=summary", "image/svg+xml");
	assert.is(summary.featureInfoMimeType, "text/html;fgpv=summary");
	assert.is(summary.legendMimeType, "image/svg+xml");
});

test("a layer of a FeatureServer is an esriFeature of its whole address", () => {
	const given = { description: describedAt(featureServer) };
	const fragment = renderAt(v2, featureAt(featureServer), given);
	const node = { id: "rcs.k.en", layerType: "esriFeature", url: featureServer, name: "Stations" };
	assert.equal(fragment.layers, [{ ...node, nameField: "NAME" }]);
	assert.equal(readAsGeoview([fragment])[0]?.layers, ["0"]);
	const unknown = renderAt(v2, featureAt(`${featureServer}/`)).layers[0];
	assert.equal(unknown, { id: "rcs.k.en", layerType: "esriFeature", url: featureServer, name: "k" });
});

test("a layer of a MapServer has the form that FGPV and GeoView both draw", () => {
	const fragment = renderAt(v2, featureAt(mapServer), { description: describedAt(mapServer) });
	assert.equal(fragment.layers, [
		{
			id: "rcs.k.en",
			layerType: "esriDynamic",
			url: "https://host.example/arcgis/rest/services/X/MapServer",
			name: "Stations",
			layerEntries: [{ index: 3 }],
		},
	]);
	assert.equal(readAsGeoview([fragment])[0]?.layers, ["3"]);
	assert.equal(readAsFgpv([fragment])[0]?.layerEntries, [{ index: 3 }]);
});

test("a query of a MapServer's address stays with the service", () => {
	const urlOf = (end: string) => renderAt(v2, featureAt(mapServer + end)).layers[0].url;
	const service = "https://host.example/arcgis/rest/services/X/MapServer";
	assert.is(urlOf("?token=a/b"), `${service}?token=a/b`);
	assert.is(urlOf("/"), service);
	const other = renderAt(v2, featureAt("https://host.example/proxy?to=/MapServer/3")).layers[0];
	assert.is(other.layerType, "esriFeature");
});

test("an operator with FGPV only may have the whole address of a MapServer's layer", () => {
	const settings = { mapServerType: "esriFeature" as const };
	const given = { description: describedAt(mapServer), settings };
	const [node] = renderAt(v2, featureAt(mapServer), given).layers;
	assert.equal([node.layerType, node.url, node.nameField], ["esriFeature", mapServer, "NAME"]);
	assert.throws(() => readAsGeoview([{ layers: [node] }]), "the reason for the default");
});

test.run();
