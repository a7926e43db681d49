import * as assert from "uvu/assert";
import { type LegendEntry, pairLegend } from "../../../harvest/arcgis/renderer.ts";
import { test } from "../../helpers/suite.ts";

/** Entries that count how often their labels and values are read. */
function counted(count: number, label: (index: number) => string) {
	const reads = { count: 0 };
	const entries = Array.from({ length: count }, (_, index): LegendEntry => {
		return {
			get label() {
				reads.count += 1;
				return label(index);
			},
			get values() {
				reads.count += 1;
				return [`v${index}`];
			},
			image: String(index),
		};
	});
	return { entries, reads };
}

const classes = (count: number, label: (index: number) => string) =>
	Array.from({ length: count }, (_, index) => ({ label: label(index), value: `w${index}` }));

test("the work of pairing grows with the number of classes and of entries, not with their product", () => {
	for (const label of [() => "same", (index: number) => `label ${index}`, () => ""]) {
		const { entries, reads } = counted(100_000, label);
		const paired = pairLegend(classes(1000, label), "other", entries);
		assert.is(paired.classes.length, 1000);
		assert.ok(reads.count < 5 * 101_000, `${reads.count} reads`);
		const few = counted(1001, label);
		pairLegend(
			classes(1000, () => "x"),
			"other",
			few.entries,
		);
		assert.ok(few.reads.count < 20 * 1001, `${few.reads.count} reads`);
	}
});

test("a class without an entry of its own gets none of another's, and names of objects are plain labels", () => {
	const entries = ["__proto__", "constructor", "a"].map((label) => ({ label, values: [], image: label }));
	const paired = pairLegend(
		["a", "toString", "__proto__", "b"].map((label) => ({ label, value: label })),
		null,
		entries,
	);
	assert.equal(paired, { classes: ["a", null, "__proto__", null], default: null });
});

test("as many entries as classes, in another order: what no label claims is paired by its position", () => {
	const entries = ["b", "stray", "a"].map((label) => ({ label, values: [], image: label }));
	const wanted = ["a", "unknown", "b"].map((label) => ({ label, value: label }));
	assert.equal(pairLegend(wanted, null, entries).classes, ["a", "stray", "b"]);
});

test.run();
