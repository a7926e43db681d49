import type { Description } from "../description.ts";
import type { Registration } from "../registration.ts";
import type { Lang } from "../smallkey.ts";
import { type FragmentSettings, layerFacts } from "./facts.ts";
import { ramp4 } from "./ramp4.ts";
import type { Target, TargetName } from "./target.ts";
import { v09 } from "./v0.9.ts";
import { v1 } from "./v1.ts";
import { v2 } from "./v2.ts";

/** Every target. The build, the memory, the routes, the hosting rules and the tests follow from this table. */
export const targets: readonly Target[] = [v09, v1, v2, ramp4];

/** Names of all targets, in the table's order. */
export const targetNames: readonly TargetName[] = targets.map(({ name }) => name);

/**
 * Reads `TARGETS`: names with commas between them, in any order.
 * @returns the targets in the table's order, or what is wrong as a text
 */
export function parseTargets(text: string): readonly Target[] | string {
	const names = text.split(",").map((name) => name.trim());
	const unknown = names.find((name) => !targets.some((target) => target.name === name));
	if (unknown !== undefined) return `must be some of ${targetNames.join(",")}, not ${unknown || "nothing"}`;
	return targets.filter(({ name }) => names.includes(name));
}

/** The path of a layer's file in a target: `v0.9/doc/en/23ax5t`. */
export function targetPath(target: Target, lang: Lang, smallkey: string): string {
	return `${target.doc}/${lang}/${smallkey}`;
}

/**
 * A layer in one language at several targets.
 * @param description counts for a language only while its `service_url` is the registered one; null: the generic form
 * @returns JSON for each of `wanted`, null where the layer cannot be expressed there
 */
export function renderLayer(
	wanted: readonly Target[],
	lang: Lang,
	smallkey: string,
	registration: Registration,
	description: Description | null,
	settings: FragmentSettings,
): (string | null)[] {
	const layer = layerFacts(lang, smallkey, registration, description, settings);
	return wanted.map((target) => target.render(layer));
}
