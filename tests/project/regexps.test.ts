import { readFile } from "node:fs/promises";
import { parse } from "acorn";
import { full } from "acorn-walk";
import { transform } from "esbuild";
import glob from "fast-glob";
import { analyse } from "scslre";
import * as assert from "uvu/assert";
import { owners } from "../../registry/schemas/definitions.ts";
import { description } from "../../registry/schemas/description.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { test } from "../helpers/suite.ts";

interface Expression {
	place: string;
	source: string;
	flags: string;
}

async function literalsOf(place: string) {
	const { code } = await transform(await readFile(place, "utf8"), { loader: "ts" });
	const literals: Expression[] = [];
	full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
		// ESTree, "RegExpLiteral".
		const { regex } = node as { regex?: { pattern: string; flags: string } };
		if (regex) literals.push({ place, source: regex.pattern, flags: regex.flags });
	});
	return literals;
}

function patternsOf(schema: unknown): Expression[] {
	if (typeof schema !== "object" || schema === null) return [];
	return Object.entries(schema).flatMap(([name, value]) =>
		name === "pattern" && typeof value === "string"
			? [{ place: "registry/schemas", source: value, flags: "u" }]
			: patternsOf(value),
	);
}

function slowness({ place, source, flags }: Expression) {
	const { reports } = analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true } });
	return reports.map(({ type, character }) => `${place}: /${source}/${flags}: ${type} of ${character.pick}`);
}

test("no regular expression of any room takes more than linear time", async () => {
	for (const source of ["^ +| +$", "(a+)+$", "a*b?a*$"])
		assert.ok(slowness({ place: "", source, flags: "" }).length > 0, source);
	const files = await glob("{registry,store,publish,api,site,scripts,extensions}/**/*.ts");
	const expressions = [
		...(await Promise.all(files.sort().map(literalsOf))).flat(),
		...patternsOf({ description, owners, registration1, registration2 }),
	];
	assert.ok(expressions.length > 300, `${expressions.length} regular expressions`);
	const unique = new Map(
		expressions.map((expression) => [`/${expression.source}/${expression.flags}`, expression]),
	);
	assert.equal([...unique.values()].flatMap(slowness), []);
});

test.run();
