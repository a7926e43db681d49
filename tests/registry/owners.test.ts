import { readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { type Owners, ownersOf, parseOwners } from "../../registry/owners.ts";
import { textsOf } from "../../registry/problems.ts";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
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
	for (const path of [...paths, "docs/layers/ab/abc.json", "layers.md"])
		assert.equal(ownersOf(catalogue, path), [team("operators")], path);
	for (const path of [layerPath("abc"), descriptionPath("abc")])
		assert.equal(ownersOf(catalogue, path), [team("all")], path);
});

test("the most specific rule wins, whatever its place in the file", () => {
	const catalogue = owners({
		"nacei-1": [team("one")],
		"*": [team("all")],
		"nacei-*": [team("energy")],
		"nacei-?": [team("single")],
	});
	const of = (smallkey: string) => ownersOf(catalogue, layerPath(smallkey));
	assert.equal(of("ozone"), [team("all")]);
	assert.equal(of("nacei-12"), [team("energy")]);
	assert.equal(of("nacei-2"), [team("single")]);
	assert.equal(of("nacei-1"), [team("one")]);
});

test("a ? is exactly one character", () => {
	const catalogue = owners({ "ab?": [team("one")], "x?z*": [team("inside")] });
	const of = (smallkey: string) => ownersOf(catalogue, layerPath(smallkey));
	for (const smallkey of ["ab1", "abz", "ab-", "ab="]) assert.equal(of(smallkey), [team("one")], smallkey);
	for (const smallkey of ["xyz", "x-zone"]) assert.equal(of(smallkey), [team("inside")], smallkey);
	for (const smallkey of ["ab", "ab12", "AB1", "xz", "xyyz"]) {
		assert.equal(of(smallkey), [team("operators")], smallkey);
	}
});

/** Globs that a smallkey fits, from the most general to the one that counts. */
const precedence: [smallkey: string, globs: string[]][] = [
	// No fixed character: more ? say more, and all of them less than one fixed character.
	["ab", ["*", "?*", "??", "a*"]],
	["abc", ["???", "*c"]],
	// As many fixed characters: more ? say more, although their texts come first.
	["aab", ["a*", "?a*", "?a?"]],
	["nacei-1", ["nacei-*", "?acei-1", "nacei-?", "nacei-1"]],
	// As many of both: the later text.
	["a1b", ["*1?", "?1*", "a*?"]],
];

test("fewer fixed characters are more general, then fewer ?, then the order of the texts", () => {
	for (const [smallkey, globs] of precedence) {
		const path = layerPath(smallkey);
		for (const [place, glob] of globs.entries()) {
			const some = globs.slice(0, place + 1).map((one, at) => [one, [team(`t${at}`)]] as [string, string[]]);
			for (const rules of [some, some.toReversed()]) {
				const catalogue = owners(Object.fromEntries(rules));
				assert.equal(
					catalogue.rules.map((rule) => rule.glob),
					globs.slice(0, place + 1),
				);
				assert.equal(ownersOf(catalogue, path), [team(`t${place}`)], `${smallkey} with ${glob}`);
			}
		}
	}
});

test("a layer that no rule matches belongs to the operators", () => {
	const catalogue = owners({ "nacei-*": [team("energy")] });
	assert.equal(ownersOf(catalogue, layerPath("ozone")), [team("operators")]);
});

const refused: [string, string, RegExp][] = [
	["no operators", `{"layers":{}}`, /operators/],
	["an empty list", `{"operators":[],"layers":{}}`, /^\/operators: /],
	[
		"a glob with a bracket",
		`{"operators":["@a"],"layers":{"[ab]*":["@a/b"]}}`,
		/^\/layers\/.*: must be a glob/s,
	],
	[
		"a glob with a line break",
		`{"operators":["@a"],"layers":{"a\\n* @evil":["@a/b"]}}`,
		/^\/layers\/.*: must be a glob/s,
	],
	["an owner with a space", `{"operators":["@a @b"],"layers":{}}`, /^\/operators\/0: /],
	["an owner with a line break", `{"operators":["@a\\n* @b"],"layers":{}}`, /^\/operators\/0: /],
	[
		"a repeated glob",
		`{"operators":["@a"],"layers":{"x":["@a"],"x":["@b"]}}`,
		/^\/layers\/x: .*more than once/,
	],
	["no JSON", "owners", /JSON/],
];

for (const [what, text, problem] of refused) {
	test(`owners.json with ${what} is refused`, () => {
		const { owners, problems } = parseOwners(Buffer.from(text));
		assert.is(owners, null);
		assert.match(textsOf(problems).join("\n"), problem);
	});
}

test("the fixtures' owners.json has no problems, and its rules find an owner", async () => {
	const { owners: own, problems } = parseOwners(await readFile("tests/fixtures/layers/owners.json"));
	assert.equal(problems, []);
	assert.equal(ownersOf(own as Owners, layerPath("nacei-1")), ["@fragment-publisher/energy"]);
});

test.run();
