import * as assert from "uvu/assert";
import { parseServiceAddress } from "../../../site/draft/service-address.ts";
import { twinAddresses } from "../../../site/draft/twins.ts";
import { test } from "../../helpers/suite.ts";

const pairs = [
	["https://maps.geogratis.gc.ca/wms/canvec_en", "https://maps.geogratis.gc.ca/wms/canvec_fr"],
	[
		"https://geoappext.nrcan.gc.ca/arcgis/rest/services/FGP/national_parks_boundaries_en/MapServer/0",
		"https://geoappext.nrcan.gc.ca/arcgis/rest/services/FGP/national_parks_boundaries_fr/MapServer/0",
	],
	["https://maps.geogratis.gc.ca/wms/roads_en", "https://cartes.geogratis.gc.ca/wms/roads_fr"],
	["https://geo.weather.gc.ca/geomet", "https://geo.meteo.gc.ca/geomet"],
	["https://geo.weather.gc.ca/geomet?lang=en", "https://geo.weather.gc.ca/geomet?lang=fr"],
	[
		"https://maps.example.ca/english/rest/services/a/MapServer/1",
		"https://maps.example.ca/francais/rest/services/a/MapServer/1",
	],
	[
		"https://maps.example.ca/ARCGIS/rest/services/Parks_EN/MapServer/3",
		"https://maps.example.ca/ARCGIS/rest/services/Parks_FR/MapServer/3",
	],
	[
		"https://maps.example.ca/services/ParksEng/MapServer",
		"https://maps.example.ca/services/ParksFra/MapServer",
	],
] as const;

test("the twin in the other language is among the first addresses that are tried", () => {
	for (const [en, fr] of pairs) {
		assert.ok(twinAddresses(en, "en").includes(fr), `${en}: ${twinAddresses(en, "en").join(" ")}`);
		assert.ok(twinAddresses(fr, "fr").includes(en), `${fr}: ${twinAddresses(fr, "fr").join(" ")}`);
		assert.ok(twinAddresses(en, "en").length <= 4);
	}
});

test("an address has a kind, a service and a layer, without the parameters of a request", () => {
	const parsed = (text: string) => {
		const address = parseServiceAddress(text);
		return address && [address.kind, address.url, address.layerName];
	};
	const arcgis = "https://h.example/arcgis/rest/services/A/MapServer";
	assert.equal(parsed(` ${arcgis}/3/?f=json#x`), ["feature", arcgis, "3"]);
	assert.equal(parsed(`${arcgis}/3/query?where=NAME='x'&outFields=*`), ["feature", arcgis, "3"]);
	assert.equal(parsed(`${arcgis}?callback=x&_=1`), ["feature", arcgis, ""]);
	assert.equal(parsed(arcgis.replace("Map", "Feature")), ["feature", arcgis.replace("Map", "Feature"), ""]);
	assert.equal(parsed("https://h.example/ows?map=a&SERVICE=WMS&REQUEST=GetMap&LAYERS=roads&bbox=1,2,3,4"), [
		"wms",
		"https://h.example/ows?map=a",
		"roads",
	]);
	for (const more of ["/dynamicLayer", "/tile/0/0/0", "/kml/mapImage.kmz", "/iteminfo?f=html"])
		assert.equal(parsed(arcgis + more), ["feature", arcgis, ""]);
	const request = "REQUEST=GetFeatureInfo&amp;QUERY_LAYERS=roads&amp;TIME=2020&amp;DIM_RUN=1&amp;i=1&amp;j=2";
	assert.equal(parsed(`<https://h.example/ows?LAYERS=roads&amp;${request}>`), [
		"wms",
		"https://h.example/ows",
		"roads",
	]);
	const wmsOfArcgis = "https://h.example/arcgis/services/A/MapServer/WMSServer";
	assert.equal(parsed(wmsOfArcgis), ["wms", wmsOfArcgis, ""]);
	for (const none of ["", "ftp://h.example/wms", "{}", "https://a b"]) assert.is(parsed(none), null, none);
});

test.run();
