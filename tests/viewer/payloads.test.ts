import * as assert from "uvu/assert";
import type { Description } from "../../registry/description.ts";
import type { LangNode, Registration } from "../../registry/registration.ts";
import { ramp4 } from "../../registry/targets/ramp4.ts";
import { v09 } from "../../registry/targets/v0.9.ts";
import { v1 } from "../../registry/targets/v1.ts";
import { v2 } from "../../registry/targets/v2.ts";
import { test } from "../helpers/suite.ts";
import { describedAt, featureServer, mapServer, renderAt, wmsWith } from "../registry/targets/samples.ts";
import { readAsFgpv } from "./fgpv.ts";
import { readAsGeoview } from "./geoview.ts";
import { readAsRamp4 } from "./ramp4.ts";
import { featureAt, mergeAsViewer } from "./viewer.ts";

const wms = "https://host.example/wms";
const service = "https://host.example/arcgis/rest/services/X/MapServer";
const features = "https://host.example/arcgis/rest/services/X/FeatureServer";

/** A registration of version 2.0. @param scrape_only without it, the service is taken whole */
function version2(
	service_type: LangNode["service_type"],
	service_url: string,
	scrape_only?: (string | number)[],
): Registration {
	const node = {
		service_type,
		service_url,
		...(scrape_only ? { scrape_only } : { recursive: true }),
	} as LangNode;
	return { version: "2.0", en: node, fr: node };
}

/** What a service that is taken whole was found to have. */
function having(service_url: string, entries: (string | number)[]): Description {
	return { en: { service_url, entries }, fr: { service_url, entries } };
}

const bare = (service_type: LangNode["service_type"], service_url: string) => {
	const node = { service_type, service_url } as LangNode;
	return { version: "2.0", en: node, fr: node } as Registration;
};

/**
 * What each reader makes of a layer, in a few words; null where the layer has no form at its target. RAMP 4.0 and RAMP 5:
 * kind, and what the service is asked for. GeoView: an empty text where it warns, and draws nothing.
 */
type Read = [ramp: string | null, fgpv: string | null, geoview: string | null, ramp4: string | null];

const none: Read = [null, null, null, null];
const feature: Read = [`feature ${featureServer}`, "esriFeature", "esriFeature 0", "esri-feature"];
const ofServer = [`feature ${mapServer}`, "esriDynamic 3", "esriDynamic 3", "esri-feature"] as Read;
const [server, queried] = ["esriMapServer", `${featureServer}?f=json`] as const;
const ofFeatures = (...numbers: number[]) => version2("esriFeatureServer", features, numbers);

const payloads: [what: string, registration: Registration, read: Read, description?: Description][] = [
	["a wms of version 1", wmsWith({}), ["wms roads", "ogcWms roads", "ogcWms roads", "ogc-wms roads"]],
	["a feature layer of a MapServer", featureAt(mapServer), ofServer, describedAt(mapServer)],
	["a feature layer of a FeatureServer", featureAt(featureServer), feature],
	["an esriFeature of version 2.0", bare("esriFeature", featureServer), feature, describedAt(featureServer)],
	["an ogcWms of one layer", version2("ogcWms", wms, ["a"]), ["wms a", "ogcWms a", "ogcWms a", "ogc-wms a"]],
	["an ogcWms of two layers", version2("ogcWms", wms, ["b", "a"]), both("b a")],
	["an ogcWms that is taken whole", version2("ogcWms", wms), both("z y"), having(wms, ["z", "y"])],
	["an ogcWms of no layer", bare("ogcWms", wms), none],
	["an ogcWms that is taken whole, and was not harvested", version2("ogcWms", wms), none],
	["an esriMapServer of no layer", bare(server, service), none],
	["an ogcWmts", version2("ogcWmts", wms, ["t"]), [null, null, "ogcWmts t", null]],
	["an esriMapServer", version2(server, service, [5, 0]), dynamic("5 0")],
	[
		"an esriMapServer that is taken whole",
		version2(server, service),
		dynamic("4 2"),
		having(service, [4, 2]),
	],
	["an esriFeatureServer", ofFeatures(3), [null, "esriFeature", "esriFeature 3", "esri-feature"]],
	["an esriFeatureServer of several layers", ofFeatures(3, 4), none],
	["a feature layer of a FeatureServer with a query that changes nothing", featureAt(queried), feature],
	["an esriTile", bare("esriTile", service), [null, "esriTile", "", "esri-tile"]],
	["an esriImage", bare("esriImage", service), [null, "esriImage", "esriImage", "esri-imagery"]],
];

function both(names: string): Read {
	return [null, `ogcWms ${names}`, `ogcWms ${names}`, `ogc-wms ${names}`];
}

function dynamic(numbers: string): Read {
	return [null, `esriDynamic ${numbers}`, `esriDynamic ${numbers}`, `esri-map-image ${numbers}`];
}

/** What RAMP 4.0 and 5 have in their configuration after they have merged a fragment into it. */
function readAsRamp(fragment: object | null): string | null {
	if (fragment === null) return null;
	const configuration = { layers: { wms: [], feature: [] } };
	const { layers } = mergeAsViewer(configuration, fragment as Record<string, unknown>) as {
		layers: { wms: { layerName: string }[]; feature: { url: string; datagrid: object; symbology: object }[] };
	};
	for (const { datagrid, symbology } of layers.feature) assert.ok(datagrid && symbology);
	const read = [
		...layers.wms.map((one) => `wms ${one.layerName}`),
		...layers.feature.map((one) => `feature ${one.url}`),
	];
	assert.is(read.length, 1);
	return read[0] as string;
}

const words = (...parts: unknown[]) => parts.filter((part) => part !== "").join(" ");

for (const [what, registration, [ramp, fgpv, geoview, map], description] of payloads) {
	test(`every reader makes of ${what} what it is`, () => {
		for (const lang of ["en", "fr"] as const) {
			const given = description ? { lang, description } : { lang };
			assert.is(readAsRamp(renderAt(v09, registration, given)), ramp);
			assert.is(readAsRamp(renderAt(v1, registration, given)), ramp);
			const fragment = renderAt(v2, registration, given);
			// An unknown key stands beside it, as in an answer of several.
			const isListed = fragment && !v2.isUnlisted?.(new TextEncoder().encode(JSON.stringify(fragment)));
			const [kept] = readAsFgpv([null, isListed ? fragment : null]);
			const entries = (kept?.layerEntries ?? []) as { id?: string; index?: number }[];
			const known = kept && words(kept.layerType, ...entries.map(({ id, index }) => id ?? index));
			assert.is(known ?? null, fgpv);
			if (kept) assert.equal([kept.key, kept.lang], ["k", lang]);
			// An unknown key is left out of what GeoView asks for.
			const shown = fragment ? readAsGeoview([fragment]) : null;
			const drawn = shown?.map(({ type, layers }) => words(type, ...layers)).join();
			assert.is(drawn ?? null, geoview);
			const item = renderAt(ramp4, registration, given);
			const layer = item && readAsRamp4([item])[0];
			assert.is(layer && words(layer.type, ...layer.sublayers), map);
		}
	});
}

test.run();
