import pMap from "p-map";
import type { Ask } from "../../harvest/net/ask.ts";
import { createWatchLayer, type Watched } from "../../harvest/watch-layer.ts";
import type { SickState } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { langs } from "../../registry/smallkey.ts";
import { progress } from "../../terminal/progress.ts";
import { layersAtOnce } from "./layers.ts";

/** A layer, and what is to be seen of it. */
export interface WatchedLayer {
	layer: CheckedLayer;
	watched: Watched;
}

/**
 * Looks at layers as a viewer would.
 * @throws {Error} where no service of several hosts answers: that says something of this machine, and not of them
 */
export async function watchAll(layers: readonly CheckedLayer[], ask: Ask): Promise<WatchedLayer[]> {
	const watch = createWatchLayer(ask);
	const bar = progress(layers.length, "looking at layers");
	const all = await pMap(
		layers,
		async (layer) => {
			const watched = await watch(layer.registration);
			bar.tick();
			return { layer, watched };
		},
		{ concurrency: layersAtOnce },
	).finally(() => bar.stop());
	const hosts = new Set(all.flatMap(({ layer }) => hostsOf(layer)));
	if (hosts.size > 1 && all.every(({ watched }) => watched.state === "down")) {
		const [first] = all[0]?.watched.findings ?? [];
		throw new Error(`none of ${hosts.size} hosts can be asked from here: ${first?.text}`);
	}
	return all;
}

function hostsOf({ registration }: CheckedLayer): string[] {
	return langs.map((lang) => new URL(registration[lang].service_url).host);
}

/** Smallkey → what was seen; null: well. */
export function statesOf(all: readonly WatchedLayer[]): Map<string, SickState | null> {
	return new Map(all.map(({ layer, watched }) => [layer.smallkey, watched.state]));
}
