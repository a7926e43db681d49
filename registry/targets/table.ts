import type { Lang } from "../smallkey.ts";
import { type TargetName, targetNames } from "./names.ts";
import { ramp4 } from "./ramp4.ts";
import type { Target } from "./target.ts";
import { v09 } from "./v0.9.ts";
import { v1 } from "./v1.ts";
import { v2 } from "./v2.ts";

/** Every target: how each is written stands in render.ts. The build, the memory, the routes, the hosting rules and the tests follow from this table. */
export const targets: readonly Target[] = [v09, v1, v2, ramp4];

/**
 * Reads `TARGETS`: names with commas between them, in any order.
 * @returns the names in the table's order, or what is wrong as a text
 */
export function parseTargets(text: string): readonly TargetName[] | string {
	const names = text.split(",").map((name) => name.trim());
	const unknown = names.find((name) => !(targetNames as readonly string[]).includes(name));
	if (unknown !== undefined) return `must be some of ${targetNames.join(",")}, not ${unknown || "nothing"}`;
	return targetNames.filter((name) => names.includes(name));
}

const byName = new Map(targets.map((target) => [target.name, target]));

/** The target of a name. */
export function targetOf(name: TargetName): Target {
	return byName.get(name) as Target;
}

/** The path at which a layer is read in a target, which is also its file's: `v0.9/doc/en/23ax5t`. */
export function targetPath(name: TargetName, lang: Lang, smallkey: string): string {
	return `${targetOf(name).doc}/${lang}/${smallkey}`;
}
