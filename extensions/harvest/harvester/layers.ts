import { join } from "node:path";
import type { Io } from "../../../api/configuration.ts";
import { mapWithProgress } from "../../../publish/build.ts";
import { collectSource, type Source } from "../../../publish/collect.ts";
import { placeFile } from "../../../publish/place-file.ts";
import {
	type CheckResult,
	type Health,
	healthPath,
	healthText,
	parseHealth,
	updateHealth,
	weekOf,
} from "../../../registry/health.ts";
import { type CheckedLayer, judgeChange, namesOf, problemLine } from "../../../registry/judge.ts";
import { langs } from "../../../registry/smallkey.ts";
import { plain } from "../../../registry/untrusted-text.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import type { Watched } from "../finding.ts";
import { type ClientOptions, createWatchLayer } from "../layer.ts";

/** `createAsk` bounds the requests. */
export const layersAtOnce = 64;

/**
 * All layers, or those that a command names. Wrong files are reported and left out.
 * @throws {Error} if a layer does not exist
 */
export async function readLayers(source: Source, smallkeys: string[], io: Io): Promise<CheckedLayer[]> {
	const files = await collectSource(source);
	const { layers, problems } = judgeChange(namesOf(files), files, "stored");
	for (const problem of problems) io.warn(plain(problemLine(problem)));
	if (smallkeys.length === 0) return [...layers.values()];
	return smallkeys.map((smallkey) => {
		const layer = layers.get(smallkey);
		if (!layer) throw new Error(`${smallkey}: there is no such layer, or its file is wrong`);
		return layer;
	});
}

/** `layers/23/23ax5t.json` → `23/23ax5t.json`. */
export function pathInLayers(path: string): string {
	return path.replace(/^layers\//, "");
}

/**
 * @param site address of the catalogue; empty if unknown
 * @throws {Error} if none of several hosts answers: the cause is then this machine's connection
 */
export async function watchAll(
	layers: readonly CheckedLayer[],
	clients: ClientOptions,
	site: string,
): Promise<(CheckedLayer & Watched)[]> {
	const watch = createWatchLayer(clients, site);
	const all = await mapWithProgress(layers, "looking at layers", layersAtOnce, async (layer) => {
		return { ...layer, ...(await watch(layer.registration, undefined, layer.description)) };
	});
	const addresses = all.flatMap(({ registration }) => langs.map((lang) => registration[lang].service_url));
	const hosts = new Set(addresses.map((address) => new URL(address).host));
	if (hosts.size > 1 && all.every(({ state }) => state === "down")) {
		const [first] = all[0]?.findings ?? [];
		throw new Error(`none of ${hosts.size} hosts can be asked from here: ${first?.text}`);
	}
	return all;
}

/**
 * Writes health.json in a folder of layers.
 * @param results by smallkey; null: healthy
 * @param all every layer of the folder
 */
export async function writeHealth(
	folder: string,
	results: ReadonlyMap<string, CheckResult | null>,
	all: readonly CheckedLayer[],
	now: Date,
): Promise<Health> {
	const path = pathInLayers(healthPath);
	const before = parseHealth(await readTextIfThere(join(folder, path)));
	const registered = new Set(all.map(({ smallkey }) => smallkey));
	const health = updateHealth(before, results, weekOf(now), (smallkey) => registered.has(smallkey));
	const text = healthText(health);
	placeFile(folder, path, text === null ? null : Buffer.from(text));
	return health;
}
