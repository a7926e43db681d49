import * as assert from "uvu/assert";
import { type Owners, ownersOf, parseOwners } from "../../registry/owners.ts";
import { descriptionPath, layerPath, matchesGlob } from "../../registry/smallkey.ts";
import { textsOf } from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

const team = (name: string) => `@org/${name}`;

function owners(layers: Record<string, string[]>): Owners {
	const parsed = parseOwners(Buffer.from(JSON.stringify({ operators: [team("operators")], layers })));
	assert.equal(parsed.problems, []);
	return parsed.owners as Owners;
}

test("a file that is no layer belongs to the operators, whatever rule matches it", () => {
	const catalogue = owners({ "*": [team("all")] });
	const paths = ["README.md", ".github/workflows/check.yml", "layers/owners.json", "layers/health.json"];
	for (const path of [...paths, "docs/layers/ab/abc.json", "layers.md", "layers/xy/abc.json"])
		assert.equal(ownersOf(catalogue, path), [team("operators")], path);
	for (const path of [layerPath("abc"), descriptionPath("abc")])
		assert.equal(ownersOf(catalogue, path), [team("all")], path);
	assert.equal(ownersOf(owners({ "nacei-*": [team("all")] }), layerPath("ozone")), [team("operators")]);
});

const precedence: [smallkey: string, globs: string[]][] = [
	// No fixed character: more ? are more specific, and all of them less than one fixed character.
	["ab", ["*", "?*", "??", "a*"]],
	// As many fixed characters: more ? are more specific, although their texts come first.
	["aab", ["a*", "?a*", "?a?"]],
	["nacei-1", ["nacei-*", "?acei-1", "nacei-?", "nacei-1"]],
	// As many of both: the later text.
	["a1b", ["*1?", "?1*", "a**?", "a*?"]],
];

test("the most specific rule applies: fixed characters, then ?, then the order of the texts", () => {
	for (const [smallkey, globs] of precedence) {
		const all = globs.map((glob, rank): [string, string[]] => [glob, [team(`t${rank}`)]]);
		for (const [rank, glob] of globs.entries()) {
			const rules = all.slice(0, rank + 1);
			for (const ordered of [rules, rules.toReversed()]) {
				const catalogue = owners(Object.fromEntries(ordered));
				assert.equal(ownersOf(catalogue, layerPath(smallkey)), [team(`t${rank}`)], `${smallkey} ${glob}`);
			}
		}
	}
});

test("a ? in a glob is exactly one character, and a * any number; case matters", () => {
	const rows: [glob: string, matching: string[], others: string[]][] = [
		["ab?", ["ab1", "ab-", "ab="], ["ab", "ab12", "AB1"]],
		["x?z*", ["xyz", "x-zone"], ["xz", "xyyz", "axyz"]],
		["*ab*b", ["abb", "aabab"], ["ab", "abba"]],
		// As a regular expression it would take exponential time.
		[`${"*a".repeat(31)}b`, [], ["a".repeat(64)]],
	];
	for (const [glob, matching, others] of rows) {
		for (const key of matching) assert.ok(matchesGlob(glob, key), `${glob} ${key}`);
		for (const key of others) assert.not(matchesGlob(glob, key), `${glob} ${key}`);
	}
});

// biome-ignore format: a table
const refused: [string, RegExp][] = [
	[`{"layers":{}}`, /^\/operators: is missing/],
	[`{"operators":[],"layers":{}}`, /^\/operators: /],
	[`{"operators":["@a/b"],"layers":{"[ab]*":["@a/b"]}}`, /^\/layers\/.*: must be a glob/],
	[`{"operators":["@a/b"],"layers":{"a\\n* @evil":["@a/b"]}}`, /^\/layers\/.*: must be a glob/s],
	[`{"operators":["@a\\n* @b"],"layers":{}}`, /^\/operators\/0: must be a GitHub team or account/],
	[`{"operators":["@a/b"],"layers":{"x":["@a/b"],"x":["@a/c"]}}`, /^\/layers\/x: .*more than once/],
	["owners", /JSON/],
];

for (const [text, problem] of refused) {
	test(`owners.json is refused: ${text}`, () => {
		const { owners, problems } = parseOwners(Buffer.from(text));
		assert.is(owners, null);
		assert.match(textsOf(problems).join("\n"), problem);
	});
}

test("an owner without the id of the account is a problem, and the owners are still known", () => {
	const text = '{"operators":["@org/a"],"layers":{"x":["@ada","@bo#7"]}}';
	const { owners, problems } = parseOwners(Buffer.from(text));
	assert.equal(
		problems.map(({ place, code }) => [place, code]),
		[["/layers/x/0", "owner-id"]],
	);
	assert.equal(ownersOf(owners as Owners, layerPath("x")), ["@ada", "@bo#7"]);
});

test.run();
