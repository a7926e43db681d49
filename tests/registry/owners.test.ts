import { readFile } from "node:fs/promises";
import ignore from "ignore";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { codeownersText, type Owners, ownersOf, parseOwners } from "../../registry/owners.ts";
import { textsOf } from "../../registry/problems.ts";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";

const team = (name: string) => `@org/${name}`;

function owners(layers: Record<string, string[]>): Owners {
	const parsed = parseOwners(Buffer.from(JSON.stringify({ operators: [team("operators")], layers })));
	assert.equal(parsed.problems, []);
	return parsed.owners as Owners;
}

/** Reads CODEOWNERS as GitHub does: gitignore's patterns, by another's code, and the last match wins. */
function codeowners(text: string): (path: string) => string[] {
	const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
	const rules = lines.map((line) => {
		const [pattern = "", ...teams] = line.split(" ");
		assert.not.match(pattern, /[![\]\\]/, "GitHub does not know these in a pattern");
		return { matcher: ignore({ ignorecase: false }).add(pattern), teams };
	});
	return (path) => rules.findLast(({ matcher }) => matcher.ignores(path))?.teams ?? [];
}

const globs = [
	...["*", "ab*", "AB*", "a*", "a", "A", "ab", "abc", "?", "??", "a?", "a?c", "?b*", "*z", "*e", "*service"],
	...["a*e", "ab?service", "nacei-*", "+=*", "_*", "-", "a*b*c", "*a*", "x=1", "radar+*", "**b", "json"],
];

const smallkeys = [
	...["a", "A", "b", "ab", "AB", "aB", "abc", "ABC", "abz", "z", "az", "abe", "e", "service", "ab-service"],
	...["nacei-1", "nacei-", "NACEI-1", "+=", "+=x", "_", "_x", "-", "-x", "x=1", "x=12", "radar+1", "radar1"],
	...["json", "a-json", "abservice", "aXbXc", "acb", "aabbcc", "qaq", "1575", "e".repeat(64)],
];

const otherPaths = [
	...["README.md", ".github/workflows/check.yml", ".github/CODEOWNERS", "layers/owners.json", "api/app.ts"],
	...["package.json", "docs/layers/ab/abc.json", "layers.md"],
];

/** Catalogues of rules: each glob alone, each beside the one for all, and all at once. */
function* catalogues(): Generator<Owners> {
	for (const [index, glob] of globs.entries()) {
		yield owners({ [glob]: [team(`t${index}`)] });
		yield owners({ "*": [team("all")], [glob]: [team(`t${index}`), "@someone"] });
	}
	const all = Object.fromEntries(globs.map((glob, index) => [glob, [team(`t${index}`)]]));
	yield owners(all);
	yield owners(Object.fromEntries(Object.entries(all).toReversed()));
}

test("CODEOWNERS and the check name the same approvers, for every key and both of its files", () => {
	for (const catalogue of catalogues()) {
		const read = codeowners(codeownersText(catalogue));
		for (const smallkey of smallkeys) {
			for (const path of [layerPath(smallkey), descriptionPath(smallkey)]) {
				const rules = catalogue.rules.map(({ glob }) => glob).join(" ");
				assert.equal(read(path), ownersOf(catalogue, path), `${path} with ${rules}`);
			}
		}
		for (const path of otherPaths) assert.equal(read(path), [team("operators")], path);
	}
});

test("the rule that says most wins, whatever the order in the file", () => {
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
				assert.equal(
					codeowners(codeownersText(catalogue))(path),
					[team(`t${place}`)],
					`${smallkey} with ${glob}`,
				);
			}
		}
	}
});

test("what no rule fits is the operators'", () => {
	const catalogue = owners({ "nacei-*": [team("energy")] });
	assert.equal(ownersOf(catalogue, layerPath("ozone")), [team("operators")]);
	assert.equal(codeowners(codeownersText(catalogue))(layerPath("ozone")), [team("operators")]);
});

test("the operators' own lines are the last", () => {
	const lines = codeownersText(owners({ "*": [team("all")] }))
		.trimEnd()
		.split("\n");
	assert.equal(lines.slice(-2), ["/layers/owners.json @org/operators", "/.github/ @org/operators"]);
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

test("a whole file of owners as CODEOWNERS", async () => {
	const { owners: own, problems } = parseOwners(await readFile("tests/fixtures/layers/owners.json"));
	assert.equal(problems, []);
	assert.is(await readFile("tests/fixtures/owners/CODEOWNERS", "utf8"), codeownersText(own as Owners));
});

test.run();
