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

/** The input of one run. */
export interface ProveRun extends Omit<DrawOptions, "browser">, PictureOptions {
	/** The layers to draw. */
	layers: readonly CheckedLayer[];
	/** All smallkeys: the proofs of others are removed. */
	registered: ReadonlySet<string>;
	/** Whether to draw layers again that were drawn today. */
	isAgain: boolean;
	/** The day of the run: `2026-03-04`. */
	day: string;
	signal: AbortSignal;
}

/** Hosts whose layers are drawn at the same time, each in a page of its own. */
const hostsAtOnce = 3;

/** Layers that one browser draws: its memory grows. After each browser the proofs are written. */
const layersPerBrowser = 50;

/**
 * Draws the layers of each host one after the other, and records the results. After an interruption, the next run of the
 * same day draws the remaining layers.
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

/** Draws a layer in English, and in French if that is another service or English failed: each page says why it fails. */
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
