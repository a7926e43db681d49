// npx fragment-publisher harvest, check-services and watch-services: ask the services behind the layers
import { statSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import type { Environment, Io } from "../../../api/configuration.ts";
import { parseSpan, readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { mapWithProgress } from "../../../publish/build.ts";
import type { Source } from "../../../publish/collect.ts";
import { placeFile } from "../../../publish/place-file.ts";
import { descriptionText, isDescribed } from "../../../registry/description.ts";
import { weekOf } from "../../../registry/health.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { harvestedLangs } from "../../../registry/registration.ts";
import { descriptionPath, langs, layerPath } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { nameSource, withSource } from "../../../scripts/validate.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { clientsWith } from "../ask.ts";
import { checkLayer } from "../check-layer.ts";
import { type Finding, mergeDescription, quote, resultOf } from "../finding.ts";
import {
	layersAtOnce,
	pathInLayers,
	readLayers,
	refreshText,
	selectLayers,
	watchAll,
	writeHealth,
} from "../harvester/layers.ts";
import { harvestLayer } from "../layer.ts";
import { createClients } from "../wms/read-capabilities.ts";

const folderOption = ["--layers <dir>", "a folder of layers", "layers"] as const;

const smallkeysArgument = ["[smallkey...]", "which layers; all where none is named"] as const;

function parseAge(text: string): number {
	const age = parseSpan(text);
	if (age === null) throw new InvalidArgumentError("It must be a time such as 7d, 12h, 30m or 45s.");
	return age;
}

async function openLayers(source: Source, smallkeys: readonly string[], environment: Environment, io: Io) {
	const { network, mapWkid, publicUrl } = readConfiguration(withoutStore(environment));
	const clients = createClients(clientsWith(network).ask, mapWkid);
	const { layers: all, owners } = await readLayers(source, io);
	return { clients, publicUrl, all, owners, layers: selectLayers(all, smallkeys) };
}

const harvestTitles = {
	wrong: "Wrong registrations, for their publishers to correct:",
	down: "Services that are down or answer oddly; their descriptions are kept:",
	well: "Well, but not everything could be seen:",
};

/** @returns exit code: 1 if a registration is wrong */
function printFindings(
	layers: readonly { smallkey: string; findings: readonly Finding[] }[],
	titles: Partial<Record<Finding["state"], string>>,
	io: Io,
): number {
	for (const [state, title] of Object.entries(titles)) {
		const lines = layers.flatMap(({ smallkey, findings }) =>
			findings
				.filter((finding) => finding.state === state)
				.map(({ pointer, text }) => plain(`  ${layerPath(smallkey)}: ${pointer}: ${text}`)),
		);
		if (lines.length > 0) io.print([`\n${title}`, ...lines].join("\n"));
	}
	const isWrong = layers.some(({ findings }) => findings.some(({ state }) => state === "wrong"));
	return isWrong ? exitCodes.wrong : exitCodes.done;
}

const harvest = createRun("harvest", async ({ read, environment, io }) => {
	const [{ olderThan: olderThanMs, layers: folder }, smallkeys] = await read((line) =>
		line
			.argument(...smallkeysArgument)
			.option("--older-than <age>", "only what was harvested so long ago: 7d, 12h, 30m, 45s", parseAge)
			.option(...folderOption),
	);
	io.warn(`Harvesting into ${folder}`);
	const { clients, layers } = await openLayers({ folder }, smallkeys, environment, io);
	const now = io.now().getTime();

	function isDue({ smallkey, registration, description }: CheckedLayer): boolean {
		if (olderThanMs === undefined || !isDescribed(registration, description)) return true;
		const path = join(folder, pathInLayers(descriptionPath(smallkey)));
		const file = statSync(path, { throwIfNoEntry: false });
		return file === undefined || now - file.mtimeMs >= olderThanMs;
	}

	async function harvestOne({ smallkey, registration, description }: CheckedLayer) {
		const harvested = await harvestLayer(registration, description, clients);
		const path = pathInLayers(descriptionPath(smallkey));
		const before = await readTextIfThere(join(folder, path));
		const merged = mergeDescription(registration, harvested, description);
		const text = merged && descriptionText(merged);
		const changed = text !== null && text !== before;
		if (changed) placeFile(folder, path, Buffer.from(text));
		// The modification time of an unchanged file is that of its last harvest.
		else if (text !== null) await utimes(join(folder, path), new Date(), new Date());
		return { smallkey, findings: harvested.findings, changed };
	}

	const addressOf = ({ registration }: CheckedLayer) => registration.en.service_url;
	const due = layers
		.filter((layer) => harvestedLangs(layer.registration).length > 0 && isDue(layer))
		// Layers of one service share cached capabilities.
		.sort((a, b) => addressOf(a).localeCompare(addressOf(b)));
	const outcomes = await mapWithProgress(due, "harvesting", layersAtOnce, harvestOne);
	const changed = outcomes.filter((outcome) => outcome.changed).length;
	const troubled = outcomes.filter((outcome) => outcome.findings.length > 0).length;
	io.print(
		`${counted(outcomes.length, "layer")} asked, ${counted(changed, "description")} changed, ${troubled} with findings`,
	);
	const sorted = outcomes.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	return printFindings(sorted, harvestTitles, io);
});

const checkServices = createRun("check-services", async ({ read, environment, io }) => {
	const [options, smallkeys] = await read((line) => withSource(line.argument(...smallkeysArgument)));
	const { source, name } = nameSource(options);
	io.warn(`Asking the services behind ${name}`);
	const { clients, layers } = await openLayers(source, smallkeys, environment, io);
	const results = await mapWithProgress(layers, "checking", layersAtOnce, async (layer) => {
		return { ...layer, ...(await checkLayer(layer.registration, clients)) };
	});
	for (const { smallkey, titles } of results)
		for (const lang of langs) {
			const { [lang]: title } = titles;
			const text = title === undefined ? "not found, see below" : quote(title) || "(no title)";
			io.print(plain(`${smallkey} ${lang}: ${text}`));
		}
	return printFindings(results, harvestTitles, io);
});

const watchHelp = `
It asks for the capabilities or the layer's document, then for one picture or one feature. The file names sick layers only,
each with the week in which that was first seen. The file changes only if the findings do.`;

const watchTitles = {
	...harvestTitles,
	down: "Services that are down or odd:",
	empty: "Layers of which there is nothing to be seen:",
	blocked: "Layers that browsers block on an https site:",
};

const watchServices = createRun("watch-services", async ({ read, environment, io }) => {
	const [{ layers: folder, text: textFile }, smallkeys] = await read((line) =>
		line
			.argument(...smallkeysArgument)
			.option(...folderOption)
			.option("--text <file>", "write the text of the weekly pull request there")
			.addHelpText("after", watchHelp),
	);
	const opened = await openLayers({ folder }, smallkeys, environment, io);
	const { clients, publicUrl, all: registered, owners, layers } = opened;
	const all = await watchAll(layers, clients, publicUrl);
	const states = new Map(all.map((layer) => [layer.smallkey, resultOf(layer)]));
	const week = weekOf(io.now());
	const health = await writeHealth(folder, states, registered, week);
	if (textFile !== undefined) await writeFile(textFile, refreshText(all, { health, week }, owners));
	const results = [...states.values()];
	const counts = (["well", "wrong", "down", "empty", "blocked"] as const).map(
		(state) => `${results.filter((result) => (result?.state ?? "well") === state).length} ${state}`,
	);
	io.print(`checked ${counted(all.length, "layer")}: ${counts.join(", ")}`);
	return printFindings(all, watchTitles, io);
});

export const runs = { harvest, "check-services": checkServices, "watch-services": watchServices };
