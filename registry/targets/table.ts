import type { Description } from "../description.ts";
import type { Registration } from "../registration.ts";
import { type Lang, langs } from "../smallkey.ts";
import {
	type FragmentSettings,
	type LayerFacts,
	layerFacts,
	type Render,
	type Target,
	type TargetName,
} from "./facts.ts";
import { renderV1, renderV09, v1, v09 } from "./ramp.ts";
import { ramp4, renderRamp4 } from "./ramp4.ts";
import { renderTerria, terria } from "./terria.ts";
import { renderV2, v2 } from "./v2.ts";

/** The oldest viewer first. Each has a schema, `schemas/fragment-<name>.schema.json`. */
export const targets: readonly Target[] = [v09, v1, v2, ramp4, terria];

/** Not in `Target`: bundles that only read leave it out. */
const renders: Readonly<Record<TargetName, Render>> = {
	"v0.9": renderV09,
	v1: renderV1,
	v2: renderV2,
	ramp4: renderRamp4,
	terria: renderTerria,
};

export const targetNames: readonly TargetName[] = targets.map(({ name }) => name);

/** `v2,v1` → `["v1", "v2"]`, or the rule that it breaks. */
export function parseTargets(text: string): readonly TargetName[] | string {
	const names = text.split(",").map((name) => name.trim());
	const unknown = names.find((name) => !targetNames.includes(name));
	if (unknown !== undefined) return `must be some of ${targetNames.join(",")}, not ${unknown || "nothing"}`;
	return targetNames.filter((name) => names.includes(name));
}

export function targetOf(name: TargetName): Target {
	const target = targets.find((candidate) => candidate.name === name);
	if (!target) throw new Error(`${name}: is not a target`);
	return target;
}

/** `v2/doc/en/23ax5t` */
export function targetPath(name: TargetName, lang: Lang, smallkey: string): string {
	return `${targetOf(name).doc}/${lang}/${smallkey}`;
}

/** JSON; null if the target has no form for this layer. */
export function renderAt(name: TargetName, layer: LayerFacts): string | null {
	const fragment = (renders[name] as Render)(layer);
	return fragment && JSON.stringify(fragment);
}

/** In each target that can show the layer. */
export function readPathsOf(
	smallkey: string,
	registration: Registration,
	settings: FragmentSettings,
	description: Description | null = null,
): string[] {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, description, settings));
	return (settings.targets ?? targetNames).flatMap((target) => {
		const rendered = facts.filter((layer) => renderAt(target, layer) !== null);
		return rendered.map(({ lang }) => targetPath(target, lang, smallkey));
	});
}
