import pMap from "p-map";
import type { Ask } from "../../harvest/net/ask.ts";
import { createWatchLayer, type Watched } from "../../harvest/watch-layer.ts";
import type { SickState } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { langs } from "../../registry/smallkey.ts";
import { progress } from "../../terminal/progress.ts";
import { layersAtOnce } from "./layers.ts";

/** A layer and the result of its check. */
export interface WatchedLayer {
	layer: CheckedLayer;
	watched: Watched;
}

/**
 * Checks layers as a viewer sees them.
 * @throws {Error} where none of several hosts answers: then the fault is this machine's
 */
export async function watchAll(layers: readonly CheckedLayer[], ask: Ask): Promise<WatchedLayer[]> {
	const watch = createWatchLayer(ask);
	const bar = progress(layers.length, "looking at layers");
	const all = await pMap(
		layers,
		async (layer) => {
			const watched = await watch(layer.registration, undefined, layer.description);
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

/** Smallkey → state; null: healthy. */
export function statesOf(all: readonly WatchedLayer[]): Map<string, SickState | null> {
	return new Map(all.map(({ layer, watched }) => [layer.smallkey, watched.state]));
}
