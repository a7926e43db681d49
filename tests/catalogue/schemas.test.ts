import { readFileSync } from "node:fs";
import Ajv from "ajv";
import * as assert from "uvu/assert";
import type { Entry } from "../../registry/entries.ts";
import { catalogueChunk } from "../../registry/schemas/catalogue.ts";
import { test } from "../helpers/suite.ts";
import { buildCatalogue, commitOf, generateEntries } from "./entries.ts";
import { pageSettings } from "./pages.ts";

const ajv = new Ajv({ allErrors: true });

const names = [
	...["catalogue-index", "catalogue-health", "changes-index", "changes-piece", "changes-recent"],
] as const;
const files = names.map((name) => {
	const text = readFileSync(new URL(`../../registry/schemas/${name}.schema.json`, import.meta.url), "utf8");
	return JSON.parse(text) as object;
});

const schemas = [...files, catalogueChunk] as const;

/** The schema of each file of the catalogue. */
function schemaOf(path: string): object {
	const [index, health, changes, piece, recent] = files as [object, object, object, object, object];
	if (path === "index/index.json") return index;
	if (path === "index/health.json") return health;
	if (path.startsWith("index/chunks/")) return catalogueChunk;
	if (path === "changes/recent.json") return recent;
	return path === "changes/index.json" ? changes : piece;
}

test("every file of the index and the changes is as its schema says, and another one is not", () => {
	const pair = { sender: { en: "Office", fr: "Bureau" }, unread: ["v1/en"], thumbnail: "t.png" };
	const entries = [...generateEntries(400)].map(
		(entry, at): Entry => (at % 3 === 0 ? { ...entry, ...pair } : entry),
	);
	const was = { title: { en: "A", fr: "B" }, address: { en: "https://h.example" }, sender: "Office" };
	const detail = { was, fields: [{ field: "/en/name", isRead: true as const, from: "x" }] };
	const many = entries.map(({ smallkey }) => ({ smallkey, kind: "added" as const }));
	const history = [commitOf(1, many), commitOf(2, [{ smallkey: "a", kind: "removed", detail }])];
	const settings = {
		pages: pageSettings,
		isServed: true,
		commit: "a".repeat(40),
		owners: () => ["@org/team"],
	};
	const seen = new Set<object>();
	for (const [path, text] of buildCatalogue(entries, history, settings)) {
		if (path.endsWith(".xml")) continue;
		const schema = schemaOf(path);
		seen.add(schema);
		const value = JSON.parse(text ?? "") as object;
		assert.ok(ajv.validate(schema, value), `${path}: ${ajv.errorsText()}`);
		for (const wrong of [{ ...value, more: 1 }, { ...value, version: 1 }, {}])
			assert.not.ok(ajv.validate(schema, wrong), `${path}: ${JSON.stringify(wrong).slice(0, 80)}`);
	}
	assert.is(seen.size, schemas.length);
});

test.run();
