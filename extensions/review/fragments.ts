import { createHash } from "node:crypto";
import { structuredPatch } from "diff";
import type { CheckedLayer } from "../../registry/judge.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import type { ChangedLayer } from "./layer-changes.ts";

/** The difference between the fragments before and after in one language; no lines if they are equal. */
export type FragmentChange = ReturnType<typeof fragmentChanges>[number];

/** Characters up to which a string of a fragment is shown in full: an image can have a hundred thousand. */
const maxStringLength = 200;

const maxLines = 80;

/** Lines that may differ before the diff is given up: its time grows with the square of their number. */
const maxEdits = 2_000;

/**
 * Compares a layer's fragments before and after, for each language, in the first target that can express the layer.
 */
export function fragmentChanges(
	layer: Pick<ChangedLayer, "smallkey" | "before" | "after">,
	settings: FragmentSettings,
) {
	return langs.map((lang) => {
		const before = textsOf(layer.before, lang, settings);
		const after = textsOf(layer.after, lang, settings);
		const found = after.findIndex((text, index) => text !== null || before[index] != null);
		const all = differences(linesOf(before[found]), linesOf(after[found]));
		/** Lines of a unified diff: each starts with a space, `+` or `-`. */
		const lines = all.slice(0, maxLines);
		return { lang, lines, hidden: all.length - lines.length };
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

/** Replaces a long string by its start, its length and a digest, so that a change in the hidden part is still visible. */
function shorten(_name: string, value: unknown): unknown {
	if (typeof value !== "string" || value.length <= maxStringLength) return value;
	const digest = createHash("sha256").update(value).digest("hex").slice(0, 12);
	const start = value.slice(0, 60).toWellFormed();
	return `${start}… (${value.length} characters, sha256 ${digest}…)`;
}

function differences(before: string[], after: string[]): string[] {
	if (before.length === 0) return after.map((line) => `+${line}`);
	if (after.length === 0) return before.map((line) => `-${line}`);
	const options = { context: 3, maxEditLength: maxEdits };
	const text = (lines: string[]) => `${lines.join("\n")}\n`;
	const patch = structuredPatch("", "", text(before), text(after), "", "", options);
	if (!patch) return [`-${before.length} lines`, `+${after.length} other lines`];
	return patch.hunks.flatMap((hunk, index) => [...(index > 0 ? [" …"] : []), ...hunk.lines]);
}
