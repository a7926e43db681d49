// npx fragments check-services: checks that the services behind the layers have what the registrations say
import { type CheckedServices, createCheckLayer, type LayerFacts } from "../harvest/check-layer.ts";
import { quote } from "../harvest/finding.ts";
import { layersOption, nameSource, refOption, repoOption } from "../publish/source.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { langs } from "../registry/smallkey.ts";
import { askWith } from "../service/ask.ts";
import { layersAtOnce, printFindings, readLayers } from "../service/harvester/layers.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";
import { mapWithProgress } from "../terminal/progress.ts";

/** A line for each language: whether the layer exists, its title, and for WMS its formats. */
function factLines(layer: CheckedLayer, checked: CheckedServices): string[] {
	return langs.map((lang) => {
		const facts = checked.facts[lang];
		return plain(`${layer.smallkey} ${lang}: ${facts ? factsText(facts) : "not found, see below"}`);
	});
}

function factsText(facts: LayerFacts): string {
	const title = quote(facts.title) || "(no title)";
	if (!("queryable" in facts)) return title;
	const types = facts.featureInfoFormats.join(", ") || "no type";
	const query = facts.queryable ? `queryable as ${types}` : "not queryable";
	const legend =
		facts.legendFormats.length > 0 ? `legend as ${facts.legendFormats.join(", ")}` : "no legend named";
	return quote(`${title}; ${query}; ${legend}`);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("check-services", io)
		.argument("[smallkey...]", "which layers; all where none is named")
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.parse(argv, { from: "user" });
	const { source, name } = nameSource(line.opts());
	printError(io, `Asking the services behind ${name}`);
	const check = createCheckLayer(askWith(readConfiguration(withoutStore(environment)).harvest));
	const layers = await readLayers(source, line.processedArgs[0], io);
	const results = await mapWithProgress(layers, "checking", layersAtOnce, async (layer) => {
		return { layer, checked: await check(layer.registration) };
	});
	for (const { layer, checked } of results) printLine(io, factLines(layer, checked).join("\n"));
	return printFindings(
		results.map(({ layer, checked }) => ({ smallkey: layer.smallkey, findings: checked.findings })),
		io,
	);
});
