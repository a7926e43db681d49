import type { Lang } from "../smallkey.ts";
import { ramp4, renderRamp4 } from "./ramp4.ts";
import type { Render, Target, TargetName } from "./target.ts";
import { renderTerria, terria } from "./terria.ts";
import { renderV09, v09 } from "./v0.9.ts";
import { renderV1, v1 } from "./v1.ts";
import { renderV2, v2 } from "./v2.ts";

/**
 * Every target, in the order of their viewers' age. Routes, the build, the hosting rules, the OpenAPI document and the
 * tests follow from this table; a target's schema is `schemas/fragment-<name>.schema.json`.
 */
export const targets: readonly Target[] = [v09, v1, v2, ramp4, terria];

/** How each of them is written. Apart from `targets`, so that a bundle that only reads fragments leaves it out. */
export const renders: readonly Render[] = [renderV09, renderV1, renderV2, renderRamp4, renderTerria];

/** Names of all targets. */
export const targetNames: readonly TargetName[] = targets.map(({ name }) => name);

/**
 * Reads `TARGETS`: names with commas between them, in any order.
 * @returns the names in the table's order, or what is wrong as a text
 */
export function parseTargets(text: string): readonly TargetName[] | string {
	const names = text.split(",").map((name) => name.trim());
	const unknown = names.find((name) => !targetNames.includes(name));
	if (unknown !== undefined) return `must be some of ${targetNames.join(",")}, not ${unknown || "nothing"}`;
	return targetNames.filter((name) => names.includes(name));
}

const byName = new Map(targets.map((target) => [target.name, target]));

/** The target of a name. @throws {Error} where the table has none */
export function targetOf(name: TargetName): Target {
	const target = byName.get(name);
	if (!target) throw new Error(`${name}: is not a target`);
	return target;
}

/** The path at which a layer is read in a target, which is also its file's: `v0.9/doc/en/23ax5t`. */
export function targetPath(name: TargetName, lang: Lang, smallkey: string): string {
	return `${targetOf(name).doc}/${lang}/${smallkey}`;
}
