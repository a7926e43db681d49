// npx fragments watch-services: checks each layer as a viewer sees it, and writes the sick ones into layers/health.json

import { writeFile } from "node:fs/promises";
import { readIfThere } from "../files/if-there.ts";
import { runGit } from "../git/run.ts";
import { type SickState, weekOf, weeksSince } from "../registry/health.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { type LayerHealth, refreshText } from "../review/refresh-text.ts";
import { askWith } from "../service/ask.ts";
import {
	readLayers,
	statesOf,
	type WatchedLayer,
	watchAll,
	writeHealth,
} from "../service/harvester/layers.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

const help = `
It asks for the capabilities or the layer's document, then for one picture or one feature. The file names sick layers only,
each with the week in which that was first seen. The file changes only if the findings do.
With --text it writes what the pull request of the workflow refresh says, in a checkout into which npx fragments harvest
has written service descriptions.`;

const titles: Record<SickState, string> = {
	wrong: "Wrong registrations, for their publishers to correct:",
	down: "Services that are down or odd:",
	empty: "Layers of which there is nothing to be seen:",
};

/** Smallkeys of the layers whose service description differs from the last commit of the checkout. */
async function changedDescriptions(folder: string): Promise<Set<string>> {
	const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", folder];
	const lines = (await runGit(".", args)).toString("utf8").split("\0").filter(Boolean);
	// A line has two letters of status, a space and the path.
	const names = lines.map((line) => parseLayerPath(line.slice(3)));
	return new Set(names.flatMap((name) => (name?.kind === "description" ? [name.smallkey] : [])));
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("watch-services", io)
		.argument("[smallkey...]", "which layers; all where none is named")
		.option("--layers <dir>", "a folder of layers", "layers")
		.option("--text <file>", "write the text of the weekly pull request there")
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const { layers: folder, text: textFile } = line.opts();
	const { owners } = parseOwners((await readIfThere(ownersPath)) ?? new Uint8Array(0));
	const ask = askWith(readConfiguration(withoutStore(environment)).harvest);
	const registered = await readLayers({ folder }, [], io);
	const layers = await readLayers({ folder }, line.processedArgs[0], io);
	const all = await watchAll(layers, ask);
	const week = weekOf(io.now());
	const health = await writeHealth(folder, statesOf(all), registered, io.now());
	if (textFile !== undefined) {
		const changed = await changedDescriptions(folder);
		const found = all.map(({ layer: { smallkey }, watched }): LayerHealth => {
			return { smallkey, findings: watched.findings, changed: changed.has(smallkey) };
		});
		await writeFile(textFile, refreshText(found, { health, week }, owners));
	}
	const weeks = (smallkey: string) => weeksSince(health.get(smallkey)?.since ?? week, week);
	return print(all, weeks, io);
});

/** Prints the problems in a group for each state. @returns exit code */
function print(all: readonly WatchedLayer[], weeksOf: (smallkey: string) => number, io: Io): number {
	const counts = new Map<SickState | null, number>();
	for (const { watched } of all) counts.set(watched.state, (counts.get(watched.state) ?? 0) + 1);
	const count = (state: SickState | null) => counts.get(state) ?? 0;
	printLine(
		io,
		`checked ${counted(all.length, "layer")}: ${count(null)} well, ${count("wrong")} wrong, ${count("down")} down, ${count("empty")} empty`,
	);
	for (const [state, title] of Object.entries(titles)) {
		const lines = all.flatMap(({ layer: { smallkey }, watched }) =>
			watched.findings
				.filter((finding) => finding.state === state)
				.map(({ pointer, text }) => {
					const week = watched.state === state ? ` (week ${weeksOf(smallkey)})` : "";
					return plain(`  ${layerPath(smallkey)}: ${pointer}: ${text}${week}`);
				}),
		);
		if (lines.length > 0) printLine(io, [`\n${title}`, ...lines].join("\n"));
	}
	return count("wrong") > 0 ? exitCodes.wrong : exitCodes.done;
}
