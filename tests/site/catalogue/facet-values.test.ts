import { test } from "uvu";
import * as assert from "uvu/assert";
import { facets } from "../../../registry/index/kinds.ts";
import { buildSet, sortThings } from "../../../registry/index/set.ts";
import { facetValues } from "../../../site/catalogue/facet-values.ts";
import { Pieces } from "../../../site/catalogue/pieces.ts";

const hosts = Array.from({ length: 8_000 }, (_, index) => `=host:maps-${index}.example.com`);
const rest = ["=health:down", "=sender:Natural Resources", "=title:same", "=type:feature", "=type:wms"];
const files = buildSet(
	facets,
	sortThings(
		facets,
		[...hosts, ...rest].map((facet) => ({ facet, count: facet.length })),
	),
);

test("thousands of hosts keep no other filter from being offered, and are not all read", async () => {
	const read: string[] = [];
	const pieces = new Pieces(async (path) => {
		read.push(path);
		return files.get(path) ?? null;
	});
	const { host, ...others } = await facetValues(pieces);
	assert.equal(others, {
		type: [
			["feature", 13],
			["wms", 9],
		],
		sender: [["Natural Resources", 25]],
		health: [["down", 12]],
		title: [["same", 11]],
	});
	assert.ok(host.length > 500 && host.length < hosts.length);
	assert.is(new Set(read).size, read.length);
	assert.ok(read.length < files.size);
});

test("what is no filter of this page is left out", async () => {
	const some = buildSet(facets, [{ facet: "=colour:red", count: 1 }]);
	const found = await facetValues(new Pieces(async (path) => some.get(path) ?? null));
	assert.equal(found, { type: [], host: [], sender: [], health: [], title: [] });
});

test.run();
