// npx fragment-publisher prove: draws layers in a browser, and records for each whether it can be seen, with a picture
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { proposedFolder } from "../catalogue/thumbnails.ts";
import { quote, seenOf } from "../harvest/finding.ts";
import { describedFor } from "../registry/description.ts";
import { healthPath, type Seen } from "../registry/health.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { clientsWith } from "../service/ask.ts";
import { readLayers, watchAll, writeHealth } from "../service/harvester/layers.ts";
import { createNotifier } from "../service/notify.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { withTemporaryFolder } from "../system/files/temporary-folder.ts";
import { createRun, parseCount } from "../system/terminal/command-line.ts";
import { counted, plain } from "../system/terminal/plain.ts";
import { buildOutput } from "./host/output.ts";
import { needBrowser, serveFolder } from "./host/prove/browser.ts";
import { type Proof, runProofs } from "./host/prove/proofs.ts";
import { writeProposedLayers } from "./host/prove/proposed.ts";
import { reportHtml, reportOf } from "./host/prove/report.ts";
import { layersOption, nameSource, refOption, repoOption } from "./source.ts";

const help = `
It draws as the catalogue's map does, one layer at a time for each host. The folder gets a picture for each layer, of at
most 12 kB, and report.en.html, report.fr.html and report.json. What was drawn today is not drawn again, unless it is
named, so that an interrupted run continues. For a folder of layers it also writes layers/health.json, as npx fragment-publisher
watch-services does. It needs Chromium. --proposed draws the layers of the repairs that wait, as they would be, into the
folder proposed/ beside the other pictures.`;

/** Parses a part of all layers: `3/7` is the third of seven parts. */
function parsePart(text: string) {
	const [, number = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
	const part = { number: Number(number), of: Number(of) };
	if (part.of > 0 && part.number <= part.of) return part;
	throw new InvalidArgumentError("It must be a part of all, such as 3/7.");
}

/**
 * Chooses layers. A layer is always in the same part, whatever other layers there are. A sample is spread over all layers,
 * and has others each day.
 */
export function chooseLayers<Layer extends Pick<CheckedLayer, "smallkey">>(
	layers: readonly Layer[],
	{ part, sample }: { part?: ReturnType<typeof parsePart> | undefined; sample?: number | undefined },
	now: Date,
): Layer[] {
	const ofPart = part
		? layers.filter(({ smallkey }) => hashOf(smallkey) % part.of === part.number - 1)
		: [...layers];
	if (sample === undefined) return ofPart;
	const day = now.toISOString().slice(0, 10);
	return ofPart.sort((a, b) => hashOf(day + a.smallkey) - hashOf(day + b.smallkey)).slice(0, sample);
}

/** A hash of a text: from 0 to 2³² - 1, and always the same for the same text. */
function hashOf(text: string): number {
	return createHash("sha256").update(text).digest().readUInt32BE();
}

/** The title of a layer in one language. */
function titleOf(layer: CheckedLayer, lang: Lang): string {
	return layer.registration[lang].service_name ?? describedFor(layer, lang).title ?? layer.smallkey;
}

/** The state of a layer that the browser does not draw, with the page's reason if it had one. */
function unseen(proof: Proof | undefined): Seen {
	const reason = Object.values(proof?.langs ?? {}).find(
		({ isDrawn, isBlank, text }) => !isDrawn && !isBlank && text,
	);
	return { state: "empty", cause: reason ? quote(reason.text) : "draws nothing on the map" };
}

export const run = createRun("prove", async ({ read, environment, io }) => {
	const [{ sample, part, proposed, out, ...given }, named] = await read((line) =>
		line
			.argument("[smallkey...]", "which layers; all where none is named")
			.option("--sample <number>", "so many of the layers, other ones on another day", parseCount)
			.option("--part <part>", "one of several parts of all layers, such as 3/7", parsePart)
			.option("--proposed", "the repairs that wait in the repository, as they would be")
			.option("--out <dir>", "the folder of pictures and reports (PICTURES, or DATA_DIR/pictures)")
			.addOption(layersOption)
			.addOption(repoOption)
			.addOption(refOption)
			.addHelpText("after", help),
	);
	needBrowser();
	const configuration = readConfiguration(withoutStore(environment));
	const pictures = resolve(out ?? configuration.pictures);
	const folder = proposed ? join(pictures, proposedFolder) : pictures;
	const { source: registered, name } = nameSource(given);
	if (proposed && "folder" in registered) throw new Error("--proposed: is for --repo");
	await mkdir(folder, { recursive: true });
	await withTemporaryFolder("fragments-prove-", async (temporary) => {
		if (proposed && "ref" in registered)
			await writeProposedLayers(registered.repository, registered.ref, temporary);
		const source = proposed ? { folder: join(temporary, "layers") } : registered;
		const all = await readLayers(source, [], io);
		const wanted = named.length > 0 ? await readLayers(source, named, io) : all;
		const layers = chooseLayers(wanted, { part, sample }, io.now());
		io.warn(plain(`Drawing ${counted(layers.length, "layer")} of ${name}`));
		const dist = join(temporary, "dist");
		const { problems } = await buildOutput(source, dist, { ...environment, SITE: "on", BASE_MAP: undefined });
		for (const problem of problems) io.warn(plain(problem));
		const { address, close } = await serveFolder(dist);
		const { ask, fetch } = clientsWith(configuration.harvest);
		const day = io.now().toISOString().slice(0, 10);
		const proofs = await runProofs({
			site: address,
			fetch,
			layers,
			registered: new Set(all.map(({ smallkey }) => smallkey)),
			folder,
			hasFixedNames: proposed ?? false,
			isAgain: proposed ?? named.length > 0,
			day,
			signal: io.interrupted(),
		}).finally(close);
		if ("folder" in registered) {
			const drawn = layers.filter(({ smallkey }) => proofs.get(smallkey)?.day === day);
			const states = new Map<string, Seen | null>(drawn.map(({ smallkey }) => [smallkey, null]));
			const failed = drawn.filter(({ smallkey }) => proofs.get(smallkey)?.since !== undefined);
			// A state that its service shows precedes what the browser saw.
			for (const layer of await watchAll(failed, ask))
				states.set(layer.smallkey, seenOf(layer) ?? unseen(proofs.get(layer.smallkey)));
			await writeHealth(registered.folder, states, all, io.now());
			io.print(`${healthPath} is written`);
		}
		const titles = all.map(
			(layer) => [layer.smallkey, { en: titleOf(layer, "en"), fr: titleOf(layer, "fr") }] as const,
		);
		const report = reportOf(proofs, new Map(titles));
		for (const lang of langs) await writeFile(join(folder, `report.${lang}.html`), reportHtml(report, lang));
		await writeFile(join(folder, "report.json"), `${JSON.stringify(report, null, 1)}\n`);
		if (configuration.notify && !proposed) {
			const { notify: target } = configuration;
			const notifier = createNotifier({
				target,
				now: io.now,
				warn: (line) => io.warn(plain(line)),
				pausesMs: [1_000],
			});
			const failed = report.notDrawn.filter(({ since = "" }) => since === day);
			await notifier.notify({
				event: "proof",
				layers: failed.map(({ smallkey, since = day }) => ({ smallkey, since })),
			});
		}
		for (const { smallkey, since } of report.notDrawn)
			io.print(plain(`${smallkey}: not drawn since ${since}`));
		io.print(
			`${report.drawn.length} of ${counted(report.layers, "layer")} draw, ${report.unknown} not checked yet: ${folder}`,
		);
	});
});
