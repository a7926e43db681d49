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

/** Of each target after the first. */
const maxFurtherLines = 20;

/** Characters of a line: an image can have a hundred thousand. */
const maxLineLength = 300;

/** The time of a diff grows with the square of the lines that differ. */
const maxEdits = 2_000;

/** Leaves out a target whose changed values earlier targets have: most targets only give them other names. */
export function fragmentChanges(layer: ChangedLayer, settings: FragmentSettings): FragmentChange[] {
	return langs.flatMap((lang) => {
		const linesOf = (state: CheckedLayer | null, target: TargetName) => {
			if (!state) return [];
			const { registration, description } = state;
			const facts = layerFacts(lang, layer.smallkey, registration, description, settings);
			const fragment = renderAt(target, facts);
			return fragment === null ? [] : JSON.stringify(JSON.parse(fragment), null, 2).split("\n");
		};
		const changes: FragmentChange[] = [];
		const seen = new Set<string>();
		for (const target of settings.targets ?? targetNames) {
			const all = differences(linesOf(layer.before, target), linesOf(layer.after, target));
			const values = all.flatMap(changedValue);
			if (all.length === 0 || (changes.length > 0 && values.every((value) => seen.has(value)))) continue;
			const lines = all
				.slice(0, changes.length === 0 ? maxLines : maxFurtherLines)
				.map((line) => shortened(line, maxLineLength));
			changes.push({ lang, target, lines, hidden: all.length - lines.length });
			for (const value of values) seen.add(value);
		}
		return changes;
	});
}

/** The name of a member, its value. */
const memberLine = /^(?:"((?:[^"\\]|\\.)*)": )?(.*?),?$/;

/** The value with its sign; empty for brackets, and for a layer's type, which each target names differently. */
function changedValue(line: string): string[] {
	if (!/^[+-]/.test(line)) return [];
	const [, name = "", value = ""] = memberLine.exec(line.slice(1).trim()) ?? [];
	return /^[[\]{}]*$/.test(value) || /^(?:layerType|type)$/.test(name) ? [] : [line.charAt(0) + value];
}

function differences(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const [old, fresh] = [before, after].map((lines) => `${lines.join("\n")}\n`) as [string, string];
	const patch = structuredPatch("", "", old, fresh, "", "", { context: 3, maxEditLength: maxEdits });
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
