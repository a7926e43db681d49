import { answering } from "../helpers/world.ts";

export const at = (address: string) => `https://maps.example/${address}`;
export const energy = at("arcgis/rest/services/energy_en/MapServer");
export const french = (address: string) => address.replace("_en", "_fr");

type Resource = [id: string, format: string | null, language: unknown, url: string | null, more?: object];

/** A layer of a service in each language. */
const inBoth = (en: string, fr: string, layer: number): Resource[] => [
	[en, "ESRI REST", ["en"], `${energy}/${layer}`],
	[fr, "ESRI REST", ["fr"], french(`${energy}/${layer}`)],
];

function dataset(
	id: string,
	title: string,
	title_translated: object | undefined,
	resources: Resource[] | null,
) {
	const name_translated = { en: "Web Service", fr: "Service Web" };
	return {
		id,
		title,
		title_translated,
		resources: resources?.map(([id, format, language, url, more]) => ({
			id,
			format,
			language,
			url,
			name_translated,
			...more,
		})),
	};
}

/**
 * Data sets of a CKAN catalogue, in the forms that these answer: open.canada.ca (API 3; `language`, `en-t-fr`, and the
 * members of RAMP in the address of a WMS), data.gov.au (`wms_layer`; recorded in 2019 in TerriaJS's
 * wwwroot/test/CKAN/search-result.json), catalogue.data.gov.bc.ca (`wms`) and ArcGIS Hub (the name of its format).
 */
export const datasets = [
	dataset("d1", "Terminals", { en: "Terminals", fr: "Terminaux" }, [
		...inBoth("r1", "r2", 1),
		...inBoth("r3", "r4", 20),
		[
			"r5",
			"WMS",
			["en"],
			at(
				"energy_en/WMSServer?request=GetCapabilities&service=WMS&legend_format=image/png&feature_info_type=text/html&layers=1&token=1",
			),
		],
		["r6", "WMS", ["fr"], at("energy_fr/WMSServer?LAYERS=1")],
		["r7", "CSV", ["en"], at("energy.csv")],
	]),
	dataset("d2", "Relief", { "en-t-fr": "Relief map", fr: "Carte du relief" }, [
		["r8", "WMS ", ["zxx"], at("relief?layers=relief")],
		["r9", "Esri REST", ["en"], energy],
		["r10", "ArcGIS GeoServices REST API", ["en", "fr"], at("FeatureServer/0?f=pjson")],
	]),
	dataset("d3", "Basins", undefined, [
		["r11", "wms", undefined, at("wms?request=GetCapabilities"), { wms_layer: "basins" }],
		["r12", "wms", null, at("wms?request=GetCapabilities"), { wms_layer: "" }],
		["r13", "WMS", "fr", at("wms?layers=rivieres,lacs")],
		["r14", null, ["fr"], null],
	]),
	dataset("d4", "Parks", undefined, [
		["r15", "ESRI REST", ["en"], `${energy}/4`],
		...inBoth("r16", "r17", 5),
	]),
	dataset("d5", "Nothing", undefined, null),
];

export interface Catalogue extends AsyncDisposable {
	url: string;
	sets: object[];
	requests: number;
	/** Answers the request of this number, from 1, in place of the catalogue; null: the catalogue answers. */
	instead: (count: number) => Answer | null;
}

interface Answer {
	status: number;
	headers?: Record<string, string>;
	body: string;
}

/** Starts a catalogue that answers as CKAN does. @param pageSize the most that it sends */
export async function startCatalogue(sets: object[], pageSize = 1000): Promise<Catalogue> {
	const server = await answering((request, response) => {
		const { searchParams } = new URL(request.url ?? "/", "http://catalogue");
		catalogue.requests += 1;
		const answer = ckanAnswer(catalogue.sets, Object.fromEntries(searchParams), pageSize);
		const { status, headers, body } = catalogue.instead(catalogue.requests) ?? answer;
		response.writeHead(status, { "Content-Type": "application/json", ...headers });
		response.end(body);
	});
	const catalogue: Catalogue = {
		url: server.origin,
		sets,
		requests: 0,
		instead: () => null,
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return catalogue;
}

function ckanAnswer(sets: object[], { start, rows }: Record<string, unknown>, pageSize: number): Answer {
	const results = sets.slice(Number(start), Number(start) + Math.min(Number(rows), pageSize));
	return { status: 200, body: JSON.stringify({ success: true, result: { count: sets.length, results } }) };
}
