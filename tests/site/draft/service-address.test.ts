import * as assert from "uvu/assert";
import { parseServiceAddress } from "../../../site/draft/service-address.ts";
import { twinAddresses } from "../../../site/draft/twins.ts";
import { test } from "../../helpers/suite.ts";

const pairs = [
	["https://maps.geogratis.gc.ca/wms/canvec_en", "https://maps.geogratis.gc.ca/wms/canvec_fr"],
	["https://maps.geogratis.gc.ca/wms/roads_en", "https://cartes.geogratis.gc.ca/wms/roads_fr"],
	["https://geo.weather.gc.ca/geomet", "https://geo.meteo.gc.ca/geomet"],
	["https://geo.weather.gc.ca/geomet?lang=en", "https://geo.weather.gc.ca/geomet?lang=fr"],
	["https://h.example/english/services/a/MapServer/1", "https://h.example/francais/services/a/MapServer/1"],
	["https://h.example/services/Parks_EN/MapServer/3", "https://h.example/services/Parks_FR/MapServer/3"],
	["https://h.example/services/ParksEng/MapServer", "https://h.example/services/ParksFra/MapServer"],
] as const;

test("the twin in the other language is among the first four addresses to try", () => {
	for (const [en, fr] of pairs) {
		const [ofEnglish, ofFrench] = [twinAddresses(en, "en"), twinAddresses(fr, "fr")];
		assert.ok(ofEnglish.includes(fr), `${en}: ${ofEnglish.join(" ")}`);
		assert.ok(ofFrench.includes(en), `${fr}: ${ofFrench.join(" ")}`);
		assert.ok(ofEnglish.length <= 4);
	}
});

function parse(text: string) {
	const address = parseServiceAddress(text);
	return address && [address.kind, address.url, address.layerName];
}

const arcgis = "https://h.example/arcgis/rest/services/A/MapServer";

test("an address of ArcGIS has a service and the number of a layer", () => {
	assert.equal(parse(` ${arcgis}/3/?f=json#x`), ["feature", arcgis, "3"]);
	assert.equal(parse(`${arcgis}/3/query?where=NAME='x'&outFields=*`), ["feature", arcgis, "3"]);
	assert.equal(parse(`${arcgis}?callback=x&_=1`), ["feature", arcgis, ""]);
	assert.equal(parse(arcgis.replace("Map", "Feature")), ["feature", arcgis.replace("Map", "Feature"), ""]);
	for (const operation of ["/dynamicLayer", "/tile/0/0/0", "/kml/mapImage.kmz", "/iteminfo?f=html"])
		assert.equal(parse(arcgis + operation), ["feature", arcgis, ""]);
});

test("an address of a WMS keeps the service's own parameters", () => {
	const map = "https://h.example/ows?map=a";
	assert.equal(parse(`${map}&SERVICE=WMS&REQUEST=GetMap&LAYERS=roads&bbox=1,2,3,4`), ["wms", map, "roads"]);
	const ows = "https://h.example/ows";
	const request = "REQUEST=GetFeatureInfo&amp;QUERY_LAYERS=roads&amp;TIME=2020&amp;DIM_RUN=1&amp;i=1&amp;j=2";
	assert.equal(parse(`<${ows}?LAYERS=roads&amp;${request}>`), ["wms", ows, "roads"]);
	const wms = "https://h.example/arcgis/services/A/MapServer/WMSServer";
	assert.equal(parse(wms), ["wms", wms, ""]);
});

test("other texts are no address of a service", () => {
	for (const text of ["", "ftp://h.example/wms", "{}", "https://a b"]) assert.is(parse(text), null, text);
});

test.run();
