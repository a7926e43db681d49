import fc from "fast-check";
import * as assert from "uvu/assert";
import { parseJson } from "../../registry/json.ts";
import { pointerOf, textsOf } from "../../registry/texts.ts";
import { fuzzRuns } from "../helpers/fuzz.ts";
import { test } from "../helpers/suite.ts";

const encoder = new TextEncoder();
const parameters = { numRuns: fuzzRuns };

/** JSON as a tree that can say a name twice, and how it is written. */
type Tree = { text: string } | { items: Tree[] } | { members: [string, Tree][] };

const names = fc.oneof(
	fc.constantFrom("a", "b", "__proto__", "a/b", "~", ""),
	fc.string({ unit: "grapheme" }),
);
const spaces = fc.constantFrom("", " ", "\n", "\r\n", "\t");

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
	tree: fc.oneof(
		{ maxDepth: 4, withCrossShrink: true },
		fc
			.oneof(fc.constantFrom(null, true, false), fc.double({ noNaN: true, noDefaultInfinity: true }), names)
			.map((value) => ({ text: JSON.stringify(value) })),
		fc.array(tie("tree"), { maxLength: 4 }).map((items) => ({ items })),
		fc.array(fc.tuple(names, tie("tree")), { maxLength: 4 }).map((members) => ({ members })),
	),
}));

function written(value: Tree, space: string): string {
	if ("text" in value) return value.text;
	const join = (parts: string[]) => parts.join(`${space},${space}`);
	if ("items" in value) return `[${space}${join(value.items.map((item) => written(item, space)))}${space}]`;
	const members = value.members.map(
		([name, member]) => `${JSON.stringify(name)}${space}:${space}${written(member, space)}`,
	);
	return `{${space}${join(members)}${space}}`;
}

/** Pointers of the members whose name their object has had before, in the order of the text. */
function repeated(value: Tree, path: (string | number)[] = []): string[] {
	if ("text" in value) return [];
	if ("items" in value) return value.items.flatMap((item, index) => repeated(item, [...path, index]));
	const seen = new Set<string>();
	return value.members.flatMap(([name, member]) => {
		const again = seen.has(name) ? [pointerOf([...path, name])] : [];
		seen.add(name);
		return [...again, ...repeated(member, [...path, name])];
	});
}

test("a text is read as JSON.parse reads it, unless a name is repeated: then every repeat is named", () => {
	fc.assert(
		fc.property(tree, spaces, (value, space) => {
			const text = written(value, space);
			const { value: read, problems } = parseJson(encoder.encode(text));
			const expected = repeated(value);
			if (expected.length === 0) assert.equal(read, JSON.parse(text));
			else assert.is(read, null);
			const named = expected.slice(0, 20).map((pointer) => `${pointer}: occurs more than once`);
			assert.equal(textsOf(problems).slice(0, 20), named);
		}),
		parameters,
	);
});

test("what JSON.parse refuses is refused, with the place; what it reads is not said to be wrong", () => {
	const characters = fc.constantFrom(...'{}[]",:\\/\\u0 19.eE+-truefalsn\n\r\t \u00a0\u2028\ufeff\u0001é');
	const texts = fc.oneof(
		fc.string({ unit: characters }),
		fc.tuple(fc.json(), fc.nat(), characters).map(([json, at, put]) => {
			const place = at % (json.length + 1);
			return json.slice(0, place) + put + json.slice(place);
		}),
	);
	fc.assert(
		fc.property(texts, (text) => {
			let isJson = true;
			try {
				JSON.parse(text);
			} catch {
				isJson = false;
			}
			const [problem = ""] = textsOf(parseJson(encoder.encode(text)).problems);
			if (text.startsWith("\ufeff")) return;
			assert.is(
				problem.startsWith("the document must be JSON: "),
				!isJson,
				`${JSON.stringify(text)}: ${problem}`,
			);
			if (!isJson) assert.match(problem, /^the document must be JSON: line \d+, column \d+ /);
		}),
		parameters,
	);
});

test.run();
