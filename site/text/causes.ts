import type { Text } from "./translate.ts";

/** What the check of a layer says that is wrong (`harvest/`) → its text for users. A part in brackets is a value. */
export const causes: readonly (readonly [said: RegExp, text: Text])[] = [
	[/^answers with status (\d{3})$/, "Status {0}"],
	[/^has no layer (.{1,200}) among its (\d+)$/, "has no layer {0} among its {1}"],
	[/^answers with ArcGIS error (\w{1,30}): (.*)$/, "answers with ArcGIS error {0}: {1}"],
	[/^answers with an exception: (.*)$/, "answers with an exception: {0}"],
	[/^draws an empty picture of (.*)$/, "draws an empty picture of {0}"],
	[/^does not answer as a (WMS|WMTS) does$/, "does not answer as a {0} does"],
	[/^does not answer as an ArcGIS (?:layer|service) does/, "does not answer as an ArcGIS service does"],
	[/^has no features$/, "has no features"],
	[/^draws nothing on the map$/, "draws nothing on the map"],
	[/^refuses the connection$/, "refuses the connection"],
	[/^breaks the connection off$/, "breaks the connection off"],
	[/^cannot be reached/, "cannot be reached"],
	[/^its name does not resolve/, "its name does not resolve"],
	[/^does not accept a connection in time$/, "does not accept a connection in time"],
	[/^has a certificate that has expired$/, "has a certificate that has expired"],
	[/^has a certificate of another name$/, "has a certificate of another name"],
	[/^has a certificate that no known authority signed$/, "has a certificate that no known authority signed"],
];
