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
	const of = (target: string, text: string) => (targets.includes(target) ? text : null);
	const read = ["v0.9/doc", "v1/doc", "v2/doc", "ramp4"].find((folder) =>
		of(folder.split("/")[0] ?? "", folder),
	);
	const kind = kinds.get(type);
	const registered = ((lang === "fr" && address.fr) || address.en).replace(/[?&]$/, "");
	const layers = (lang === "fr" && layer.layers?.fr) || (layer.layers?.en ?? []);
	const url = kind === "features" ? featureUrl(registered, layers) : registered;
	// Libraries draw one layer of a FeatureServer; without its number they would query the whole service.
	const isDrawable = kind && (kind !== "features" || /\/\d+$/.test(url) || !featureServer.test(url));
	const source = isDrawable ? { kind, url, layers, title } : null;
	const page = escapeHtml(root + layerAddress(lang, smallkey, "embed"));
	const frame = `<iframe src="${page}" title="${escapeHtml(title)}" width="800" height="600" loading="lazy"></iframe>`;
	const snippets: [name: string, kind: Snippet["kind"], text: string | null][] = [
		["fragment", "address", read ? at(read) : null],
		["RAMP 4.0", "js", of("v0.9", ramp("v0.9"))],
		["RAMP 5", "js", of("v1", ramp("v1"))],
		["FGPV", "html", of("v2", fgpv)],
		["GeoView", "json", of("v2", JSON.stringify(geoView, null, 2))],
		["RAMP4", "address", of("ramp4", at("ramp4"))],
		["Terria", "json", of("terria", JSON.stringify(terria, null, 2))],
		["curl", "shell", read ? `curl --fail --compressed '${at(read)}'` : null],
		["OpenLayers", "js", source && openLayers(source)],
		["Leaflet", "js", source && leaflet(source)],
		["QGIS (Python)", "python", source && qgis(source)],
		["ArcGIS Maps SDK", "js", source && arcgis(source)],
		["<iframe>", "html", frame],
	];
	return snippets.flatMap(([name, kind, text]) => (text === null ? [] : [{ name, kind, text }]));
}

interface Source {
	kind: "wms" | "wmts" | "features" | "map" | "image" | "tiles";
	/** For features the address of the one layer. */
	url: string;
	layers: readonly string[];
	title: string;
}

const kinds: ReadonlyMap<string, Source["kind"]> = new Map([
	["wms", "wms"],
	["ogcWms", "wms"],
	["ogcWmts", "wmts"],
	["feature", "features"],
	["esriFeature", "features"],
	["esriFeatureServer", "features"],
	["esriMapServer", "map"],
	["esriImage", "image"],
	["esriTile", "tiles"],
]);

/** OpenLayers 7 and later, as modules. */
function openLayers({ kind, url, layers }: Source): string | null {
	const drawn = (layer: "Image" | "Tile", source: string, options: object) =>
		`import ${layer}Layer from "ol/layer/${layer}.js";
import ${source} from "ol/source/${source}.js";

export const layer = new ${layer}Layer({
  source: new ${source}(${literal(options)}),
});`;
	if (kind === "wms") return drawn("Image", "ImageWMS", { url, params: { LAYERS: layers.join(",") } });
	if (kind === "map") {
		const params = { LAYERS: layers.length > 0 ? `show:${layers.join(",")}` : undefined };
		return drawn("Image", "ImageArcGISRest", { url, params });
	}
	if (kind === "image") return drawn("Image", "ImageArcGISRest", { url });
	// The address does not say in which projection the tiles are cached. XYZ would draw others at the wrong place.
	if (kind === "tiles") return null;
	if (kind === "wmts") {
		const capabilities = `${url}${url.includes("?") ? "&" : "?"}SERVICE=WMTS&REQUEST=GetCapabilities`;
		return `import TileLayer from "ol/layer/Tile.js";
import WMTS, { optionsFromCapabilities } from "ol/source/WMTS.js";
import WMTSCapabilities from "ol/format/WMTSCapabilities.js";

const answer = await fetch(${literal(capabilities)});
const options = optionsFromCapabilities(new WMTSCapabilities().read(await answer.text()), ${literal({ layer: layers[0] ?? "", projection: "EPSG:3857" })});
export const layer = new TileLayer({ source: new WMTS(options) });`;
	}
	return `import VectorLayer from "ol/layer/Vector.js";
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
});`;
}

/** Leaflet 1.9; layers of ArcGIS need its extension esri-leaflet 3. */
function leaflet({ kind, url, layers }: Source): string | null {
	const esri = (call: string, options: object) => `L.esri.${call}(${literal(options)}).addTo(map);`;
	if (kind === "wms") {
		const options = { layers: layers.join(","), format: "image/png", transparent: true };
		return `L.tileLayer.wms(${literal(url)}, ${literal(options)}).addTo(map);`;
	}
	if (kind === "features") return esri("featureLayer", { url });
	if (kind === "map")
		return esri("dynamicMapLayer", { url, ...(layers.length > 0 && { layers: layers.map(Number) }) });
	if (kind === "image") return esri("imageMapLayer", { url });
	// Leaflet places tiles of any other projection as if they were cached in Web Mercator.
	return null;
}

/** QGIS 3: for its Python console. */
function qgis({ kind, url, layers, title }: Source): string | null {
	const raster = (provider: string, uri: string) =>
		`iface.addRasterLayer(${literal(uri)}, ${literal(title)}, ${literal(provider)})`;
	const part = encodeURIComponent;
	if (kind === "wms") {
		const named = layers.map((name) => `&layers=${part(name)}&styles=`).join("");
		return raster("wms", `crs=EPSG:3857&format=image/png${named}&url=${part(url)}`);
	}
	if (kind === "wmts") return null;
	const address = `url='${url.replaceAll("'", "%27")}'`;
	if (kind === "features")
		return `iface.addVectorLayer(${literal(`crs='EPSG:4326' ${address}`)}, ${literal(title)}, "arcgisfeatureserver")`;
	const layer = kind === "map" && layers.length > 0 ? ` layer='${layers[0]}'` : "";
	return raster("arcgismapserver", `crs='EPSG:3857' format='PNG32'${layer} ${address}`);
}

/** ArcGIS Maps SDK for JavaScript 4, as modules. */
function arcgis({ kind, url, layers }: Source): string | null {
	const layer = (name: string, options: object) =>
		`import ${name} from "@arcgis/core/layers/${name}.js";

export const layer = new ${name}(${literal(options)});`;
	// Sublayers are listed from bottom to top; in another order, the SDK asks for dynamic layers, which few services have.
	const numbered = layers.map((id) => ({ id: Number(id) })).sort((a, b) => b.id - a.id);
	if (kind === "wms") return layer("WMSLayer", { url, sublayers: layers.map((name) => ({ name })) });
	if (kind === "wmts") return layer("WMTSLayer", { url, activeLayer: { id: layers[0] ?? "" } });
	if (kind === "features") return layer("FeatureLayer", { url });
	if (kind === "image") return layer("ImageryLayer", { url });
	if (kind === "tiles") return layer("TileLayer", { url });
	return layer("MapImageLayer", { url, ...(numbered.length > 0 && { sublayers: numbered }) });
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
