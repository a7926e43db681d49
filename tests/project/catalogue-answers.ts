import { text } from "node:stream/consumers";
import { answering } from "../helpers/world.ts";

export const at = (address: string) => `https://maps.example/${address}`;
const energy = at("arcgis/rest/services/energy_en/MapServer");
const french = (address: string) => address.replace("_en", "_fr");

/**
 * Records of a GeoNetwork catalogue, in the forms of its version 4.0 (plain texts) and 4.2 (an object for each text),
 * as recorded in geonetwork-ui's libs/common/fixtures/src/lib/elasticsearch; and of the Federal Geospatial Platform
 * (HNAP: a link for each language; https://github.com/open-data/harvester-FGP, sample_data).
 */
export const records = [
	{
		uuid: "4a1c3c2e-9c0e-4d7d-9c0a-5d1f0a6c7a11",
		resourceTitleObject: { default: "Alpenkonvention", langeng: "Alps", langfre: "Alpes" },
		link: [
			{
				protocol: "OGC:WMS",
				urlObject: {
					default: at("?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities&lang=de"),
					langfre: at("?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities&lang=fr"),
				},
				nameObject: { default: "alps", langeng: "" },
				descriptionObject: { default: "WMS" },
			},
			{ protocol: "OGC:WMTS", urlObject: { default: at("wmts") } },
			{ protocol: "ESRI:REST", urlObject: { default: at("MapServer/alps") } },
			{
				protocol: "OGC:WMS",
				urlObject: { default: at("WMSServer?request=GetCapabilities") },
				nameObject: { default: "Service de visualisation WMS" },
			},
			{ urlObject: {}, nameObject: {} },
		],
	},
	{
		uuid: "surval",
		resourceTitleObject: { default: "Surval", langfre: "Surval" },
		link: {
			protocol: "OGC:WMS-1.3.0-http-get-map",
			url: "http://maps.example/wms",
			name: "surval_point",
			description: "Lieu de surveillance (point)",
		},
	},
	{
		uuid: "fgp",
		resourceTitleObject: { default: "Terminals", langeng: "Terminals", langfra: "Terminaux" },
		link: ["eng", "fra"].flatMap((code) =>
			[
				["ESRI REST: Map Service", "ESRI REST", `${energy}/1`],
				["OGC:WMS", "WMS", at("energy_en/WMSServer?service=WMS&layers=1")],
			].map(([protocol, kind, address = ""]) => {
				const text = (en: string, fr: string) => ({ default: en, langeng: en, langfra: fr });
				return {
					protocol,
					urlObject: { default: code === "eng" ? address : french(address) },
					nameObject: text(`Terminals (${kind})`, `Terminaux (${kind})`),
					descriptionObject: text(`Web Service;${kind};${code}`, `Service Web;${kind};${code}`),
				};
			}),
		),
	},
	{ uuid: "urn:isogeo:1", link: { protocol: "OGC:WMS", url: at("wms"), name: "roads" } },
	{ uuid: "empty", resourceTitleObject: { default: "No link" } },
];

export interface Catalogue extends AsyncDisposable {
	url: string;
	sets: object[];
	requests: Record<string, unknown>[];
	/** Answers the request of this number, from 1; null: the catalogue answers. */
	instead: (count: number) => Answer | null;
}

interface Answer {
	status: number;
	headers?: Record<string, string>;
	body: string;
}

type Values = Record<string, unknown>;

/** Answers as CKAN (GET) and as GeoNetwork (POST) do. @param pageSize the most that it sends */
export async function startCatalogue(sets: object[], pageSize = 1000): Promise<Catalogue> {
	const server = await answering(async (request, response) => {
		const { searchParams } = new URL(request.url ?? "/", "http://catalogue");
		const sent = await text(request);
		const asked = sent ? JSON.parse(sent) : Object.fromEntries(searchParams);
		catalogue.requests.push(asked);
		const found = catalogue.sets as Values[];
		const answer = sent ? geonetworkAnswer(found, asked, pageSize) : ckanAnswer(found, asked, pageSize);
		const { status, headers, body } = catalogue.instead(catalogue.requests.length) ?? answer;
		response.writeHead(status, { "Content-Type": "application/json", ...headers });
		response.end(body);
	});
	const catalogue: Catalogue = {
		url: server.origin,
		sets,
		requests: [],
		instead: () => null,
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
	const hits = rest
		.slice(from, from + Math.min(size, pageSize))
		.map((record) => ({ _source: record, sort: [record.uuid] }));
	const total = { value: sets.length, relation: "eq" };
	return { status: 200, body: JSON.stringify({ timed_out: false, hits: { total, hits } }) };
}
