import type { Lang } from "../../registry/smallkey.ts";
import { filled, fragmentTexts } from "../../registry/texts/filled.ts";
import { escapeHtml } from "../static/html.ts";
import { type Entry, layerAddress } from "./entries.ts";

export interface Snippet {
	name: string;
	kind: "address" | "json" | "js" | "python" | "html" | "shell";
	text: string;
}

export type SnippetLayer = Pick<Entry, "smallkey" | "type" | "title" | "address" | "layers">;

/**
 * Snippets that draw a layer in the common viewers and libraries. Values in them are escaped; a page only
 * escapes the snippet as text. docs/reading.md lists the viewers; RAMP4 gets the address of the fragment.
 * @param root address of the site with a slash at its end
 */
export function snippetsOf(
	layer: SnippetLayer,
	lang: Lang,
	root: string,
	targets: readonly string[],
): Snippet[] {
	const { smallkey, type, address } = layer;
	const key = encodeURIComponent(smallkey);
	const title = layer.title[lang] || smallkey;
	const at = (folder: string) => `${root}${folder}/${lang}/${key}`;
	const ramp = (base: string) => `RAMP.configServiceURL = ${literal(`${root}${base}/`)};
// ${filled(fragmentTexts[lang], { code: "ramp-keys", values: [] })} ?keys=${key}`;
	const fgpv = `<div class="fgpv" is="rv-map" rv-langs='["${lang}-CA"]'
  rv-service-endpoint="${escapeHtml(root)}" rv-keys='["${smallkey}"]'></div>`;
	const geoView = {
		map: { listOfGeoviewLayerConfig: [{ geoviewLayerType: "geoCore", geoviewLayerId: smallkey }] },
		// GeoView from 2.0.0 on reads `/vcs` below this address (docs/reading.md).
		serviceUrls: { geocoreUrl: root.replace(/\/$/, "") },
	};
	const terria = {
		type: "terria-reference",
		// Terria refuses a member that has neither a name nor an id.
		name: title,
		url: at("terria"),
		path: [`rcs.${smallkey}.${lang}`],
	};
	const of = (target: string, text: string) => targets.includes(target) && text;
	const read = ["v0.9/doc", "v1/doc", "v2/doc", "ramp4"].find((folder) =>
		targets.includes(folder.split("/")[0] ?? ""),
	);
	const url = ((lang === "fr" && address.fr) || address.en).replace(/[?&]$/, "");
	const layers = (lang === "fr" && layer.layers?.fr) || (layer.layers?.en ?? []);
	const code = libraries.get(type)?.({ url, layers, title }) ?? {};
	const page = escapeHtml(root + layerAddress(lang, smallkey, "embed"));
	const frame = `<iframe src="${page}" title="${escapeHtml(title)}" width="800" height="600" loading="lazy"></iframe>`;
	const snippets: [name: string, kind: Snippet["kind"], text: string | false | undefined][] = [
		["fragment", "address", read && at(read)],
		["RAMP 4.0", "js", of("v0.9", ramp("v0.9"))],
		["RAMP 5", "js", of("v1", ramp("v1"))],
		["FGPV", "html", of("v2", fgpv)],
		["GeoView", "json", of("v2", JSON.stringify(geoView, null, 2))],
		["RAMP4", "address", of("ramp4", at("ramp4"))],
		["Terria", "json", of("terria", JSON.stringify(terria, null, 2))],
		["curl", "shell", read && `curl --fail --compressed '${at(read)}'`],
		["OpenLayers", "js", code.openLayers],
		["Leaflet", "js", code.leaflet],
		["QGIS (Python)", "python", code.qgis],
		["ArcGIS Maps SDK", "js", code.arcgis],
		["<iframe>", "html", frame],
	];
	return snippets.flatMap(([name, kind, text]) => (text ? [{ name, kind, text }] : []));
}

interface Source {
	url: string;
	layers: readonly string[];
	title: string;
}

/**
 * Modules for OpenLayers 7 and later and for the ArcGIS Maps SDK for JavaScript 4, scripts for Leaflet 1.9
 * (layers of ArcGIS need esri-leaflet 3) and for the Python console of QGIS 3.
 */
type Code = Partial<Record<"openLayers" | "leaflet" | "qgis" | "arcgis", string>>;

function wms({ url, layers, title }: Source): Code {
	const options = { layers: layers.join(","), format: "image/png", transparent: true };
	const named = layers.map((name) => `&layers=${encodeURIComponent(name)}&styles=`).join("");
	const uri = `crs=EPSG:3857&format=image/png${named}&url=${encodeURIComponent(url)}`;
	return {
		openLayers: olImage("ImageWMS", { url, params: { LAYERS: layers.join(",") } }),
		leaflet: `L.tileLayer.wms(${literal(url)}, ${literal(options)}).addTo(map);`,
		qgis: qgisLayer("Raster", uri, title, "wms"),
		arcgis: sdk("WMSLayer", { url, sublayers: layers.map((name) => ({ name })) }),
	};
}

function wmts({ url, layers: [layer = ""] }: Source): Code {
	const capabilities = `${url}${url.includes("?") ? "&" : "?"}SERVICE=WMTS&REQUEST=GetCapabilities`;
	return {
		openLayers: `import TileLayer from "ol/layer/Tile.js";
import WMTS, { optionsFromCapabilities } from "ol/source/WMTS.js";
import WMTSCapabilities from "ol/format/WMTSCapabilities.js";

const answer = await fetch(${literal(capabilities)});
const options = optionsFromCapabilities(new WMTSCapabilities().read(await answer.text()), ${literal({ layer, projection: "EPSG:3857" })});
export const layer = new TileLayer({ source: new WMTS(options) });`,
		arcgis: sdk("WMTSLayer", { url, activeLayer: { id: layer } }),
	};
}

function features({ url: registered, layers, title }: Source): Code {
	const url = featureUrl(registered, layers);
	// Libraries draw one layer of a FeatureServer; without its number they would query the whole service.
	if (!/\/\d+$/.test(url) && featureServer.test(url)) return {};
	return {
		openLayers: `import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import EsriJSON from "ol/format/EsriJSON.js";
import { bbox } from "ol/loadingstrategy.js";

export const layer = new VectorLayer({
  source: new VectorSource({
    format: new EsriJSON(),
    strategy: bbox,
    url: (extent, resolution, projection) =>
      ${literal(`${url}/query?f=json&outFields=*&geometryType=esriGeometryEnvelope`)} +
      \`&geometry=\${extent}&inSR=\${projection.getCode().slice(5)}&outSR=\${projection.getCode().slice(5)}\`,
  }),
});`,
		leaflet: esriLeaflet("featureLayer", { url }),
		qgis: qgisLayer("Vector", `crs='EPSG:4326' ${qgisUrl(url)}`, title, "arcgisfeatureserver"),
		arcgis: sdk("FeatureLayer", { url }),
	};
}

function map({ url, layers, title }: Source): Code {
	const isPart = layers.length > 0;
	// Sublayers are listed from bottom to top; in another order, the SDK asks for dynamic layers, which few services have.
	const sublayers = layers.map((id) => ({ id: Number(id) })).sort((a, b) => b.id - a.id);
	return {
		openLayers: olImage("ImageArcGISRest", {
			url,
			params: { LAYERS: isPart ? `show:${layers.join(",")}` : undefined },
		}),
		leaflet: esriLeaflet("dynamicMapLayer", { url, ...(isPart && { layers: layers.map(Number) }) }),
		qgis: qgisMap(url, title, isPart ? ` layer='${layers[0]}'` : ""),
		arcgis: sdk("MapImageLayer", { url, ...(isPart && { sublayers }) }),
	};
}

function image({ url, title }: Source): Code {
	return {
		openLayers: olImage("ImageArcGISRest", { url }),
		leaflet: esriLeaflet("imageMapLayer", { url }),
		qgis: qgisMap(url, title),
		arcgis: sdk("ImageryLayer", { url }),
	};
}

/**
 * The address does not say in which projection the tiles are cached. OpenLayers' XYZ and Leaflet would draw
 * others than Web Mercator at the wrong place.
 */
function tiles({ url, title }: Source): Code {
	return { qgis: qgisMap(url, title), arcgis: sdk("TileLayer", { url }) };
}

const libraries: ReadonlyMap<string, (source: Source) => Code> = new Map([
	["wms", wms],
	["ogcWms", wms],
	["ogcWmts", wmts],
	["feature", features],
	["esriFeature", features],
	["esriFeatureServer", features],
	["esriMapServer", map],
	["esriImage", image],
	["esriTile", tiles],
]);

function olImage(source: string, options: object): string {
	return `import ImageLayer from "ol/layer/Image.js";
import ${source} from "ol/source/${source}.js";

export const layer = new ImageLayer({
  source: new ${source}(${literal(options)}),
});`;
}

function esriLeaflet(call: string, options: object): string {
	return `L.esri.${call}(${literal(options)}).addTo(map);`;
}

function qgisLayer(kind: "Raster" | "Vector", uri: string, title: string, provider: string): string {
	return `iface.add${kind}Layer(${literal(uri)}, ${literal(title)}, ${literal(provider)})`;
}

function qgisMap(url: string, title: string, layer = ""): string {
	return qgisLayer(
		"Raster",
		`crs='EPSG:3857' format='PNG32'${layer} ${qgisUrl(url)}`,
		title,
		"arcgismapserver",
	);
}

function qgisUrl(url: string): string {
	return `url='${url.replaceAll("'", "%27")}'`;
}

function sdk(name: string, options: object): string {
	return `import ${name} from "@arcgis/core/layers/${name}.js";

export const layer = new ${name}(${literal(options)});`;
}

/** `…/MapServer/<n>` or `…/FeatureServer/<n>`; the number is missing in the address of a whole service. */
const featureServer = /^([^?#]*\/(?:Map|Feature)Server)(?:\/(\d{1,9}))?\/?(?:[?#].*)?$/i;

/** Without a query: libraries append their own. */
function featureUrl(url: string, layers: readonly string[]): string {
	const [, service = url.replace(/\/$/, ""), own] = featureServer.exec(url) ?? [];
	const number = own ?? (layers.length === 1 ? layers[0] : undefined);
	return number === undefined ? url : `${service}/${number}`;
}

/** A value in JavaScript or Python. It contains no `<`, so that no text ends the script of a page. */
function literal(value: unknown): string {
	return JSON.stringify(value).replaceAll("<", "\\u003c");
}
