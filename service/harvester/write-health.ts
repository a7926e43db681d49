import { rm } from "node:fs/promises";
import {
	type Health,
	healthPath,
	healthText,
	parseHealth,
	type Seen,
	updateHealth,
	weekOf,
} from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { fileIn, readStored, writeStored } from "./layers.ts";

/**
 * Writes what was seen of layers into the health.json of their folder. Where nothing has changed, neither does the file.
 * @param seen the layers that were checked; null: healthy
 * @param all every layer of the folder
 */
export async function writeHealth(
	folder: string,
	seen: ReadonlyMap<string, Seen | null>,
	all: readonly CheckedLayer[],
	now: Date,
): Promise<Health> {
	const before = await readStored(folder, healthPath);
	const registered = new Set(all.map(({ smallkey }) => smallkey));
	const health = updateHealth(parseHealth(before), seen, weekOf(now), (smallkey) => registered.has(smallkey));
	const text = healthText(health);
	if (text === before) return health;
	if (text === null) await rm(fileIn(folder, healthPath), { force: true });
	else await writeStored(folder, healthPath, text, before);
	return health;
}
