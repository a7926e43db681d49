// npm run harvest [-- KEY…] [--older-than 7d]: writes what the services behind feature layers say they are.

import { stat } from "node:fs/promises";
import pMap from "p-map";
import { type HarvestOptions, harvestLayer, mergeDescription } from "../harvest/harvest-layer.ts";
import type { CheckedLayer } from "../registry/catalogue.ts";
import { descriptionText } from "../registry/description.ts";
import { harvestedLangs } from "../registry/registration.ts";
import { descriptionPath, langs } from "../registry/smallkey.ts";
import { askWith } from "./harvest/ask.ts";
import {
	type Found,
	fileIn,
	layersAtOnce,
	parseServiceCommand,
	printFindings,
	readLayers,
	readStored,
	type ServiceCommand,
	writeStored,
} from "./harvest/layers.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";
import { progress } from "./terminal/progress.ts";

const usage = "npm run harvest -- [KEY…] [--older-than 7d] [--layers DIR]";

/** What became of one layer. */
interface Outcome extends Found {
	changed: boolean;
}

/** Whether both languages are described, by the services that are registered now. */
function isDescribed({ registration, description }: CheckedLayer): boolean {
	return langs.every((lang) => description?.[lang]?.service_url === registration[lang].service_url);
}

/** Whether nothing is known of a layer, or that was last looked at so long ago; a file's time tells it. */
async function isDue(layer: CheckedLayer, command: ServiceCommand): Promise<boolean> {
	if (command.olderThan === null || !isDescribed(layer)) return true;
	const file = await stat(fileIn(command.layers, descriptionPath(layer.smallkey))).catch(() => null);
	return file === null || Date.now() - file.mtimeMs >= command.olderThan;
}

async function harvest(layer: CheckedLayer, folder: string, settings: HarvestOptions): Promise<Outcome> {
	const { smallkey, registration } = layer;
	const harvested = await harvestLayer(registration, settings);
	const path = descriptionPath(smallkey);
	const before = await readStored(folder, path);
	const merged = mergeDescription(registration, harvested, before);
	const text = merged && descriptionText(merged);
	if (text !== null) await writeStored(folder, path, text, before);
	return { smallkey, findings: harvested.findings, changed: text !== null && text !== before };
}

await runCommand(async () => {
	const command = parseServiceCommand(process.argv.slice(2), usage);
	const configuration = readConfiguration(withoutStore(process.env));
	const settings = { ask: askWith(configuration.harvest), mapWkid: configuration.mapWkid };
	const layers = await readLayers(command.layers, command.smallkeys);
	const features = layers.filter((layer) => harvestedLangs(layer.registration).length > 0);
	const due = await pMap(features, (layer) => isDue(layer, command), { concurrency: layersAtOnce });
	const wanted = features.filter((_, index) => due[index]);
	const bar = progress(wanted.length, "harvesting");
	const outcomes = await pMap(
		wanted,
		async (layer) => {
			const outcome = await harvest(layer, command.layers, settings);
			bar.tick();
			return outcome;
		},
		{ concurrency: layersAtOnce },
	).finally(() => bar.stop());
	const changed = outcomes.filter((outcome) => outcome.changed).length;
	const troubled = outcomes.filter((outcome) => outcome.findings.length > 0).length;
	console.log(`${outcomes.length} layers asked, ${changed} descriptions changed, ${troubled} with findings`);
	return printFindings(outcomes);
});
