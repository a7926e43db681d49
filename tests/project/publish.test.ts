import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { parseRegistration } from "../../registry/registration.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { manual } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";

const page = await readFile("docs/publish.md", "utf8");
const reference = await readFile("docs/registration.md", "utf8");

function blocks(language: string, text = page) {
	const fenced = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms");
	return [...text.matchAll(fenced)].map((match) => match[1] as string);
}

test("the registrations of the pages are right, with one of each kind of service", () => {
	const nodes = blocks("jsonl", reference).flatMap((block) => block.trim().split("\n"));
	const inBoth = nodes.map((node) => `{ "version": "2.0", "en": ${node}, "fr": ${node} }`);
	const texts = [...blocks("json"), ...blocks("json", reference), ...inBoth];
	const { esriPicture, ogc, esriService } = registration2.definitions;
	const kinds = [esriPicture, ogc, esriService].flatMap(({ properties }) => properties.service_type.enum);
	for (const kind of ["esriFeature", ...kinds])
		assert.ok(
			texts.some((text) => text.includes(`"service_type": "${kind}"`)),
			kind,
		);
	for (const text of texts) {
		assert.equal(parseRegistration(new TextEncoder().encode(text), "written").problems, []);
	}
});

function memberNames(node: unknown): string[] {
	if (typeof node !== "object" || node === null) return [];
	return Object.entries(node).flatMap(([name, value]) => [
		...(name === "properties" ? Object.keys(value) : []),
		...memberNames(value),
	]);
}

test("the pages of the registration have each member, in both languages", async () => {
	const names = [...new Set([registration1, registration2].flatMap(memberNames))];
	assert.ok(names.length > 20, String(names));
	for (const path of ["docs/registration.md", "docs/fr/registration.md"]) {
		const text = await readFile(path, "utf8");
		assert.equal(
			names.filter((name) => !text.includes(`\`${name}\``)),
			[],
			path,
		);
	}
});

test("the signature in Node gives the known answer of the older service's manual", () => {
	const [, expression = ""] = /^ {4}(createHmac\(.*\))$/m.exec(page) ?? [];
	const names = ["createHmac", "secret", "path", "sender", "timestamp", "body"];
	const values = ["test_-k", "/register/23ax5t", "jstest", "2014-12-05T18:28:56.714Z", manual];
	const signature = new Function(...names, `return ${expression}`)(createHmac, ...values);
	assert.is(signature, "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY");
});

test.run();
