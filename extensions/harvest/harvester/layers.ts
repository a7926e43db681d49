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
	weeksSince,
} from "../../../registry/health.ts";
import {
	type CheckedLayer,
	judgeChange,
	type LayerFile,
	namesOf,
	problemLine,
} from "../../../registry/judge.ts";
import { nameOf, type Owners, ownersOf, ownersPath, parseOwners } from "../../../registry/owners.ts";
import { langs, layerPath } from "../../../registry/smallkey.ts";
import { code, counted, groupBy, linesWithin, plain } from "../../../registry/untrusted-text.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { type Finding, isSick, resultOf } from "../finding.ts";
import { watchLayer } from "../layer.ts";
import type { Clients } from "../wms/read-capabilities.ts";

/** `createAsk` bounds the requests. */
export const layersAtOnce = 64;

/** Wrong files are reported and left out. */
export function validLayers(files: readonly LayerFile[], io: Io): CheckedLayer[] {
	const { layers, problems } = judgeChange(namesOf(files), files, "stored");
	for (const problem of problems) io.warn(plain(problemLine(problem)));
	return [...layers.values()];
}

/** `owners`: null without a valid `layers/owners.json`. */
export async function readLayers(source: Source, io: Io) {
	const files = await collectSource(source);
	const { owners } = parseOwners(files.find(({ path }) => path === ownersPath)?.bytes);
	return { layers: validLayers(files, io), owners };
}

/** Those that a command names, or all. @throws {Error} if a layer does not exist */
export function selectLayers(all: readonly CheckedLayer[], smallkeys: readonly string[]) {
	if (smallkeys.length === 0) return all;
	const layers = new Map(all.map((layer) => [layer.smallkey, layer]));
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
	clients: Clients,
	site: string,
): Promise<(CheckedLayer & { findings: Finding[] })[]> {
	const all = await mapWithProgress(layers, "looking at layers", layersAtOnce, async (layer) => {
		const findings = await watchLayer(layer.registration, layer.description, clients, site);
		return { ...layer, findings };
	});
	const addresses = all.flatMap(({ registration }) => langs.map((lang) => registration[lang].service_url));
	const hosts = new Set(addresses.map((address) => new URL(address).host));
	if (hosts.size > 1 && all.every((layer) => resultOf(layer)?.state === "down")) {
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
	week: string,
): Promise<Health> {
	const path = pathInLayers(healthPath);
	const before = parseHealth(await readTextIfThere(join(folder, path)));
	const registered = new Set(all.map(({ smallkey }) => smallkey));
	const health = updateHealth(before, results, week, (smallkey) => registered.has(smallkey));
	const text = healthText(health);
	placeFile(folder, path, text === null ? null : Buffer.from(text));
	return health;
}

/** GitHub accepts 65,536 characters. */
const maxBodyLength = 60_000;

/** The weekly pull request's text. */
export function refreshText(
	layers: readonly { smallkey: string; findings: readonly Finding[] }[],
	{ health, week }: { health: Health; week: string },
	owners: Owners | null,
): string {
	const sick = layers
		.map((layer) => ({ ...layer, findings: layer.findings.filter(isSick) }))
		.filter(({ findings }) => findings.length > 0)
		.map((layer) => {
			const names = owners && ownersOf(owners, layerPath(layer.smallkey)).map(nameOf).map(code);
			const weeks = weeksSince(health.get(layer.smallkey)?.since ?? week, week);
			return { ...layer, weeks, owners: names?.join(" or ") ?? "no known owner" };
		});
	const groups = [...groupBy(sick, (layer) => layer.owners)].sort(([a], [b]) => (a < b ? -1 : 1));
	const tables = groups.flatMap(([names, group]) => {
		return [`### ${names}`, "", ...tableHead, ...group.map(tableRow), ""];
	});
	const lines = [
		`${counted(layers.length, "layer")} checked, ${counted(sick.length, "layer")} with findings.`,
		"",
		...tables,
	];
	// Each line is complete in itself, so the text is well formed wherever it ends.
	const closing = () => ["", "The rest has no room here: see the changed files."];
	return linesWithin(lines, maxBodyLength, closing).join("\n").trimEnd();
}

const tableHead = ["| layer | en | fr | weeks sick |", "|---|---|---|---|"];

function tableRow(layer: { smallkey: string; findings: readonly Finding[]; weeks: number }): string {
	const states = langs.map((lang) => {
		const findings = layer.findings.filter((finding) => finding.lang === lang);
		return findings.map(({ state, text }) => `${state}: ${code(text)}`).join(", ") || "well";
	});
	return `| ${[code(layer.smallkey), ...states, layer.weeks].join(" | ")} |`;
}
