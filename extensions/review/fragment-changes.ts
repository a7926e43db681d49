import { structuredPatch } from "diff";
import type { CheckedLayer } from "../../registry/judge.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts, type TargetName } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { shortened } from "../../registry/untrusted.ts";
import type { ChangedLayer } from "./layer-changes.ts";

export interface FragmentChange {
	lang: Lang;
	target: TargetName;
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

/** Leaves out a target whose changed values earlier targets have: most targets only give them other names. */
function changesIn(lang: Lang, { before, after }: ChangedLayer, settings: FragmentSettings) {
	const linesOf = (layer: CheckedLayer | null, target: TargetName) => {
		if (!layer) return [];
		const facts = layerFacts(lang, layer.smallkey, layer.registration, layer.description, settings);
		const fragment = renderAt(target, facts);
		return fragment === null ? [] : JSON.stringify(JSON.parse(fragment), null, 2).split("\n");
	};
	const changes: FragmentChange[] = [];
	const shownValues = new Set<string>();
	for (const target of settings.targets ?? targetNames) {
		const diff = diffLines(linesOf(before, target), linesOf(after, target));
		const values = changedValues(diff);
		const isFirst = changes.length === 0;
		if (diff.length === 0 || (!isFirst && values.every((value) => shownValues.has(value)))) continue;
		const shown = diff.slice(0, isFirst ? maxLines : maxFurtherLines);
		const lines = shown.map((line) => shortened(line, maxLineLength));
		changes.push({ lang, target, lines, hidden: diff.length - lines.length });
		for (const value of values) shownValues.add(value);
	}
	return changes;
}

/** A line of JSON without its indent. */
const memberLine = /^(?:"(?<name>(?:[^"\\]|\\.)*)": )?(?<value>.*?),?$/;

/** Values with their sign, without brackets, and without a layer's type, which each target names differently. */
function changedValues(diff: string[]): string[] {
	const changed = diff.filter((line) => /^[+-]/.test(line));
	return changed.flatMap((line) => {
		const { name = "", value = "" } = memberLine.exec(line.slice(1).trim())?.groups ?? {};
		return /^[[\]{}]*$/.test(value) || /^(?:layerType|type)$/.test(name) ? [] : [line.charAt(0) + value];
	});
}

function diffLines(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", { context: 3, maxEditLength: maxEdits });
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
