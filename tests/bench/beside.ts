import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { root } from "../helpers/process.ts";
import { publish, type Target } from "./service.ts";
import { openWorld, quantile, rangeOf, type World, wrk } from "./world.ts";

/** PUTs of one publisher and of several in a round. */
const puts = { alone: 30, several: 80 };
const publishers = 8;

/** A layer of form 2.0, the form that the older service reads too: of ten, seven are `ogcWms`, three `esriFeature`. */
function layer(index: number, mapService: string, name: string): [path: string, body: string] {
	const node =
		index % 10 < 7
			? {
					service_url: `${mapService}/wms`,
					service_type: "ogcWms",
					scrape_only: ["rain"],
				}
			: { service_url: `${mapService}/MapServer/${index % 9}`, service_type: "esriFeature" };
	const form = { version: "2.0", en: { ...node, service_name: name }, fr: { ...node, service_name: name } };
	return [`/v2/register/beside-${index}`, JSON.stringify(form)];
}

/** A script for wrk that asks for `count` keys; each time others, where `isNew`. */
const listScript = (base: string, layers: number, count: number, isNew: boolean) => `local at = 0
request = function()
  local list = {}
  for index = 1, ${count} do
    list[index] = "beside-" .. (at + index) % ${layers}
  end
  ${isNew ? `at = (at + 7919) % ${layers}` : ""}
  return wrk.format("GET", "${base}/v2/docs/en/" .. table.concat(list, ","))
end
`;

interface Measure {
	what: string;
	unit: string;
	measure: (service: Target) => Promise<number>;
}

function measures(world: World, mapService: string): Measure[] {
	const { layers } = world;
	const reads = (what: string, count: number, isNew: boolean): Measure => ({
		what,
		unit: "requests/s",
		measure: async ({ url }) => {
			const script = world.path("list.lua");
			await writeFile(script, listScript(new URL(url).pathname.replace(/\/$/, ""), layers, count, isNew));
			return wrk(url, "-s", script);
		},
	});
	let order = 0;
	const writes = async (service: Target, delayMs: number, count: number, several: number) => {
		order += 1;
		const payloads = Array.from({ length: Math.min(count, layers) }, (_, index) =>
			layer(index, `${mapService}/${delayMs}`, `Layer ${index}, order ${order}`),
		);
		return publish(service, payloads, several);
	};
	const put = (delayMs: number): Measure[] => [
		{
			what: `one PUT alone, p50; a map service that answers after ${delayMs} ms`,
			unit: "ms",
			measure: async (service) => quantile((await writes(service, delayMs, puts.alone, 1)).milliseconds, 0.5),
		},
		{
			what: `PUTs of ${publishers} publishers; after ${delayMs} ms`,
			unit: "changes/s",
			measure: async (service) => {
				const { seconds, milliseconds } = await writes(service, delayMs, puts.several, publishers);
				return milliseconds.length / seconds;
			},
		},
	];
	return [
		reads("`docs`, one key", 1, false),
		reads("`docs`, 10 keys", 10, false),
		reads("`docs`, each time 10 other keys", 10, true),
		...put(0),
		...put(300),
	];
}

/** Registers the layers at both services, then measures each row, ours and theirs in turn. */
async function measureSize(world: World, theirs: Target, rounds: number) {
	const child = fork("tests/bench/map-service.ts", [], { cwd: root, execArgv: ["--import", "tsx"] });
	world.endLater(() => child.kill());
	const [mapService] = (await once(child, "message")) as [string];
	const ours = await world.start(world.path("beside"), { HARVEST: "on", HARVEST_ALLOW_PRIVATE: "on" });
	const first = Array.from({ length: world.layers }, (_, index) =>
		layer(index, `${mapService}/0`, `Layer ${index}`),
	);
	for (const service of [ours, theirs]) await publish(service, first, publishers);
	const rows: { what: string; figures: string }[] = [];
	for (const { what, unit, measure } of measures(world, mapService)) {
		const pairs: [our: number, their: number][] = [];
		for (let round = 0; round < rounds; round += 1) pairs.push([await measure(ours), await measure(theirs)]);
		const [our, their] = [pairs.map(([figure]) => figure), pairs.map(([, figure]) => figure)];
		const ratio = rangeOf(pairs.map(([left, right]) => left / right));
		rows.push({ what, figures: `${rangeOf(our)} ${unit} ÷ ${rangeOf(their)} = ${ratio}` });
	}
	return rows;
}

/**
 * Measures ours and another running service in turn, by the protocol that both speak: signed PUTs to `/v2/register/…`, which
 * register layers `beside-<n>`, and reads of `/v2/docs/…`. The other service must know the sender `BESIDE_SENDER` with the
 * secret `BESIDE_SECRET`, and must be able to reach 127.0.0.1. Prints a table of ours ÷ theirs.
 */
export async function measureBeside(url: string, sizes: readonly number[], rounds: number): Promise<void> {
	const { BESIDE_SENDER: sender, BESIDE_SECRET: secret } = process.env;
	if (!sender || !secret) throw new Error("--beside: set BESIDE_SENDER and BESIDE_SECRET");
	const theirs: Target = { url: url.replace(/\/$/, ""), sender, secret };
	const table: string[][] = [];
	for (const size of sizes) {
		const world = await openWorld(size);
		try {
			for (const [at, { what, figures }] of (await measureSize(world, theirs, rounds)).entries()) {
				table[at] ??= [what];
				table[at].push(figures);
			}
		} finally {
			await world.close();
		}
	}
	const head = ["what", ...sizes.map((size) => `${size.toLocaleString("en")} layers: ours ÷ theirs`)];
	for (const line of [head, head.map(() => "---"), ...table]) console.log(`| ${line.join(" | ")} |`);
}
