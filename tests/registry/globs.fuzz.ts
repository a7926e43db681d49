import fc from "fast-check";
import * as assert from "uvu/assert";
import { matchesGlob } from "../../registry/owners.ts";
import { fuzzRuns } from "../helpers/fuzz.ts";
import { test } from "../helpers/suite.ts";

/** What a glob means, said by its first character. */
function fits(glob: string, key: string): boolean {
	const rest = glob.slice(1);
	if (glob === "") return key === "";
	if (glob[0] === "*") return fits(rest, key) || (key !== "" && fits(glob, key.slice(1)));
	return key !== "" && (glob[0] === "?" || glob[0] === key[0]) && fits(rest, key.slice(1));
}

test("a glob fits what its meaning says", () => {
	const globs = fc.string({ unit: fc.constantFrom("*", "?", "a", "b", "B", "-", "+"), maxLength: 8 });
	const keys = fc.string({ unit: fc.constantFrom("a", "b", "B", "-", "+"), maxLength: 8 });
	fc.assert(
		fc.property(globs, keys, (glob, key) =>
			assert.is(matchesGlob(glob, key), fits(glob, key), `${glob} ${key}`),
		),
		{ numRuns: fuzzRuns },
	);
});

test("a glob of many stars ends as soon as any other", () => {
	// As a regular expression this takes longer than the universe has been there.
	assert.not(matchesGlob(`${"*a".repeat(31)}b`, "a".repeat(64)));
	assert.ok(matchesGlob("*a".repeat(32), "a".repeat(64)));
});

test.run();
