import { rm } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import type { CheckedLayer } from "../registry/judge.ts";
import { namedLayers } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { progress } from "../terminal/progress.ts";
import { openBrowser } from "./browser.ts";
import { type Drawn, type DrawOptions, drawLayer } from "./draw.ts";
import { addProof, type PictureOptions, type Proofs, readProofs, writeProofs } from "./proofs.ts";

/** What one run works on. */
export interface ProveRun extends Omit<DrawOptions, "browser">, PictureOptions {
	/** The layers that are drawn. */
	layers: readonly CheckedLayer[];
	/** All smallkeys: what is known of others is forgotten. */
	registered: ReadonlySet<string>;
	/** Whether layers that were drawn today are drawn again. */
	isAgain: boolean;
	/** The day of the run: `2026-03-04`. */
	day: string;
	signal: AbortSignal;
}

/** Browsers' pages at a time, each for another host. */
const hostsAtOnce = 3;

/** Layers that one browser draws, since it grows; after them is written what is known. */
const layersPerBrowser = 50;

/**
 * Draws layers one after the other at each host, and keeps what was seen. Where a run was interrupted, the next one of the
 * day goes on.
 * @returns all proofs
 */
export async function runProofs(options: ProveRun): Promise<Proofs> {
	const { layers, folder, registered, isAgain, day, signal } = options;
	const proofs = await readProofs(folder);
	for (const [smallkey, { picture }] of proofs) {
		if (registered.has(smallkey)) continue;
		if (picture !== undefined) await rm(join(folder, picture), { force: true });
		proofs.delete(smallkey);
	}
	const left = layers.filter(({ smallkey }) => isAgain || proofs.get(smallkey)?.day !== day);
	const bar = progress(left.length, "drawing layers");
	try {
		for (let at = 0; at < left.length && !signal.aborted; at += layersPerBrowser)
			await drawSome(left.slice(at, at + layersPerBrowser));
	} finally {
		bar.stop();
		writeProofs(folder, proofs);
	}
	return proofs;

	async function drawSome(some: readonly CheckedLayer[]): Promise<void> {
		const browser = await openBrowser();
		try {
			const drawHost = async (ofHost: CheckedLayer[]) => {
				for (const layer of ofHost) {
					if (signal.aborted) return;
					const drawn = await drawLangs({ ...options, browser }, layer);
					await addProof(options, proofs, layer.smallkey, drawn, day);
					bar.tick();
				}
			};
			await pMap(byHost(some), drawHost, { concurrency: hostsAtOnce });
		} finally {
			writeProofs(folder, proofs);
			await browser.close();
		}
	}
}

function byHost(layers: readonly CheckedLayer[]): CheckedLayer[][] {
	const hosts = new Map<string, CheckedLayer[]>();
	for (const layer of layers) {
		const { host } = new URL(layer.registration.en.service_url);
		hosts.set(host, [...(hosts.get(host) ?? []), layer]);
	}
	return [...hosts.values()];
}

/** Draws both languages, or one where they are the same service; where that fails both, since the page says why. */
async function drawLangs(
	options: DrawOptions,
	{ smallkey, registration }: CheckedLayer,
): Promise<Partial<Record<Lang, Drawn>>> {
	const places = langs.map((lang) =>
		[registration[lang].service_url, ...namedLayers(registration, lang)].join("\n"),
	);
	const en = await drawLayer(options, smallkey, "en");
	if (en.isDrawn && places[0] === places[1]) return { en };
	return { en, fr: await drawLayer(options, smallkey, "fr") };
}
