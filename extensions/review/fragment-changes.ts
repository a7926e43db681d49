import { structuredPatch } from "diff";
import type { CheckedLayer } from "../../registry/judge.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts, type TargetName } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { shorten } from "../../registry/untrusted.ts";
import type { ChangedLayer } from "./layer-changes.ts";

export interface FragmentChange {
	lang: Lang;
	target: TargetName;
	/** Targets that change the same, with their own names of members. */
	alike: TargetName[];
	/** Lines of a unified diff. */
	lines: string[];
	/** The number of further lines. */
	hidden: number;
}

const maxLines = 80;

/** Each target after the first shows fewer lines. */
const maxFurtherLines = 20;

/** An image can have a hundred thousand characters. */
const maxLineLength = 300;

/** The time of a diff grows with the square of the lines that differ. */
const maxEdits = 2_000;

export function fragmentChanges(layer: ChangedLayer, settings: FragmentSettings): FragmentChange[] {
	return langs.flatMap((lang) => changesIn(lang, layer, settings));
}

/** Shows a target only if it changes more than each earlier one: most only give members other names. */
function changesIn(lang: Lang, { before, after }: ChangedLayer, settings: FragmentSettings) {
	const fragmentOf = (layer: CheckedLayer | null, target: TargetName): unknown => {
		if (!layer) return null;
		const facts = layerFacts(lang, layer.smallkey, layer.registration, layer.description, settings);
		return JSON.parse(renderAt(target, facts) ?? "null");
	};
	const shown: { change: FragmentChange; counts: Map<string, number> }[] = [];
	for (const target of settings.targets ?? targetNames) {
		const [old, fresh] = [fragmentOf(before, target), fragmentOf(after, target)];
		const diff = diffLines(linesOf(old), linesOf(fresh));
		if (diff.length === 0) continue;
		const counts = countChanges(old, fresh);
		const alike = shown.find((other) => isWithin(counts, other.counts));
		if (alike) {
			alike.change.alike.push(target);
			continue;
		}
		const lines = diff
			.slice(0, shown.length > 0 ? maxFurtherLines : maxLines)
			.map((line) => shorten(line, maxLineLength));
		const change = { lang, target, alike: [], lines, hidden: diff.length - lines.length };
		shown.push({ change, counts });
	}
	return shown.map(({ change }) => change);
}

/** No counts: only types change. */
function isWithin(counts: Map<string, number>, others: Map<string, number>) {
	if (counts.size === 0) return others.size === 0;
	return [...counts].every(([change, count]) => count <= (others.get(change) ?? 0));
}

export function targetsText({ target, alike }: FragmentChange): string {
	return alike.length > 0 ? `${target}; likewise ${alike.join(", ")}` : target;
}

function linesOf(fragment: unknown): string[] {
	return fragment === null ? [] : JSON.stringify(fragment, null, 2).split("\n");
}

/** How many members change from one value to another, of a layer that is added, removed or neither. */
function countChanges(before: unknown, after: unknown): Map<string, number> {
	const [old, fresh] = [new Map(valuesIn(before)), new Map(valuesIn(after))];
	const counts = new Map<string, number>();
	for (const path of new Set([...old.keys(), ...fresh.keys()])) {
		const change = `${before === null} ${after === null} ${old.get(path)} ${fresh.get(path)}`;
		if (old.get(path) !== fresh.get(path)) counts.set(change, (counts.get(change) ?? 0) + 1);
	}
	return counts;
}

/** Without a layer's type, which each target names differently. */
function valuesIn(value: unknown, path = ""): [path: string, value: string][] {
	if (typeof value !== "object" || value === null)
		return value === null && path === "" ? [] : [[path, JSON.stringify(value)]];
	const members = Object.entries(value).filter(([name]) => !/^(?:layerType|type)$/.test(name));
	return members.flatMap(([name, member]) => valuesIn(member, `${path}/${name}`));
}

function diffLines(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", { context: 3, maxEditLength: maxEdits });
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
