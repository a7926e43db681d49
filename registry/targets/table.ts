import type { Description } from "../description.ts";
import { isVersion2, type Registration } from "../registration.ts";
import { type Lang, langs } from "../smallkey.ts";
import { type Problem, problemAt } from "../texts.ts";
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

/** By the age of their viewers. The schemas are `schemas/fragment-<name>.schema.json`. */
export const targets: readonly Target[] = [v09, v1, v2, ramp4, terria];

/** Apart: bundles that only read leave it out. */
const renders: Readonly<Record<TargetName, Render>> = {
	"v0.9": renderV09,
	v1: renderV1,
	v2: renderV2,
	ramp4: renderRamp4,
	terria: renderTerria,
};

export const targetNames: readonly TargetName[] = targets.map(({ name }) => name);

/** Names separated by commas. An error is a text. */
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

export function targetPath(name: TargetName, lang: Lang, smallkey: string): string {
	return `${targetOf(name).doc}/${lang}/${smallkey}`;
}

export function renderAt(name: TargetName, layer: LayerFacts): string | null {
	const fragment = (renders[name] as Render)(layer);
	return fragment && JSON.stringify(fragment);
}

export function readableAt(
	smallkey: string,
	registration: Registration,
	settings: FragmentSettings,
	description: Description | null = null,
): { paths: string[]; warnings: Problem[] } {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, description, settings));
	const paths: string[] = [];
	const warnings: Problem[] = [];
	for (const target of settings.targets ?? targetNames) {
		// Every target can express version 1.x.
		const unread = isVersion2(registration) ? facts.filter((layer) => renderAt(target, layer) === null) : [];
		const read = facts.filter((layer) => !unread.includes(layer));
		paths.push(...read.map(({ lang }) => targetPath(target, lang, smallkey)));
		const where = unread.map(({ lang }) => lang).join(", ");
		// A whole service has no layers before its harvest.
		if (where) warnings.push(problemAt("", "no-form", target, where));
	}
	return { paths, warnings };
}
