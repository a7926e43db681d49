// A map service for `--beside`, forked: it sends its address to its parent. `/<ms>/wms` answers GetCapabilities of a WMS, and
// `/<ms>/MapServer/<n>` describes a feature layer, each after so many milliseconds.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const extent = { xmin: -141, ymin: 41, xmax: -52, ymax: 83, spatialReference: { wkid: 4326 } };

const featureLayer = JSON.stringify({
	...{ currentVersion: 10.81, id: 0, name: "Stations", type: "Feature Layer", displayField: "NAME", extent },
	...{ geometryType: "esriGeometryPoint", objectIdField: "OBJECTID", capabilities: "Map,Query,Data" },
	fields: [
		{ name: "OBJECTID", type: "esriFieldTypeOID", alias: "OBJECTID" },
		{ name: "NAME", type: "esriFieldTypeString", alias: "Name", length: 50 },
	],
	drawingInfo: {
		renderer: {
			type: "simple",
			symbol: { type: "esriSMS", style: "esriSMSCircle", color: [200, 0, 0, 255], size: 6 },
		},
	},
});

const capabilities = (address: string) => `<?xml version="1.0"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">
<Service><Name>WMS</Name><Title>Maps</Title></Service><Capability><Request>
${["GetCapabilities", "GetMap", "GetFeatureInfo"]
	.map(
		(name) =>
			`<${name}><Format>${{ GetMap: "image/png", GetFeatureInfo: "text/plain" }[name] ?? "text/xml"}</Format><DCPType><HTTP><Get><OnlineResource xlink:href="${address}"/></Get></HTTP></DCPType></${name}>`,
	)
	.join("\n")}
</Request><Layer><Title>All</Title><CRS>EPSG:3978</CRS><CRS>EPSG:4326</CRS>
<EX_GeographicBoundingBox><westBoundLongitude>-141</westBoundLongitude><eastBoundLongitude>-52</eastBoundLongitude><southBoundLatitude>41</southBoundLatitude><northBoundLatitude>83</northBoundLatitude></EX_GeographicBoundingBox>
<Layer queryable="1"><Name>rain</Name><Title>Rain</Title></Layer></Layer></Capability></WMS_Capabilities>`;

const server = createServer(async (request, response) => {
	const { pathname } = new URL(request.url ?? "/", "http://host");
	const [, milliseconds, kind] = pathname.split("/");
	await sleep(Number(milliseconds) || 0);
	const isWms = kind === "wms";
	response.writeHead(200, { "Content-Type": isWms ? "text/xml" : "application/json" });
	response.end(isWms ? capabilities(`http://${request.headers.host}${pathname}`) : featureLayer);
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
	process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
