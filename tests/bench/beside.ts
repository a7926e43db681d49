import { setTimeout as sleep } from "node:timers/promises";
import { layerDocument } from "../extensions/harvest/arcgis-server.ts";
import { answering } from "../helpers/world.ts";
import type { Row } from "./rows.ts";
import { median, type Put, publish, type Target, type World, wrk, wrkLists } from "./world.ts";

/** A row is the round with the median ratio: on a loaded machine one can be wrong by a factor of 4. */
const rounds = 3;

const publishers = 8;

const featureLayer = JSON.stringify(
	layerDocument({ objectIdField: "OBJECTID", capabilities: "Map,Query,Data" }),
);

/** `/<ms>/MapServer/<n>` answers as a layer after so many milliseconds. */
function startMapService() {
	return answering(async ({ url = "/" }, response) => {
		await sleep(Number(url.split("/")[1]) || 0);
		response.writeHead(200, { "Content-Type": "application/json" });
		response.end(featureLayer);
	});
}

/**
 * Rows of ours beside another running service, by the protocol that both speak: signed PUTs to `/v2/register/…`, which
 * register layers `beside-<n>` of form 2.0, and reads of `/v2/docs/…`. The other service must know the sender `BESIDE_SENDER`
 * with the secret `BESIDE_SECRET`, and must be able to reach 127.0.0.1.
 */
export function rowsBeside(address: string): Row[] {
	const { BESIDE_SENDER: sender, BESIDE_SECRET: secret } = process.env;
	if (!sender || !secret)
		throw new Error("--beside: set BESIDE_SENDER and BESIDE_SECRET to a sender of the other service");
	const theirs: Target = { url: address.replace(/\/$/, ""), sender, secret };
	const keysOf = ({ count }: World) => Array.from({ length: count }, (_, index) => `beside-${index}`);

	let orders = 0;
	/** Sends the first layers with a new name. */
	const write = (service: Target, keys: string[], maps: string, several: number) => {
		orders += 1;
		const puts = keys.map((key, index): Put => {
			const service_url = `${maps}/MapServer/${index % 9}`;
			const node = { service_url, service_type: "esriFeature", service_name: `Layer in order ${orders}` };
			return [`/v2/register/${key}`, JSON.stringify({ version: "2.0", en: node, fr: node })];
		});
		return publish(service, puts, several);
	};

	const open = (world: World) =>
		world.shared("beside", async () => {
			const maps = await startMapService();
			world.endLater(() => maps[Symbol.asyncDispose]());
			const ours = await world.start(world.path("beside"), { HARVEST_ALLOW_PRIVATE: "on" });
			for (const service of [ours, theirs])
				await write(service, keysOf(world), `${maps.origin}/0`, publishers);
			return { ours, maps: maps.origin };
		});

	type Measure = (service: Target, keys: string[], maps: string, world: World) => Promise<number>;
	const row = (name: string, what: string, unit: Row["unit"], measure: Measure): Row => ({
		name,
		what,
		unit,
		reference: "the other service",
		measure: async (world) => {
			const { ours, maps } = await open(world);
			const of = (service: Target) => measure(service, keysOf(world), maps, world);
			const results: [ours: number, theirs: number][] = [];
			while (results.length < rounds) results.push([await of(ours), await of(theirs)]);
			const ratio = median(results.map(([our, their]) => our / their));
			return results.find(([our, their]) => our / their === ratio) ?? [0, 0];
		},
	});
	const docs = ({ url }: Target) => `${url}/v2/docs/en/`;

	return [
		row("docs", "`docs`, one key", "requests/s", (service) => wrk(`${docs(service)}beside-0`)),
		row("docs-10", "`docs`, each time 10 other keys", "requests/s", (service, keys, _, world) =>
			wrkLists(world.path("lists.lua"), docs(service), keys, 10),
		),
		...[0, 300].flatMap((ms) => [
			row(
				`put-alone-${ms}`,
				`one PUT alone, p50; a map service that answers after ${ms} ms`,
				"ms",
				async (service, keys, maps) =>
					median((await write(service, keys.slice(0, 30), `${maps}/${ms}`, 1)).milliseconds),
			),
			row(
				`puts-${ms}`,
				`PUTs of ${publishers} publishers; after ${ms} ms`,
				"changes/s",
				async (service, keys, maps) => {
					const sent = await write(service, keys.slice(0, 80), `${maps}/${ms}`, publishers);
					return sent.milliseconds.length / sent.seconds;
				},
			),
		]),
	];
}
