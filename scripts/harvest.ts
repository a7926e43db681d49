// npx fragments harvest: writes the service descriptions of layers.

import { stat } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import pMap from "p-map";
import { ifThere } from "../files/if-there.ts";
import { createHarvestLayer, type HarvestLayer, mergeDescription } from "../harvest/harvest-layer.ts";
import { layersOption, workingFolder } from "../publish/source.ts";
import { descriptionText, isDescribed } from "../registry/description.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { harvestedLangs } from "../registry/registration.ts";
import { descriptionPath } from "../registry/smallkey.ts";
import { askWith } from "../service/ask.ts";
import {
	type Found,
	fileIn,
	layersAtOnce,
	printFindings,
	readLayers,
	readStored,
	writeStored,
} from "../service/harvester/layers.ts";
import { parseSpan, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted } from "../terminal/plain.ts";
import { mapWithProgress } from "../terminal/progress.ts";

/** The result for one layer. */
interface Outcome extends Found {
	changed: boolean;
}

/** The options of a harvest. */
interface Due {
	/** Folder of layers. */
	folder: string;
	/** Only descriptions of this age in milliseconds are harvested again; undefined: all. */
	olderThanMs: number | undefined;
	now: Date;
}

/** Whether a layer has no description, or one that was last harvested long enough ago, by the file's time. */
async function isDue(layer: CheckedLayer, { folder, olderThanMs, now }: Due): Promise<boolean> {
	if (olderThanMs === undefined || !isDescribed(layer.registration, layer.description)) return true;
	const path = fileIn(folder, descriptionPath(layer.smallkey));
	const file = await ifThere(path, stat(path));
	return file === null || now.getTime() - file.mtimeMs >= olderThanMs;
}

/** Layers of one service lie together, so that its capabilities are still known for the last of them. */
function byAddress(one: CheckedLayer, other: CheckedLayer): number {
	const [a, b] = [one.registration.en.service_url, other.registration.en.service_url];
	return a < b ? -1 : a > b ? 1 : 0;
}

function parseAge(text: string): number {
	const age = parseSpan(text);
	if (age === null) throw new InvalidArgumentError("It must be a time such as 7d, 12h, 30m or 45s.");
	return age;
}

async function harvest(layer: CheckedLayer, folder: string, ask: HarvestLayer): Promise<Outcome> {
	const { smallkey, registration } = layer;
	const harvested = await ask(registration, undefined, layer.description);
	const path = descriptionPath(smallkey);
	const before = await readStored(folder, path);
	const merged = mergeDescription(registration, harvested, before);
	const text = merged && descriptionText(merged);
	if (text !== null) await writeStored(folder, path, text, before);
	return { smallkey, findings: harvested.findings, changed: text !== null && text !== before };
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("harvest", io)
		.argument("[smallkey...]", "which layers; all where none is named")
		.option("--older-than <age>", "only what was harvested so long ago: 7d, 12h, 30m, 45s", parseAge)
		.addOption(layersOption)
		.option("--repo <dir>", "a folder with a folder layers in it, such as another checkout")
		.parse(argv, { from: "user" });
	const { olderThan: olderThanMs, ...sourceOptions } = line.opts();
	const folder = workingFolder(sourceOptions);
	printError(io, `Harvesting into ${folder}`);
	const configuration = readConfiguration(withoutStore(environment));
	const { mapWkid } = configuration;
	const ask = createHarvestLayer({ ask: askWith(configuration.harvest), mapWkid });
	const layers = await readLayers({ folder }, line.processedArgs[0], io);
	const due = { folder, olderThanMs, now: io.now() };
	const asked = layers.filter((layer) => harvestedLangs(layer.registration).length > 0).sort(byAddress);
	const areDue = await pMap(asked, (layer) => isDue(layer, due), { concurrency: layersAtOnce });
	const wanted = asked.filter((_, index) => areDue[index]);
	const outcomes = await mapWithProgress(wanted, "harvesting", layersAtOnce, (layer) => {
		return harvest(layer, folder, ask);
	});
	const changed = outcomes.filter((outcome) => outcome.changed).length;
	const troubled = outcomes.filter((outcome) => outcome.findings.length > 0).length;
	printLine(
		io,
		`${counted(outcomes.length, "layer")} asked, ${counted(changed, "description")} changed, ${troubled} with findings`,
	);
	return printFindings(
		outcomes.sort((one, other) => (one.smallkey < other.smallkey ? -1 : 1)),
		io,
	);
});
