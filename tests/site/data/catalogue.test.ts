import { readFileSync } from "node:fs";
import Ajv from "ajv";
import * as assert from "uvu/assert";
import { chunkOf, type Entry } from "../../../site/data/entries.ts";
import { catalogueChunk } from "../../../site/data/entry.ts";
import type { CatalogueSettings, healthReportOf } from "../../../site/data/files.ts";
import { test } from "../../helpers/suite.ts";
import { generateCatalogue } from "../search/catalogue.ts";
import { buildCatalogue, commitOf } from "./entries.ts";
import { pageSettings } from "./pages.ts";

const settings: CatalogueSettings = {
	pages: { ...pageSettings, publicUrl: "https://layers.example.ca/" },
	isServed: false,
	commit: null,
	owners: (smallkey) => (smallkey.startsWith("a") ? ["@org/a"] : []),
};

test("an entry is in the chunk of its smallkey, by the published hash FNV-1a", () => {
	// RFC 9923, appendix C: FNV-1a of 32 bits of "a" and of "foobar", folded.
	const folded = (hash: number) => ((hash ^ (hash >>> 16)) >>> 0) % 64;
	assert.is(chunkOf("a"), folded(0xe40c292c));
	assert.is(chunkOf("FOOBAR"), folded(0xbf9cf968));
});

test("the report of health has sick layers by owner and host, and counts unchecked ones", () => {
	const at = (smallkey: string, host: string, health: Entry["health"]): Entry => ({
		smallkey,
		type: "wms",
		title: { en: smallkey, fr: smallkey },
		address: { en: `https://${host}/wms` },
		...(health !== undefined && { health }),
	});
	const down = { state: "down" as const, since: "2026-W10" };
	const empty = { state: "empty" as const, since: "2026-W01", cause: "has no features" };
	const many = Array.from({ length: 50 }, (_, index) => at(`a${index}`, "one.example", down));
	const others = [at("b", "one.example", empty), at("c", "two.example", null), at("d", "x", undefined)];
	const files = buildCatalogue([...many, ...others], null, settings);
	const report = JSON.parse(files.get("index/health.json") ?? "") as ReturnType<typeof healthReportOf>;
	assert.equal([report.sick, report.checked, report.unchecked], [51, 52, 1]);
	const groups = report.groups.map(({ owner, host, layers }) => `${owner} ${host} ${layers.length}`);
	assert.equal(groups, [" one.example 1", "@org/a one.example 50"]);
	assert.equal(report.groups[0]?.layers, [{ smallkey: "b", title: { en: "b", fr: "b" }, ...empty }]);
});

const schemaNames = ["catalogue-index", "catalogue-health", "changes-recent"];
const [index, health, recent] = schemaNames.map((name): object =>
	JSON.parse(readFileSync(`registry/schemas/${name}.schema.json`, "utf8")),
);
const schemaOf = (path: string) =>
	({
		"index/index.json": index,
		"index/health.json": health,
		"changes/recent.json": recent,
	})[path] ?? catalogueChunk;

test("every file of the index and the changes is as its schema says", () => {
	const ajv = new Ajv({ allErrors: true });
	const pair = { sender: { en: "Office", fr: "Bureau" }, unread: ["v1/en"], thumbnail: "t.png" };
	const entries = generateCatalogue(201).map((entry, at) => (at % 3 ? entry : { ...entry, ...pair }));
	const many = entries.map(({ smallkey }) => ({ smallkey, kind: "added" as const }));
	const history = [commitOf(1, many), commitOf(2, [{ smallkey: "a", kind: "removed" }])];
	const files = buildCatalogue(entries, history, { ...settings, isServed: true, commit: "a".repeat(40) });
	for (const [path, text] of files) {
		if (!path.endsWith(".json")) continue;
		const schema = schemaOf(path) as object;
		const value = JSON.parse(text ?? "") as object;
		assert.ok(ajv.validate(schema, value), `${path}: ${ajv.errorsText()}`);
		for (const wrong of [{ ...value, more: 1 }, { ...value, version: 1 }, {}])
			assert.not.ok(ajv.validate(schema, wrong), path);
	}
});

test.run();
