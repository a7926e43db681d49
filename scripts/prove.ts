// npx fragments prove: draws layers in a browser, and keeps for each whether it can be seen, with a picture
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { seenOf } from "../harvest/watch-layer.ts";
import { buildOutput } from "../hosting/output.ts";
import { browserArguments, browserPath, missingBrowser } from "../prove/browser.ts";
import type { Proofs } from "../prove/proofs.ts";
import { reportHtml, reportOf } from "../prove/report.ts";
import { runProofs } from "../prove/run.ts";
import { serveFolder } from "../prove/serve-folder.ts";
import { layersOption, nameSource, refOption, repoOption } from "../publish/source.ts";
import { describedFor } from "../registry/described.ts";
import { healthPath, type Seen } from "../registry/health.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { langs } from "../registry/smallkey.ts";
import { clientsWith } from "../service/ask.ts";
import { readLayers, watchAll } from "../service/harvester/layers.ts";
import { writeHealth } from "../service/harvester/write-health.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

const help = `
It draws as the catalogue's map does, one layer at a time for each host. The folder gets a picture for each layer, of at
most 12 kB, and report.en.html, report.fr.html and report.json. A run that was interrupted continues where it ended. For a
folder of layers it also writes layers/health.json, as npx fragments watch-services does. It needs Chromium.`;

/** One of several parts of all layers: `3/7`. */
interface Part {
	number: number;
	of: number;
}

function parsePart(text: string): Part {
	const [, number = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
	const part = { number: Number(number), of: Number(of) };
	if (part.of > 0 && part.number <= part.of) return part;
	throw new InvalidArgumentError("It must be a part of all, such as 3/7.");
}

/** The layers of a part: always the same ones, whichever others come and go. */
function inPart({ smallkey }: CheckedLayer, { number, of }: Part): boolean {
	return hashOf(smallkey) % of === number - 1;
}

/** So many layers, spread over all; others on another day. */
function sampleOf(layers: readonly CheckedLayer[], size: number, now: Date): CheckedLayer[] {
	const day = now.toISOString().slice(0, 10);
	const sorted = layers.toSorted((a, b) => hashOf(day + a.smallkey) - hashOf(day + b.smallkey));
	return sorted.slice(0, size);
}

/** A number from 0 to 2³² that a text always has (FNV-1a). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
	return hash;
}

/** Title of each layer in both languages. */
export function titlesOf(layers: readonly CheckedLayer[]) {
	return new Map(
		layers.map((layer) => {
			const titles = langs.map((lang) => {
				const { service_name } = layer.registration[lang] as { service_name?: string };
				return [lang, service_name ?? describedFor(layer, lang).title ?? layer.smallkey];
			});
			return [layer.smallkey, { title: Object.fromEntries(titles) as Record<"en" | "fr", string> }];
		}),
	);
}

/** The state of each drawn layer, as `watch-services` has it. What a service says goes before what the browser saw. */
async function statesOf(
	drawn: readonly CheckedLayer[],
	proofs: Proofs,
	ask: Parameters<typeof watchAll>[1],
): Promise<Map<string, Seen | null>> {
	const failed = drawn.filter(({ smallkey }) => proofs.get(smallkey)?.since !== undefined);
	const watched = await watchAll(failed, ask);
	const said = new Map(watched.map(({ layer, watched: one }) => [layer.smallkey, seenOf(one)]));
	const nothingSeen: Seen = { state: "empty", cause: "draws nothing on the map" };
	return new Map(
		drawn.map(({ smallkey }) => [smallkey, said.has(smallkey) ? (said.get(smallkey) ?? nothingSeen) : null]),
	);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("prove", io)
		.argument("[smallkey...]", "which layers; all where none is named")
		.option("--sample <number>", "so many of the layers, other ones on another day", parseCount)
		.option("--part <part>", "one of several parts of all layers, such as 3/7", parsePart)
		.option("--out <dir>", "the folder of pictures and reports (PICTURES, or DATA_DIR/pictures)")
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const { sample, part, out, ...given } = line.opts();
	const executablePath = browserPath;
	if (executablePath === undefined) throw new Error(missingBrowser);
	const configuration = readConfiguration(withoutStore(environment));
	const folder = resolve(out ?? configuration.pictures);
	const { source, name } = nameSource(given);
	const all = await readLayers(source, [], io);
	const named = line.processedArgs[0];
	const wanted = named.length > 0 ? await readLayers(source, named, io) : all;
	const ofPart = part ? wanted.filter((layer) => inPart(layer, part)) : wanted;
	const layers = sample === undefined ? ofPart : sampleOf(ofPart, sample, io.now());
	printError(io, plain(`Drawing ${counted(layers.length, "layer")} of ${name}`));
	await mkdir(folder, { recursive: true });
	const temporary = await mkdtemp(join(tmpdir(), "fragments-prove-"));
	try {
		const dist = join(temporary, "dist");
		const { problems } = await buildOutput(source, dist, { ...environment, SITE: "on", BASE_MAP: undefined });
		for (const problem of problems) printError(io, plain(problem));
		const { chromium } = await import("playwright-core");
		const { address, close } = await serveFolder(dist);
		const { ask, fetch } = clientsWith(configuration.harvest);
		const { proofs, drawn } = await runProofs({
			openBrowser: () => chromium.launch({ executablePath, args: browserArguments() }),
			site: address,
			fetch,
			clock: () => performance.now(),
			layers,
			registered: new Set(all.map(({ smallkey }) => smallkey)),
			folder,
			name: [name, part ? `part ${part.number}/${part.of}` : "", `${sample ?? ""}`, ...named]
				.join(" ")
				.trim(),
			now: io.now(),
			signal: io.interrupted(),
		}).finally(close);
		if ("folder" in source) {
			const seen = layers.filter(({ smallkey }) => drawn.includes(smallkey));
			await writeHealth(source.folder, await statesOf(seen, proofs, ask), all, io.now());
			printLine(io, `${healthPath} is written`);
		}
		const titles = titlesOf(all);
		const report = reportOf(proofs, titles);
		for (const lang of langs)
			await writeFile(join(folder, `report.${lang}.html`), reportHtml(report, titles, lang));
		await writeFile(join(folder, "report.json"), `${JSON.stringify(report, null, 1)}\n`);
		for (const { smallkey, since } of report.notDrawn)
			printLine(io, plain(`${smallkey}: not drawn since ${since}`));
		printLine(
			io,
			`${report.drawn} of ${counted(report.layers, "layer")} draw, ${report.neverDrawn} not checked yet: ${folder}`,
		);
		return exitCodes.done;
	} finally {
		await rm(temporary, { recursive: true, force: true });
	}
});
