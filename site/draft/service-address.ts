import { arcgisPath, operationOf } from "../../registry/addresses.ts";

export interface ServiceAddress {
	kind: "wms" | "feature";
	/** For ArcGIS without the number of a layer. */
	url: string;
	/** Empty for none. */
	chosen: string;
}

const requestParameters = new RegExp(
	`^(?:${[
		"service|request|version|layers?|styles?|format|crs|srs|bbox|width|height|transparent|bgcolor|exceptions|time|elevation",
		"dim_.*|sld.*|query_layers|info_format|feature_count|[xyij]|rule|scale|legend_options|f|callback|_",
	].join("|")})$`,
	"i",
);

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

export function isSurelyService(text: string): boolean {
	const isWhole = /(?:\/(?:Map|Feature)Server(?:\/\d+)?\/?|\/WMSServer)$|[?&]service=wms\b/i.test(
		text.trim(),
	);
	return isWhole && parseServiceAddress(text) !== null;
}
