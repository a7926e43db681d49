import { arcgisPath, operationOf } from "../../registry/addresses.ts";

export interface ServiceAddress {
	kind: "wms" | "feature";
	/** For ArcGIS without the number of a layer. */
	url: string;
	/** Or the layer's number; may be empty. */
	layerName: string;
}

const requestParameters = [
	/^(?:service|request|version|layers?|styles?|format|crs|srs|bbox|width|height|transparent|bgcolor|rule)$/i,
	/^(?:exceptions|time|elevation|dim_.*|sld.*|query_layers|info_format|feature_count|[xyij]|scale)$/i,
	/^(?:legend_options|f|callback|_)$/i,
];

/** Also from a mail, or from the source of a page; null for any other text. */
export function parseServiceAddress(text: string): ServiceAddress | null {
	const [, trimmed = ""] =
		/^[<"']?(https?:\/\/\S+?)[>"']?$/i.exec(text.replaceAll("&amp;", "&").trim()) ?? [];
	if (!URL.canParse(trimmed)) return null;
	// Addresses of queries are copied, too: their parameters are not those of the service.
	const operation = operationOf(new URL(trimmed));
	const address = new URL(operation?.address ?? trimmed);
	const parameters = [...address.searchParams];
	const parameterOf = (pattern: RegExp) => parameters.find(([name]) => pattern.test(name))?.[1] ?? "";
	const isWms = /^wms$/i.test(parameterOf(/^service$/i));
	const layers = parameterOf(/^layers?$/i);
	for (const [name] of parameters)
		if (requestParameters.some((pattern) => pattern.test(name))) address.searchParams.delete(name);
	address.hash = "";
	const arcgis = isWms ? null : arcgisPath.exec(address.pathname);
	if (arcgis) {
		address.pathname = address.pathname.replace(/(Server)(?:\/\d+)?\/?$/i, "$1");
		return { kind: "feature", url: address.href, layerName: arcgis[2] ?? layers };
	}
	// A comma separates several layers; a registration has one.
	return { kind: "wms", url: address.href, layerName: layers.includes(",") ? "" : layers };
}
