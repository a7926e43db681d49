import { rm } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import type { Browser } from "playwright-core";
import type { CheckedLayer } from "../registry/judge.ts";
import { namedLayers } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { progress } from "../terminal/progress.ts";
import { type Drawn, type DrawOptions, drawLayer } from "./draw.ts";
import {
	addProof,
	type PictureOptions,
	type Proofs,
	readProofs,
	readUnfinished,
	writeProofs,
	writeUnfinished,
} from "./proofs.ts";

/** What one run works on. */
export interface ProveRun extends Omit<DrawOptions, "browser">, PictureOptions {
	openBrowser: () => Promise<Browser>;
	/** The layers that are drawn. */
	layers: readonly CheckedLayer[];
	/** All smallkeys: what is known of others is forgotten. */
	registered: ReadonlySet<string>;
	/** Which layers these are, in words: an unfinished run of the same goes on where it ended. */
	name: string;
	now: Date;
	signal: AbortSignal;
}

/** Browsers' pages at a time, each for another host. */
const hostsAtOnce = 3;

/** Layers between two writes of what is known, and until the browser is replaced: it grows. */
const layersPerWrite = 20;
const layersPerBrowser = 200;

/** Draws layers one after the other at each host, and keeps what was seen. @returns all proofs */
export async function runProofs(options: ProveRun): Promise<{ proofs: Proofs; drawn: string[] }> {
	const { layers, folder, name, registered, now, signal } = options;
	const proofs = await readProofs(folder);
	for (const [smallkey, { picture }] of proofs) {
		if (registered.has(smallkey)) continue;
		if (picture !== undefined) await rm(join(folder, picture), { force: true });
		proofs.delete(smallkey);
	}
	const done = await readUnfinished(folder, name);
	const bar = progress(layers.length, "drawing layers");
	bar.tick(done.size);
	const browsers = createBrowsers(options.openBrowser);
	const save = async () => {
		await writeUnfinished(folder, name, [...done]);
		writeProofs(folder, proofs);
	};
	const left = layers.filter(({ smallkey }) => !done.has(smallkey));
	try {
		await pMap(
			byHost(left),
			async (ofHost) => {
				for (const layer of ofHost) {
					if (signal.aborted) return;
					const drawn = await browsers.use((browser) => drawLangs({ ...options, browser }, layer));
					await addProof(options, proofs, layer.smallkey, drawn, now.toISOString().slice(0, 10));
					done.add(layer.smallkey);
					bar.tick();
					if (done.size % layersPerWrite === 0) await save();
				}
			},
			{ concurrency: hostsAtOnce },
		);
		await save();
		if (!signal.aborted) await writeUnfinished(folder, name, []);
	} finally {
		bar.stop();
		await browsers.close();
	}
	return { proofs, drawn: [...done] };
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

/** A browser that is replaced after some layers, once no page of it is open. */
function createBrowsers(open: () => Promise<Browser>) {
	let current: { browser: Promise<Browser>; used: number; open: number } | null = null;
	return {
		async use<T>(work: (browser: Browser) => Promise<T>): Promise<T> {
			current ??= { browser: open(), used: 0, open: 0 };
			const own = current;
			own.used += 1;
			own.open += 1;
			if (own.used >= layersPerBrowser) current = null;
			try {
				return await work(await own.browser);
			} finally {
				own.open -= 1;
				if (own !== current && own.open === 0) await (await own.browser).close();
			}
		},
		async close(): Promise<void> {
			await (await current?.browser)?.close();
		},
	};
}
