import type { Description } from "../description.ts";
import type { Registration } from "../registration.ts";
import type { Lang } from "../smallkey.ts";
import { type FragmentSettings, type LayerFacts, layerFacts } from "./facts.ts";
import type { TargetName } from "./names.ts";
import { renderRamp4 } from "./ramp4.ts";
import type { Render } from "./target.ts";
import { renderV09 } from "./v0.9.ts";
import { renderV1 } from "./v1.ts";
import { renderV2 } from "./v2.ts";

/** How each target is written. Not in the table of targets: who only reads fragments does not need it. */
const renders: Readonly<Record<TargetName, Render>> = {
	"v0.9": renderV09,
	v1: renderV1,
	v2: renderV2,
	ramp4: renderRamp4,
};

/** A layer in one target, as JSON; null where it cannot be expressed there. */
export function renderAt(name: TargetName, layer: LayerFacts): string | null {
	return renders[name](layer);
}

/**
 * A layer in one language at several targets.
 * @param wanted names of targets
 * @param description counts for a language only while its `service_url` is the registered one; null: the generic form
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
