import { counted, firstOf } from "../../terminal/plain.ts";
import type { Class, Comparison, Finding } from "./compare.ts";

/** Smallkeys that are listed of each kind, unless all are requested. */
const maxNamed = 3;

const titles: Readonly<Record<Class, string>> = {
	relevant: "Viewer-relevant: layers that a viewer would draw or ask otherwise",
	missing: "Missing: layers that the new service does not have",
	cosmetic: "Cosmetic: layers in which no viewer sees a difference, or a better one",
	unreadable: "Not compared: layers that the older service cannot serve itself",
};

/** The result as lines of a table, by kind, most frequent first. */
export function reportLines(
	comparison: Comparison,
	smallkeys: readonly string[],
	namesAll: boolean,
): string[] {
	const { findings, targets, unknown, onlyNow } = comparison;
	const lines = [`${counted(smallkeys.length, "layer")} read at ${targets.join(", ")}, in both languages`];
	for (const [name, title] of Object.entries(titles)) {
		const found = findings.filter((finding) => finding.class === name);
		if (found.length > 0) lines.push("", title, ...found.map((finding) => findingLine(finding, namesAll)));
	}
	const others = new Set(findings.flatMap((finding) => [...finding.smallkeys]));
	for (const smallkey of [...unknown, ...onlyNow]) others.add(smallkey);
	lines.push("", row(smallkeys.length - others.size, "the same in both"));
	if (onlyNow.size > 0) lines.push(row(onlyNow.size, `only in the new service: ${named(onlyNow, namesAll)}`));
	if (unknown.size > 0) lines.push(row(unknown.size, `in neither: ${named(unknown, namesAll)}`));
	return lines;
}

function findingLine({ kind, targets, smallkeys }: Finding, namesAll: boolean): string {
	return row(smallkeys.size, `${kind} (${[...targets].join(", ")}): ${named(smallkeys, namesAll)}`);
}

function named(smallkeys: ReadonlySet<string>, namesAll: boolean): string {
	return firstOf([...smallkeys].sort(), namesAll ? Number.POSITIVE_INFINITY : maxNamed);
}

/** A line of a table: a count, and what it counts. */
export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}
