import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "acorn";
import { full } from "acorn-walk";
import { transform } from "esbuild";
import glob from "fast-glob";
import { analyse } from "scslre";
import * as assert from "uvu/assert";
import { description } from "../../registry/schemas/description.ts";
import { owners } from "../../registry/schemas/owners.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

interface Found {
	place: string;
	source: string;
	flags: string;
}

/** A node of JavaScript's syntax tree that holds a regular expression (ESTree, "RegExpLiteral"). */
interface Literal {
	type: string;
	regex?: { pattern: string; flags: string };
}

/** Every regular expression that is written as a literal in a source file. */
async function literalsOf(place: string): Promise<Found[]> {
	const { code } = await transform(await readFile(join(root, place), "utf8"), { loader: "ts" });
	const found: Found[] = [];
	full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
		const { regex } = node as Literal;
		if (regex) found.push({ place, source: regex.pattern, flags: regex.flags });
	});
	return found;
}

/** Every pattern in a schema; ajv compiles them with the flag `u`. */
function patternsOf(place: string, schema: unknown): Found[] {
	if (typeof schema !== "object" || schema === null) return [];
	return Object.entries(schema).flatMap(([name, value]) =>
		name === "pattern" && typeof value === "string"
			? [{ place, source: value, flags: "u" }]
			: patternsOf(place, value),
	);
}

/** Why a regular expression may take more than linear time, in words; empty where it does not. */
function superLinear({ source, flags }: Found): string[] {
	const { reports } = analyse({ source, flags }, { reportTypes: { Move: true, Self: true, Trade: true } });
	return reports.map((report) => {
		const degree = report.exponential ? "exponential" : "polynomial";
		return `${report.type}, ${degree}, by repeating ${JSON.stringify(report.character.pick)}`;
	});
}

const files = await glob("{registry,api,harvest,schemas,scripts,site}/**/*.ts", { cwd: root });
const found = [
	...(await Promise.all(files.sort().map(literalsOf))).flat(),
	...Object.entries({ description, owners, registration1, registration2 }).flatMap(([name, schema]) =>
		patternsOf(`schemas: ${name}`, schema),
	),
];

test("the test finds regular expressions, and would find a slow one", () => {
	assert.ok(found.length > 100, `${found.length} regular expressions`);
	assert.ok(found.some(({ place }) => place === "schemas: registration1"));
	for (const source of ["^ +| +$", "(a+)+$", "a*b?a*$"]) {
		assert.ok(superLinear({ place: "", source, flags: "" }).length > 0, source);
	}
});

test("no regular expression takes more than linear time", () => {
	const slow = found.flatMap((one) =>
		superLinear(one).map((why) => `${one.place}: /${one.source}/${one.flags}: ${why}`),
	);
	assert.equal(slow, []);
});

test.run();
