import { setTimeout as sleep } from "node:timers/promises";
import { layerDocument } from "../extensions/harvest/arcgis-server.ts";
import { answering } from "../helpers/world.ts";
import type { Row } from "./rows.ts";
import { type Put, publish, type Sent, type Target } from "./service.ts";
import { quantile, type World, wrk, wrkLists } from "./world.ts";

/** Concurrent publishers in the rows with several. */
const publishers = 8;
const reference = "the other service";

const featureLayer = JSON.stringify(
	layerDocument({ objectIdField: "OBJECTID", capabilities: "Map,Query,Data" }),
);

function capabilities(address: string): string {
	const formats = { GetCapabilities: "text/xml", GetMap: "image/png", GetFeatureInfo: "text/plain" };
	const requests = Object.entries(formats).map(
		([name, format]) => `<${name}><Format>${format}</Format><DCPType><HTTP><Get>
<OnlineResource xlink:href="${address}"/></Get></HTTP></DCPType></${name}>`,
	);
	return `<?xml version="1.0"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">
<Service><Name>WMS</Name><Title>Maps</Title></Service><Capability><Request>${requests.join("\n")}</Request>
<Layer><Title>All</Title><CRS>EPSG:3978</CRS><CRS>EPSG:4326</CRS>
<EX_GeographicBoundingBox>
<westBoundLongitude>-141</westBoundLongitude><eastBoundLongitude>-52</eastBoundLongitude>
<southBoundLatitude>41</southBoundLatitude><northBoundLatitude>83</northBoundLatitude>
</EX_GeographicBoundingBox>
<Layer queryable="1"><Name>rain</Name><Title>Rain</Title></Layer></Layer></Capability></WMS_Capabilities>`;
}

/** Starts a map service: after so many milliseconds, `/<ms>/wms` answers GetCapabilities, `/<ms>/MapServer/<n>` as a layer. */
function startMapService() {
	return answering(async ({ url = "/", headers }, response) => {
		const { pathname } = new URL(url, "http://host");
		const [, milliseconds, kind] = pathname.split("/");
		await sleep(Number(milliseconds) || 0);
		const isWms = kind === "wms";
		response.writeHead(200, { "Content-Type": isWms ? "text/xml" : "application/json" });
		response.end(isWms ? capabilities(`http://${headers.host}${pathname}`) : featureLayer);
	});
}

/** A layer of form 2.0, the form that the older service reads too: of ten, seven are `ogcWms`, three `esriFeature`. */
function layer(index: number, mapService: string, service_name: string): Put {
	const service =
		index % 10 < 7
			? { service_url: `${mapService}/wms`, service_type: "ogcWms", scrape_only: ["rain"] }
			: { service_url: `${mapService}/MapServer/${index % 9}`, service_type: "esriFeature" };
	const node = { ...service, service_name };
	return [`/v2/register/beside-${index}`, JSON.stringify({ version: "2.0", en: node, fr: node })];
}

/**
 * Rows of ours beside another running service, by the protocol that both speak: signed PUTs to `/v2/register/…`, which
 * register layers `beside-<n>`, and reads of `/v2/docs/…`. The other service must know the sender `BESIDE_SENDER` with the
 * secret `BESIDE_SECRET`, and must be able to reach 127.0.0.1.
 */
export function rowsBeside(address: string): Row[] {
	const { BESIDE_SENDER: sender, BESIDE_SECRET: secret } = process.env;
	if (!sender || !secret) throw new Error("--beside: set BESIDE_SENDER and BESIDE_SECRET");
	const theirs: Target = { url: address.replace(/\/$/, ""), sender, secret };

	/** Our service and a map service, once both services have all layers. */
	const open = (world: World) =>
		world.shared("beside", async () => {
			const maps = await startMapService();
			world.endLater(() => maps[Symbol.asyncDispose]());
			const ours = await world.start(world.path("beside"), { HARVEST: "on", HARVEST_ALLOW_PRIVATE: "on" });
			const first = world.layers.map((_, index) => layer(index, `${maps.origin}/0`, `Layer ${index}`));
			for (const service of [ours, theirs]) await publish(service, first, publishers);
			return { ours, maps: maps.origin };
		});

	function reads(
		name: string,
		what: string,
		read: (docs: string, keys: string[], world: World) => Promise<number>,
	): Row {
		const prepare: Row["prepare"] = async (world) => {
			const { ours } = await open(world);
			const keys = world.layers.map((_, index) => `beside-${index}`);
			const ask = ({ url }: Target) => read(`${url}/v2/docs/en/`, keys, world);
			return async () => [await ask(ours), await ask(theirs)];
		};
		return { name, what, reference, unit: "requests/s", prepare };
	}

	let orders = 0;
	/** PUTs to both services in turn, of layers of a map service that answers after some milliseconds. */
	const puts =
		(count: number, several: number, delayMs: number, figure: (sent: Sent) => number): Row["prepare"] =>
		async (world) => {
			const { ours, maps } = await open(world);
			const ask = async (service: Target) => {
				orders += 1;
				const name = `Layer in order ${orders}`;
				const payloads = world.layers
					.slice(0, count)
					.map((_, index) => layer(index, `${maps}/${delayMs}`, name));
				return figure(await publish(service, payloads, several));
			};
			return async () => [await ask(ours), await ask(theirs)];
		};

	return [
		reads("docs", "`docs`, one key", (docs, [key]) => wrk(docs + key)),
		reads("docs-10", "`docs`, 10 keys", (docs, keys) => wrk(docs + keys.slice(0, 10))),
		reads("docs-new", "`docs`, each time 10 other keys", (docs, keys, world) =>
			wrkLists(world.path("lists.lua"), docs, keys, 10),
		),
		...[0, 300].flatMap((delayMs): Row[] => [
			{
				name: `put-alone-${delayMs}`,
				what: `one PUT alone, p50; a map service that answers after ${delayMs} ms`,
				reference,
				unit: "ms",
				prepare: puts(30, 1, delayMs, ({ milliseconds }) => quantile(milliseconds, 0.5)),
			},
			{
				name: `puts-${delayMs}`,
				what: `PUTs of ${publishers} publishers; after ${delayMs} ms`,
				reference,
				unit: "changes/s",
				prepare: puts(80, publishers, delayMs, ({ seconds, milliseconds }) => milliseconds.length / seconds),
			},
		]),
	];
}
