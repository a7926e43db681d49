import Ajv from "ajv";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generateEntries } from "../../../bench/entries.ts";
import { buildChanges, type CommitChanges } from "../../../registry/index/changes.ts";
import type { Entry } from "../../../registry/index/entry.ts";
import { healthReport, healthReportPath } from "../../../registry/index/health.ts";
import { buildIndex } from "../../../registry/index/index.ts";
import * as schemas from "../../../schemas/catalogue.ts";

const ajv = new Ajv({ allErrors: true });

/** The schema of each file of the catalogue. */
function schemaOf(path: string): object {
	const [, piece] = /^index\/(layers|names|keys|terms|facets)\/[0-9a-f]+\.json$/.exec(path) ?? [];
	if (piece === "layers") return schemas.catalogueLayers;
	if (piece === "names") return schemas.catalogueNames;
	if (piece === "terms") return schemas.catalogueTerms;
	if (piece === "keys") return schemas.catalogueKeys;
	if (piece === "facets") return schemas.catalogueFacets;
	if (path === "index/index.json") return schemas.catalogueIndex;
	if (path === "index/frequent.json") return schemas.catalogueFrequent;
	if (path === healthReportPath) return schemas.catalogueHealth;
	if (path === "changes/index.json") return schemas.changesIndex;
	if (/^changes\/\d+\.json$/.test(path)) return schemas.changesPiece;
	return schemas.catalogueSet;
}

function commitOf(at: number, layers: CommitChanges["layers"]): CommitChanges {
	return { commit: at.toString(16).padStart(40, "0"), date: "2026-03-04T12:00:00Z", layers };
}

test("every file of the index and the changes is as its schema says, and another one is not", () => {
	const change = { commit: "a".repeat(40), date: "2026-03-04T12:00:00Z" };
	const entries = [...generateEntries(400)].map((entry, at): Entry => {
		const more = at % 3 === 0 ? { sender: "Office", changed: change, extent: [0, 0, 1, 1] as const } : {};
		const health = at % 5 === 0 ? { health: { state: "down" as const, since: "2026-W09" } } : {};
		return { ...entry, ...more, ...health } as Entry;
	});
	const many = entries.map(({ smallkey }) => ({ smallkey, kind: "added" as const }));
	const history = [commitOf(1, many), commitOf(2, [{ smallkey: "a", kind: "removed" }])];
	const files = new Map([
		...buildIndex(entries),
		[healthReportPath, healthReport(entries, () => ["@org/team"])] as const,
		...buildChanges(history, { publicUrl: "" }),
	]);
	const seen = new Set<object>();
	for (const [path, text] of files) {
		if (path.endsWith(".xml")) continue;
		const schema = schemaOf(path);
		seen.add(schema);
		const value = JSON.parse(text ?? "") as object;
		assert.ok(ajv.validate(schema, value), `${path}: ${ajv.errorsText()}`);
		for (const wrong of [{ ...value, more: 1 }, { ...value, version: 1 }, {}])
			assert.not.ok(ajv.validate(schema, wrong), `${path}: ${JSON.stringify(wrong).slice(0, 80)}`);
	}
	assert.is(seen.size, Object.keys(schemas).length);
});

test.run();
