import { createHash } from "node:crypto";
import { structuredPatch } from "diff";
import type { CheckedLayer } from "../registry/judge.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../registry/targets/facts.ts";
import { renderAt, targetNames } from "../registry/targets/table.ts";
import type { ChangedLayer } from "./check.ts";

/** What viewers will read otherwise in one language; no lines: the same as before. */
export interface FragmentChange {
	lang: Lang;
	/** As in a unified diff: each starts with a space, `+` or `-`. */
	lines: string[];
	hidden: number;
}

/** Longest string of a fragment that is shown whole, in characters: an image can have a hundred thousand. */
const longestString = 200;

const maxLines = 80;

/** Most lines that may differ for a difference to be looked for: the time for it grows with their square. */
const maxEdits = 2_000;

/**
 * What a layer's fragments are before and after, language by language, in the first target that can express it. A layer
 * that is wrong has none.
 */
export function fragmentChanges(
	layer: Pick<ChangedLayer, "smallkey" | "before" | "after">,
	settings: FragmentSettings,
): FragmentChange[] {
	return langs.map((lang) => {
		const before = textsOf(layer.before, lang, settings);
		const after = textsOf(layer.after, lang, settings);
		const found = after.findIndex((text, index) => text !== null || before[index] != null);
		const all = differences(linesOf(before[found]), linesOf(after[found]));
		return { lang, lines: all.slice(0, maxLines), hidden: Math.max(0, all.length - maxLines) };
	});
}

function textsOf(layer: CheckedLayer | null, lang: Lang, settings: FragmentSettings): (string | null)[] {
	const { targets = targetNames } = settings;
	if (!layer) return targets.map(() => null);
	const facts = layerFacts(lang, layer.smallkey, layer.registration, layer.description, settings);
	return targets.map((name) => renderAt(name, facts));
}

function linesOf(text: string | null | undefined): string[] {
	return text == null ? [] : JSON.stringify(JSON.parse(text, shorten), null, 2).split("\n");
}

/** A long string as its start, its length and a digest, so that a change of its rest still shows. */
function shorten(_name: string, value: unknown): unknown {
	if (typeof value !== "string" || value.length <= longestString) return value;
	const digest = createHash("sha256").update(value).digest("hex").slice(0, 12);
	const start = value.slice(0, 60).toWellFormed();
	return `${start}… (${value.length} characters, sha256 ${digest}…)`;
}

function differences(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const options = { context: 3, maxEditLength: maxEdits };
	const patch = structuredPatch("", "", join(before), join(after), "", "", options);
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}

function join(lines: string[]): string {
	return `${lines.join("\n")}\n`;
}
