import { arcgisPath, operationOf } from "../../registry/addresses.ts";

/** What an address says of a service. */
export interface ServiceAddress {
	kind: "wms" | "feature";
	/** Its address as a registration has it; for ArcGIS without the number of a layer. */
	url: string;
	/** The name of the layer that the address names; empty for none. */
	chosen: string;
}

/** Parameters of requests to a WMS, which are not part of its address. */
const requestParameters = new RegExp(
	`^(?:${[
		"service|request|version|layers?|styles?|format|crs|srs|bbox|width|height|transparent|bgcolor|exceptions|time|elevation",
		"dim_.*|sld.*|query_layers|info_format|feature_count|[xyij]|rule|scale|legend_options|f|callback|_",
	].join("|")})$`,
	"i",
);

/**
 * What an address alone says: the kind of its service, the service's address, and the layer in it.
 * @returns null if the text is no http or https address
 */
export function parseServiceAddress(text: string): ServiceAddress | null {
	// As in a letter, or in the source of a page or of capabilities.
	const [, trimmed = ""] =
		/^[<"']?(https?:\/\/\S+?)[>"']?$/i.exec(text.replaceAll("&amp;", "&").trim()) ?? [];
	if (!URL.canParse(trimmed)) return null;
	// Addresses of queries are copied, too: their parameters are not those of the service.
	const operation = operationOf(new URL(trimmed));
	const address = new URL(operation?.address ?? trimmed);
	const asked = (name: RegExp) => [...address.searchParams].find(([one]) => name.test(one))?.[1] ?? "";
	const isWms = /^wms$/i.test(asked(/^service$/i));
	const [match, , chosen = asked(/^layers?$/i)] = arcgisPath.exec(address.pathname) ?? [];
	const kind = match !== undefined && !isWms ? "feature" : "wms";
	for (const name of [...address.searchParams.keys()])
		if (requestParameters.test(name)) address.searchParams.delete(name);
	if (kind === "feature") address.pathname = address.pathname.replace(/(Server)(?:\/\d+)?\/?$/i, "$1");
	address.hash = "";
	// A comma separates several layers; a registration has one.
	return { kind, url: address.href, chosen: kind === "wms" && chosen.includes(",") ? "" : chosen };
}

/** Whether a text that is being typed is surely the whole address of a service or a layer. */
export function isSurelyService(text: string): boolean {
	const isWhole = /(?:\/(?:Map|Feature)Server(?:\/\d+)?\/?|\/WMSServer)$|[?&]service=wms\b/i.test(
		text.trim(),
	);
	return isWhole && parseServiceAddress(text) !== null;
}
