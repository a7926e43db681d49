import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Description } from "../../registry/description.ts";
import type { LangNode, Registration } from "../../registry/registration.ts";
import { ramp4 } from "../../registry/targets/ramp4.ts";
import { v09 } from "../../registry/targets/v0.9.ts";
import { v1 } from "../../registry/targets/v1.ts";
import { v2 } from "../../registry/targets/v2.ts";
import { describedAt, featureServer, mapServer, renderAt, wmsWith } from "../registry/targets/samples.ts";
import { readAsFgpv } from "./fgpv.ts";
import { readAsGeoview } from "./geoview.ts";
import { readAsRamp4 } from "./ramp4.ts";
import { featureAt, mergeAsViewer } from "./viewer.ts";

const wms = "https://host.example/wms";
const service = "https://host.example/arcgis/rest/services/X/MapServer";
const features = "https://host.example/arcgis/rest/services/X/FeatureServer";

function version2(node: LangNode): Registration {
	return { version: "2.0", en: node, fr: node };
}

/** What a service that is taken whole was found to have. */
function having(service_url: string, entries: (string | number)[]): Description {
	return { en: { service_url, entries }, fr: { service_url, entries } };
}

/** What each reader makes of a layer, in a few words; null where the layer has no form at its target. */
interface Read {
	/** RAMP 4.0 and RAMP 5: kind, and what the service is asked for. */
	ramp: string | null;
	fgpv: string | null;
	/** Empty: it warns, and draws nothing. */
	geoview: string | null;
	ramp4: string | null;
}

const payloads: [what: string, registration: Registration, description: Description | null, read: Read][] = [
	[
		"a wms of version 1",
		wmsWith({}),
		null,
		{ ramp: "wms roads", fgpv: "ogcWms roads", geoview: "ogcWms roads", ramp4: "ogc-wms roads" },
	],
	[
		"a feature layer of a MapServer",
		featureAt(mapServer),
		describedAt(mapServer),
		{ ramp: `feature ${mapServer}`, fgpv: "esriDynamic 3", geoview: "esriDynamic 3", ramp4: "esri-feature" },
	],
	[
		"a feature layer of a FeatureServer",
		featureAt(featureServer),
		null,
		{
			ramp: `feature ${featureServer}`,
			fgpv: "esriFeature",
			geoview: "esriFeature 0",
			ramp4: "esri-feature",
		},
	],
	[
		"an esriFeature of version 2.0",
		version2({ service_type: "esriFeature", service_url: featureServer }),
		describedAt(featureServer),
		{
			ramp: `feature ${featureServer}`,
			fgpv: "esriFeature",
			geoview: "esriFeature 0",
			ramp4: "esri-feature",
		},
	],
	[
		"an ogcWms of one layer",
		version2({ service_type: "ogcWms", service_url: wms, scrape_only: ["a"] }),
		null,
		{ ramp: "wms a", fgpv: "ogcWms a", geoview: "ogcWms a", ramp4: "ogc-wms a" },
	],
	[
		"an ogcWms of two layers",
		version2({ service_type: "ogcWms", service_url: wms, scrape_only: ["b", "a"] }),
		null,
		{ ramp: null, fgpv: "ogcWms b a", geoview: "ogcWms b a", ramp4: "ogc-wms b a" },
	],
	[
		"an ogcWms that is taken whole",
		version2({ service_type: "ogcWms", service_url: wms, recursive: true }),
		having(wms, ["z", "y"]),
		{ ramp: null, fgpv: "ogcWms z y", geoview: "ogcWms z y", ramp4: "ogc-wms z y" },
	],
	[
		"an ogcWms of no layer",
		version2({ service_type: "ogcWms", service_url: wms }),
		null,
		{ ramp: null, fgpv: null, geoview: null, ramp4: null },
	],
	[
		"an ogcWms that is taken whole, and was not harvested",
		version2({ service_type: "ogcWms", service_url: wms, recursive: true }),
		null,
		{ ramp: null, fgpv: null, geoview: null, ramp4: null },
	],
	[
		"an esriMapServer of no layer",
		version2({ service_type: "esriMapServer", service_url: service }),
		null,
		{ ramp: null, fgpv: null, geoview: null, ramp4: null },
	],
	[
		"an ogcWmts",
		version2({ service_type: "ogcWmts", service_url: wms, scrape_only: ["t"] }),
		null,
		{ ramp: null, fgpv: null, geoview: "ogcWmts t", ramp4: null },
	],
	[
		"an esriMapServer",
		version2({ service_type: "esriMapServer", service_url: service, scrape_only: [5, 0] }),
		null,
		{ ramp: null, fgpv: "esriDynamic 5 0", geoview: "esriDynamic 5 0", ramp4: "esri-map-image 5 0" },
	],
	[
		"an esriMapServer that is taken whole",
		version2({ service_type: "esriMapServer", service_url: service, recursive: true }),
		having(service, [4, 2]),
		{ ramp: null, fgpv: "esriDynamic 4 2", geoview: "esriDynamic 4 2", ramp4: "esri-map-image 4 2" },
	],
	[
		"an esriFeatureServer",
		version2({ service_type: "esriFeatureServer", service_url: features, scrape_only: [3] }),
		null,
		{ ramp: null, fgpv: "esriFeature", geoview: "esriFeature 3", ramp4: "esri-feature" },
	],
	[
		"an esriFeatureServer of several layers",
		version2({ service_type: "esriFeatureServer", service_url: features, scrape_only: [3, 4] }),
		null,
		{ ramp: null, fgpv: null, geoview: null, ramp4: null },
	],
	[
		"a feature layer of a FeatureServer with a query that changes nothing",
		featureAt(`${featureServer}?f=json`),
		null,
		{
			ramp: `feature ${featureServer}?f=json`,
			fgpv: "esriFeature",
			geoview: "esriFeature 0",
			ramp4: "esri-feature",
		},
	],
	[
		"an esriTile",
		version2({ service_type: "esriTile", service_url: service }),
		null,
		{ ramp: null, fgpv: "esriTile", geoview: "", ramp4: "esri-tile" },
	],
	[
		"an esriImage",
		version2({ service_type: "esriImage", service_url: service }),
		null,
		{ ramp: null, fgpv: "esriImage", geoview: "esriImage", ramp4: "esri-imagery" },
	],
];

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

for (const [what, registration, description, read] of payloads) {
	test(`every reader makes of ${what} what it is`, () => {
		for (const lang of ["en", "fr"] as const) {
			const given = description ? { lang, description } : { lang };
			assert.is(readAsRamp(renderAt(v09, registration, given)), read.ramp);
			assert.is(readAsRamp(renderAt(v1, registration, given)), read.ramp);
			const fragment = renderAt(v2, registration, given);
			// An unknown key stands beside it, as in an answer of several.
			const isListed = fragment && !v2.isUnlisted?.(new TextEncoder().encode(JSON.stringify(fragment)));
			const [fgpv] = readAsFgpv([null, isListed ? fragment : null]);
			const entries = (fgpv?.layerEntries ?? []) as { id?: string; index?: number }[];
			const known = fgpv && words(fgpv.layerType, ...entries.map(({ id, index }) => id ?? index));
			assert.is(known ?? null, read.fgpv);
			if (fgpv) assert.equal([fgpv.key, fgpv.lang], ["k", lang]);
			// An unknown key is left out of what GeoView asks for.
			const geoview = fragment ? readAsGeoview([fragment]) : null;
			const drawn = geoview?.map(({ type, layers }) => words(type, ...layers)).join();
			assert.is(drawn ?? null, read.geoview);
			const item = renderAt(ramp4, registration, given);
			const layer = item && readAsRamp4([item])[0];
			assert.is(layer && words(layer.type, ...layer.sublayers), read.ramp4);
		}
	});
}

test.run();
