import { answering } from "../helpers/world.ts";

export const energy = "https://maps.example/arcgis/rest/services/energy_en/MapServer";
export const french = (address: string) => address.replace("_en", "_fr");

/**
 * Data sets of a CKAN catalogue, in the forms that these answer: open.canada.ca (API 3; `language`, `en-t-fr`, and the
 * members of RAMP in the address of a WMS), data.gov.au (`wms_layer`; recorded in 2019 in TerriaJS's
 * wwwroot/test/CKAN/search-result.json), catalogue.data.gov.bc.ca (`wms`) and ArcGIS Hub (the name of its format).
 */
export const datasets = [
	{
		id: "d1",
		title: "Terminals",
		title_translated: { en: "Terminals", fr: "Terminaux" },
		resources: [
			["r1", "ESRI REST", ["en"], `${energy}/1`],
			["r2", "ESRI REST", ["fr"], french(`${energy}/1`)],
			["r3", "ESRI REST", ["en"], `${energy}/20`],
			["r4", "ESRI REST", ["fr"], french(`${energy}/20`)],
			[
				...["r5", "WMS", ["en"]],
				"https://maps.example/energy_en/WMSServer?request=GetCapabilities&service=WMS&legend_format=image/png&feature_info_type=text/html&layers=1&token=1",
			],
			["r6", "WMS", ["fr"], "https://maps.example/energy_fr/WMSServer?LAYERS=1"],
			["r7", "CSV", ["en"], "https://maps.example/energy.csv"],
		],
	},
	{
		id: "d2",
		title: "Relief",
		title_translated: { "en-t-fr": "Relief map", fr: "Carte du relief" },
		resources: [
			["r8", "WMS ", ["zxx"], "https://maps.example/relief?layers=relief"],
			["r9", "Esri REST", ["en"], energy],
			["r10", "ArcGIS GeoServices REST API", ["en", "fr"], "https://maps.example/FeatureServer/0?f=pjson"],
		],
	},
	{
		id: "d3",
		title: "Basins",
		resources: [
			["r11", "wms", undefined, "https://maps.example/wms?request=GetCapabilities", { wms_layer: "basins" }],
			["r12", "wms", null, "https://maps.example/wms?request=GetCapabilities", { wms_layer: "" }],
			["r13", "WMS", "fr", "https://maps.example/wms?layers=rivieres,lacs"],
			["r14", null, ["fr"], null],
		],
	},
	{
		id: "d4",
		title: "Parks",
		resources: [
			["r15", "ESRI REST", ["en"], `${energy}/4`],
			["r16", "ESRI REST", ["en"], `${energy}/5`],
			["r17", "ESRI REST", ["fr"], french(`${energy}/5`)],
		],
	},
	{ id: "d5", title: "Nothing", resources: null },
].map(({ resources, ...dataset }) => ({
	...dataset,
	resources: resources?.map(([id, format, language, url, more]) => ({
		...{ id, format, language, url, name_translated: { en: "Web Service", fr: "Service Web" } },
		...(more as object),
	})),
}));

/**
 * Records of a GeoNetwork catalogue, in the forms of its version 4.0 (plain texts) and 4.2 (an object for each text),
 * as recorded in geonetwork-ui's libs/common/fixtures/src/lib/elasticsearch; and of the Federal Geospatial Platform
 * (HNAP: a link for each language; https://github.com/open-data/harvester-FGP, sample_data).
 */
export const records = [
	{
		uuid: "4a1c3c2e-9c0e-4d7d-9c0a-5d1f0a6c7a11",
		resourceTitleObject: {
			default: "Alpenkonvention",
			langeng: "Alps",
			langfre: "Alpes",
			langger: "Alpenkonvention",
		},
		link: [
			{
				protocol: "OGC:WMS",
				urlObject: {
					default: "https://maps.example/?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities&lang=de",
					langfre: "https://maps.example/?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities&lang=fr",
				},
				nameObject: { default: "alps", langeng: "" },
				...{ descriptionObject: { default: "WMS" }, function: "", applicationProfile: "", group: 0 },
			},
			{ protocol: "OGC:WMTS", urlObject: { default: "https://maps.example/wmts" } },
			{ protocol: "ESRI:REST", urlObject: { default: "https://maps.example/MapServer/alps" } },
			{
				protocol: "OGC:WMS",
				urlObject: { default: "https://maps.example/WMSServer?request=GetCapabilities" },
				nameObject: { default: "Service de visualisation WMS" },
			},
			{ urlObject: {}, nameObject: {} },
		],
	},
	{
		uuid: "surval",
		resourceTitleObject: { default: "Surval", langfre: "Surval" },
		link: {
			...{ protocol: "OGC:WMS-1.3.0-http-get-map", url: "http://maps.example/wms", name: "surval_point" },
			...{ description: "Lieu de surveillance (point)", function: "", applicationProfile: "", group: 2 },
		},
	},
	{
		uuid: "fgp",
		resourceTitleObject: { default: "Terminals", langeng: "Terminals", langfra: "Terminaux" },
		link: ["eng", "fra"].flatMap((code) => {
			const inLanguage = (address: string) => (code === "eng" ? address : french(address));
			const text = (en: string, fr: string) => ({ default: en, langeng: en, langfra: fr });
			return [
				{
					protocol: "ESRI REST: Map Service",
					urlObject: { default: inLanguage(`${energy}/1`) },
					nameObject: text("Terminals (ESRI REST)", "Terminaux (ESRI REST)"),
					descriptionObject: text(`Web Service;ESRI REST;${code}`, `Service Web;ESRI REST;${code}`),
				},
				{
					protocol: "OGC:WMS",
					urlObject: { default: inLanguage("https://maps.example/energy_en/WMSServer?service=WMS&layers=1") },
					nameObject: text("Terminals (WMS)", "Terminaux (WMS)"),
					descriptionObject: text(`Web Service;WMS;${code}`, `Service Web;WMS;${code}`),
				},
			];
		}),
	},
	{ uuid: "urn:isogeo:1", link: { protocol: "OGC:WMS", url: "https://maps.example/wms", name: "roads" } },
	{ uuid: "empty", resourceTitleObject: { default: "No link" } },
];

export interface Catalogue extends AsyncDisposable {
	url: string;
	sets: object[];
	requests: Record<string, unknown>[];
	/** Answers the request of this number, from 1, in place of the catalogue; null: the catalogue answers. */
	instead: (count: number) => Answer | null;
}

interface Answer {
	status: number;
	headers?: Record<string, string>;
	body: string;
}

type Values = Record<string, unknown>;

/** Starts a catalogue that answers as CKAN (GET) and as GeoNetwork (POST) do. @param pageSize the most that it sends */
export async function startCatalogue(sets: object[], pageSize = 1000): Promise<Catalogue> {
	const server = await answering(async (request, response) => {
		const { searchParams } = new URL(request.url ?? "/", "http://catalogue");
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const sent = Buffer.concat(chunks).toString();
		const asked = sent ? JSON.parse(sent) : Object.fromEntries(searchParams);
		catalogue.requests.push(asked);
		const found = catalogue.sets as Values[];
		const answer = sent ? geonetworkAnswer(found, asked, pageSize) : ckanAnswer(found, asked, pageSize);
		const { status, headers, body } = catalogue.instead(catalogue.requests.length) ?? answer;
		response.writeHead(status, { "Content-Type": "application/json", ...headers });
		response.end(body);
	});
	const catalogue: Catalogue = {
		...{ url: server.origin, sets, requests: [], instead: () => null },
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return catalogue;
}

function ckanAnswer(sets: Values[], { start, rows }: Values, pageSize: number): Answer {
	const results = sets.slice(Number(start), Number(start) + Math.min(Number(rows), pageSize));
	return { status: 200, body: JSON.stringify({ success: true, result: { count: sets.length, results } }) };
}

/** Of _search: a window of at most 10,000 records (Elasticsearch's index.max_result_window), `search_after` beyond. */
function geonetworkAnswer(sets: Values[], asked: Values, pageSize: number): Answer {
	const { from = 0, size, search_after } = asked as { from: number; size: number } & Values;
	if (from + size > 10_000) return { status: 400, body: '{"error":{"type":"illegal_argument_exception"}}' };
	const sorted = sets.toSorted((a, b) => (String(a.uuid) < String(b.uuid) ? -1 : 1));
	const [after] = (search_after ?? [""]) as string[];
	const rest = sorted.filter(({ uuid }) => String(uuid) > String(after));
	const hits = rest.slice(from, from + Math.min(size, pageSize)).map((record) => ({
		...{ _index: "gn-records", _source: record, sort: [record.uuid] },
	}));
	const total = { value: sets.length, relation: "eq" };
	return { status: 200, body: JSON.stringify({ took: 1, timed_out: false, hits: { total, hits } }) };
}
