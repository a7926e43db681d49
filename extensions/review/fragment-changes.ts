import { structuredPatch } from "diff";
import type { CheckedLayer } from "../../registry/judge.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import {
	type FragmentSettings,
	type LayerFacts,
	layerFacts,
	type TargetName,
} from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { shorten } from "../../registry/untrusted.ts";
import type { ChangedLayer } from "./layer-changes.ts";

export interface FragmentChange {
	lang: Lang;
	target: TargetName;
	/** Later targets that change the same, in members of other names. */
	alike: TargetName[];
	/** Lines of a unified diff. */
	lines: string[];
	/** The number of further lines. */
	hidden: number;
}

const maxLines = 80;

/** For each target after the first. */
const maxFurtherLines = 20;

/** In characters: an image can have a hundred thousand. */
const maxLineLength = 300;

/** The time of a diff grows with the square of the lines that differ. */
const maxEdits = 2_000;

/** Compares what viewers read before and after. Empty if no fragment changes. */
export function compareFragments(layer: ChangedLayer, settings: FragmentSettings): FragmentChange[] {
	return langs.flatMap((lang) => compareTargets(lang, layer, settings));
}

/** Keeps a target only if it changes more than each earlier one: most only give members other names. */
function compareTargets(lang: Lang, { before, after }: ChangedLayer, settings: FragmentSettings) {
	const factsOf = (layer: CheckedLayer | null) =>
		layer && layerFacts(lang, layer.smallkey, layer.registration, layer.description, settings);
	const [oldFacts, freshFacts] = [factsOf(before), factsOf(after)];
	const kept: { change: FragmentChange; counts: ChangeCounts }[] = [];
	for (const target of settings.targets ?? targetNames) {
		const [old, fresh] = [fragmentAt(target, oldFacts), fragmentAt(target, freshFacts)];
		const diff = diffLines(linesOf(old), linesOf(fresh));
		if (diff.length === 0) continue;
		const counts = countChanges(old, fresh);
		const earlier = kept.find((other) => isWithin(counts, other.counts));
		if (earlier) {
			earlier.change.alike.push(target);
			continue;
		}
		const shown = diff.slice(0, kept.length > 0 ? maxFurtherLines : maxLines);
		const lines = shown.map((line) => shorten(line, maxLineLength));
		kept.push({ change: { lang, target, alike: [], lines, hidden: diff.length - lines.length }, counts });
	}
	return kept.map(({ change }) => change);
}

/** Null if there is no layer, or the target has no form for it. */
function fragmentAt(target: TargetName, facts: LayerFacts | null): unknown {
	return facts && JSON.parse(renderAt(target, facts) ?? "null");
}

/** Is added, is removed, old and new value → number of members: `false false "a" "b"` → 2. */
type ChangeCounts = ReadonlyMap<string, number>;

/** Whether the changes are among those of another target. Without counts, only the layer's type changes. */
function isWithin(counts: ChangeCounts, others: ChangeCounts) {
	if (counts.size === 0) return others.size === 0;
	return [...counts].every(([change, count]) => count <= (others.get(change) ?? 0));
}

export function targetsText({ target, alike }: FragmentChange): string {
	return alike.length > 0 ? `${target}; likewise ${alike.join(", ")}` : target;
}

function linesOf(fragment: unknown): string[] {
	return fragment === null ? [] : JSON.stringify(fragment, null, 2).split("\n");
}

function countChanges(before: unknown, after: unknown): ChangeCounts {
	const [old, fresh] = [new Map(valuesIn(before)), new Map(valuesIn(after))];
	const counts = new Map<string, number>();
	for (const path of new Set([...old.keys(), ...fresh.keys()])) {
		if (old.get(path) === fresh.get(path)) continue;
		const change = `${before === null} ${after === null} ${old.get(path)} ${fresh.get(path)}`;
		counts.set(change, (counts.get(change) ?? 0) + 1);
	}
	return counts;
}

/** Leaves out a layer's type, which each target names differently. */
function valuesIn(value: unknown, path = ""): [path: string, value: string][] {
	if (value === null && path === "") return [];
	if (typeof value !== "object" || value === null) return [[path, JSON.stringify(value)]];
	const members = Object.entries(value).filter(([name]) => !/^(?:layerType|type)$/.test(name));
	return members.flatMap(([name, member]) => valuesIn(member, `${path}/${name}`));
}

/** A unified diff without its head; two lines with numbers if more than `maxEdits` lines differ. */
function diffLines(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", { context: 3, maxEditLength: maxEdits });
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
