import { type BrokenRule, broken } from "./texts.ts";

/** One layer of an ArcGIS service, at the end of a path; the number is missing where the service is meant as a whole. */
export const arcgisPath = /\/(MapServer|FeatureServer)(?:\/(\d{1,9}))?\/?$/i;

/** An ArcGIS service, or a layer of it, in its own interface: no WMS answers there. */
const arcgisRest = /\/rest\/services\/.*\/(?:MapServer|FeatureServer)(?:\/\d{1,9})?\/?$/i;

/**
 * Why an address is one of another kind of service than its layer's, so that no viewer draws the layer; null where it is
 * not known to be. An address that is not recognized may be that of a proxy.
 * @param type kind of service, in the words of version 2.0
 */
export function kindProblem(url: URL, type: string): BrokenRule | null {
	if (type === "ogcWms") {
		if (!arcgisRest.test(url.pathname) || asksForWms(url)) return null;
		return broken("kind-wms");
	}
	if (type !== "esriFeature" && type !== "esriMapServer" && type !== "esriFeatureServer") return null;
	if (/\/WMSServer\/?$/i.test(url.pathname) || asksForWms(url)) return broken("kind-arcgis");
	const match = arcgisPath.exec(url.pathname);
	if (!match) return null;
	const [, server, layer] = match;
	if (type === "esriFeature") return layer === undefined ? broken("kind-layer", server) : null;
	return layer === undefined ? null : broken("kind-service");
}

function asksForWms(url: URL): boolean {
	return [...url.searchParams].some(([name, value]) => /^service$/i.test(name) && /^wms$/i.test(value));
}
