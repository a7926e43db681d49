import { readFileSync } from "node:fs";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { test } from "../helpers/suite.ts";

/** Words that name nothing of the domain → how often the product may use each as an identifier. */
const bounds: Readonly<Record<string, number>> = {
	found: 3,
	known: 8,
	wanted: 2,
	seen: 4,
	named: 5,
	asked: 7,
	given: 20,
	own: 4,
	told: 0,
	one: 30,
};

const prose =
	/\/\*.*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`|(?<=[=(,:[!&|?;] ?)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//gs;

test("identifiers are nouns of the domain, not pronouns", () => {
	const rooms = "{registry,store,publish,api,site,scripts,extensions,docs}/**/*.{ts,mjs}";
	const texts = glob.sync(rooms).map((file) => readFileSync(file, "utf8"));
	const code = texts.map((text) => text.replace(prose, "")).join("\n");
	for (const [word, bound] of Object.entries(bounds)) {
		const count = code.match(new RegExp(`(?<![-\\w])${word}(?![-\\w])`, "g"))?.length ?? 0;
		assert.ok(count <= bound, `${word}: ${count} times, at most ${bound}`);
	}
});

test.run();
