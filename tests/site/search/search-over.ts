import * as assert from "uvu/assert";
import type { Entry } from "../../../registry/entries.ts";
import { Matcher } from "../../../site/search/matcher.ts";
import { type Choice, Selection, sorts } from "../../../site/search/select.ts";
import { suite } from "../../helpers/suite.ts";
import { generateCatalogue } from "./catalogue.ts";
import { heldOutLayers, heldOutQueries } from "./held-out.ts";
import { queries } from "./queries.ts";

/** A choice of all layers. */
export const any: Choice = {
	type: "",
	host: "",
	sender: "",
	health: "",
	theme: "",
	title: "",
	bounds: null,
	sort: "best",
};

/** Number of comparisons that arrays are sorted with meanwhile: the same on every machine, as times are not. */
function comparisons(work: () => unknown): number {
	const { sort } = Array.prototype;
	let made = 0;
	Array.prototype.sort = function <Item>(this: Item[], compare: (a: Item, b: Item) => number) {
		return sort.call(this, (a, b) => {
			made += 1;
			return compare(a, b);
		}) as Item[];
	} as typeof sort;
	try {
		work();
	} finally {
		Array.prototype.sort = sort;
	}
	return made;
}

/** Tests the search over a catalogue with a number of layers. */
export function searchOver(count: number): void {
	const found = suite(`search over ${count} layers`);
	const entries = [...generateCatalogue(count - heldOutLayers.length), ...heldOutLayers];
	const matcher = new Matcher();
	matcher.add(entries);
	const keysOf = (text: string) => matcher.match(text).ids.map((id) => entries[id]?.smallkey);

	found("nine of ten queries have the layer that is meant among the first three", () => {
		assert.ok(queries.length >= 40);
		const missed = queries.filter(([text, smallkey]) => !keysOf(text).slice(0, 3).includes(smallkey));
		assert.ok(missed.length * 10 <= queries.length, `missed: ${missed.map(([text]) => text).join(" | ")}`);
	});

	found("what was typed is first: other words, beginnings, abbreviations and the other language, too", () => {
		const textOf = ({ smallkey, title, sender }: Entry) =>
			[smallkey, title.en, title.fr, typeof sender === "object" ? sender.en : sender].join(" | ");
		const missed = heldOutQueries.filter(([text, wanted]) => {
			const first = entries[matcher.match(text).ids[0] ?? -1];
			if (typeof wanted === "string") return first?.smallkey !== wanted;
			return !wanted.test(first ? textOf(first) : "");
		});
		const texts = missed.map(([text]) => text).join(" | ");
		assert.ok(missed.length * 32 <= heldOutQueries.length, `missed: ${texts}`);
		for (const [text, wanted] of heldOutQueries)
			if (wanted === text.toLowerCase())
				assert.is(entries[matcher.match(text).ids[0] ?? -1]?.smallkey, wanted);
	});

	found("an exact title and an exact key come first, of whatever layer", () => {
		for (let at = 0; at < count; at += Math.floor(count / 20)) {
			const { smallkey, title } = entries[at] as Entry;
			for (const text of [
				smallkey,
				smallkey.toUpperCase(),
				title.en,
				title.fr,
				` ${title.fr.toLowerCase().replaceAll("’", "'").replaceAll(" – ", " - ")} `,
			])
				assert.is(keysOf(text)[0], smallkey, text);
		}
	});

	found("a chunk that arrives is merged into the sorted list, and a keystroke sorts no layer", () => {
		const [before, chunk] = [entries.slice(300), entries.slice(0, 300)];
		const selection = new Selection("fr");
		selection.add(before);
		for (const sort of sorts) selection.select(null, { ...any, sort });
		selection.add(chunk);
		const added = comparisons(() => {
			selection.select(null, any);
			selection.newest(3);
		});
		// Each layer once to see that it is in order, and each of the chunk with its neighbours; sorting would be log2(count).
		assert.ok(added < 2 * count + 300 * 2 * Math.log2(count), String(added));
		assert.is(selection.size, count);
		selection.select(null, { ...any, sort: "changed" });
		const { ids } = matcher.match("census");
		for (const sort of sorts) {
			const typed = comparisons(() => selection.select(ids, { ...any, sort, type: "wms" }));
			assert.ok(typed < count / 2, `${typed} for ${sort}`);
		}
	});

	found("no layer is found twice, and what has all words is found whole", () => {
		const keys = keysOf("census ontario");
		assert.is(new Set(keys).size, keys.length);
		const expected = entries.filter(({ title }) => /census/i.test(title.en) && /ontario/i.test(title.en));
		for (const { smallkey } of expected) assert.ok(keys.includes(smallkey), smallkey);
	});

	found.run();
}
