// npx fragments harvest: writes the service descriptions of layers

import { stat } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import pMap from "p-map";
import { ifThere, readTextIfThere } from "../files/if-there.ts";
import { mergeDescription } from "../harvest/finding.ts";
import { createHarvestLayer } from "../harvest/harvest-layer.ts";
import { layersOption, workingFolder } from "../publish/source.ts";
import { descriptionText, isDescribed } from "../registry/description.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { harvestedLangs } from "../registry/registration.ts";
import { descriptionPath } from "../registry/smallkey.ts";
import { askWith } from "../service/ask.ts";
import { fileIn, layersAtOnce, printFindings, readLayers, writeStored } from "../service/harvester/layers.ts";
import { parseSpan, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted } from "../terminal/plain.ts";
import { mapWithProgress } from "../terminal/progress.ts";

/** Sorts layers of one service together, so that its capabilities are still cached when the last of them is asked. */
function byAddress(one: CheckedLayer, other: CheckedLayer): number {
	const [a, b] = [one.registration.en.service_url, other.registration.en.service_url];
	return a < b ? -1 : a > b ? 1 : 0;
}

function parseAge(text: string): number {
	const age = parseSpan(text);
	if (age === null) throw new InvalidArgumentError("It must be a time such as 7d, 12h, 30m or 45s.");
	return age;
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
	const now = io.now().getTime();

	/** Whether a layer has no description, or its file is at least `olderThanMs` old. */
	async function isDue({ smallkey, registration, description }: CheckedLayer): Promise<boolean> {
		if (olderThanMs === undefined || !isDescribed(registration, description)) return true;
		const path = fileIn(folder, descriptionPath(smallkey));
		const file = await ifThere(path, stat(path));
		return file === null || now - file.mtimeMs >= olderThanMs;
	}

	async function harvest({ smallkey, registration, description }: CheckedLayer) {
		const harvested = await ask(registration, undefined, description);
		const path = descriptionPath(smallkey);
		const before = await readTextIfThere(fileIn(folder, path));
		const merged = mergeDescription(registration, harvested, before);
		const text = merged && descriptionText(merged);
		if (text !== null) await writeStored(folder, path, text, before);
		return { smallkey, findings: harvested.findings, changed: text !== null && text !== before };
	}

	const asked = layers.filter((layer) => harvestedLangs(layer.registration).length > 0).sort(byAddress);
	const areDue = await pMap(asked, isDue, { concurrency: layersAtOnce });
	const wanted = asked.filter((_, index) => areDue[index]);
	const outcomes = await mapWithProgress(wanted, "harvesting", layersAtOnce, harvest);
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
