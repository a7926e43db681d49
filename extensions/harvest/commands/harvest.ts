// npx fragment-publisher harvest and watch-services: ask the services behind the layers of a folder

import { join } from "node:path";
import pMap from "p-map";
import type { Environment, Io } from "../../../api/configuration.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { placeFile } from "../../../publish/place-file.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { descriptionPath, healthPath, layerPath } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { parseHealth } from "../../../site/data/health.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { createAsk } from "../ask.ts";
import { createClients } from "../clients.ts";
import { descriptionText, isDescribed, mergeDescription } from "../description.ts";
import { type Finding, resultOf } from "../finding.ts";
import { harvestLayer } from "../harvest-layer.ts";
import { readLayers, selectLayers } from "../harvester/layers.ts";
import { healthText, updateHealth, weekOf } from "../health.ts";
import { harvestedLangs } from "../langs.ts";
import { createFetch } from "../net/fetch.ts";
import { hostsOf } from "../service.ts";
import { watchLayer } from "../watch-layer.ts";

/** `createAsk` bounds the requests. */
const layersAtOnce = 64;

const folderOption = ["--layers <dir>", "a folder of layers", "layers"] as const;
const smallkeysArgument = ["[smallkey...]", "which layers; all where none is named"] as const;

async function openLayers(folder: string, smallkeys: readonly string[], environment: Environment, io: Io) {
	const { network, mapWkid, publicUrl } = readConfiguration(environment);
	const clients = createClients(createAsk({ fetch: createFetch(network) }), mapWkid);
	const all = await readLayers({ folder }, io);
	return { clients, publicUrl, all, layers: selectLayers(all, smallkeys) };
}

/** `layers/23/23ax5t.json` → `23/23ax5t.json`. */
const pathInLayers = (path: string) => path.replace(/^layers\//, "");

const titles: Partial<Record<Finding["state"], string>> = {
	wrong: "Wrong registrations, for their publishers to correct:",
	down: "Services that are down or odd:",
	empty: "Layers of which there is nothing to be seen:",
	blocked: "Layers that browsers block on an https site:",
	well: "Well, but not everything could be seen:",
};

/** @returns exit code: 1 if a registration is wrong */
function printFindings(layers: readonly { smallkey: string; findings: Finding[] }[], io: Io) {
	for (const [state, title] of Object.entries(titles)) {
		const lines = layers.flatMap(({ smallkey, findings }) => {
			const ofState = findings.filter((finding) => finding.state === state);
			return ofState.map(({ pointer, text }) => plain(`  ${layerPath(smallkey)}: ${pointer}: ${text}`));
		});
		if (lines.length > 0) io.print([`\n${title}`, ...lines].join("\n"));
	}
	const isWrong = layers.some(({ findings }) => findings.some(({ state }) => state === "wrong"));
	return isWrong ? exitCodes.wrong : exitCodes.done;
}

export const runHarvest = createRun(async ({ read, environment, io }) => {
	const [{ new: isNew, layers: folder }, smallkeys] = await read((line) =>
		line
			.argument(...smallkeysArgument)
			.option("--new", "only layers without a description")
			.option(...folderOption),
	);
	const { clients, layers } = await openLayers(folder, smallkeys, environment, io);

	async function harvestIntoFolder({ smallkey, registration, description }: CheckedLayer) {
		const harvested = await harvestLayer(registration, description, clients);
		const merged = mergeDescription(registration, harvested, description);
		const bytes = merged && Buffer.from(descriptionText(merged));
		const changed = bytes && placeFile(folder, pathInLayers(descriptionPath(smallkey)), bytes) !== "same";
		return { smallkey, findings: harvested.findings, changed };
	}

	const due = layers
		.filter(({ registration }) => harvestedLangs(registration).length > 0)
		.filter(({ registration, description }) => !isNew || !isDescribed(registration, description))
		// Layers of one service share cached capabilities.
		.sort(({ registration: a }, { registration: b }) => a.en.service_url.localeCompare(b.en.service_url));
	const outcomes = await pMap(due, harvestIntoFolder, { concurrency: layersAtOnce });
	outcomes.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	const changed = counted(outcomes.filter((outcome) => outcome.changed).length, "description");
	const troubled = outcomes.filter(({ findings }) => findings.length > 0).length;
	io.print(`${counted(outcomes.length, "layer")} asked, ${changed} changed, ${troubled} with findings`);
	return printFindings(outcomes, io);
});

export const runWatch = createRun(async ({ read, environment, io }) => {
	const [{ layers: folder }, smallkeys] = await read((line) =>
		line.argument(...smallkeysArgument).option(...folderOption),
	);
	const { clients, publicUrl, all, layers } = await openLayers(folder, smallkeys, environment, io);
	const watch = async ({ smallkey, registration, description }: CheckedLayer) => {
		const findings = await watchLayer(registration, description, clients, publicUrl);
		return { smallkey, findings, result: resultOf(findings) };
	};
	const watched = await pMap(layers, watch, { concurrency: layersAtOnce });
	const hosts = new Set(layers.flatMap(({ registration }) => hostsOf(registration)));
	// The cause is this machine's connection.
	if (hosts.size > 1 && watched.every(({ result }) => result?.state === "down"))
		throw new Error(`none of ${hosts.size} hosts can be asked from here: ${watched[0]?.findings[0]?.text}`);
	const path = pathInLayers(healthPath);
	const before = parseHealth(await readTextIfThere(join(folder, path)));
	const results = new Map(watched.map(({ smallkey, result }) => [smallkey, result]));
	const registered = new Set(all.map(({ smallkey }) => smallkey));
	const after = updateHealth(before, results, weekOf(io.now()), registered);
	const text = healthText(after);
	placeFile(folder, path, text === null ? null : Buffer.from(text));
	const counts = (["well", "wrong", "down", "empty", "blocked"] as const).map(
		(state) => `${watched.filter(({ result }) => (result?.state ?? "well") === state).length} ${state}`,
	);
	io.print(`checked ${counted(watched.length, "layer")}: ${counts.join(", ")}`);
	return printFindings(watched, io);
});
