import type { Description } from "../description.ts";
import type { Registration } from "../registration.ts";
import type { Lang } from "../smallkey.ts";
import { type FragmentSettings, type LayerFacts, layerFacts } from "./facts.ts";
import { renders, targetNames } from "./table.ts";
import type { TargetName } from "./target.ts";

/** A layer in one target, as JSON; null where it cannot be expressed there. */
export function renderAt(name: TargetName, layer: LayerFacts): string | null {
	const render = renders[targetNames.indexOf(name)];
	if (!render) throw new Error(`${name}: is not a target`);
	return render(layer);
}

/**
 * A layer in one language at several targets.
 * @param wanted names of targets
 * @param description used for a language only while its `service_url` is the registered one; null: the generic form
 * @returns JSON for each of `wanted`, null where the layer cannot be expressed there
 */
export function renderLayer(
	wanted: readonly TargetName[],
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
): (string | null)[] {
	const layer = layerFacts(lang, smallkey, registration, description, settings);
	return wanted.map((name) => renderAt(name, layer));
}
