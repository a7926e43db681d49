import * as assert from "uvu/assert";
import { batchBody, layerBody } from "../../store/github/pull-request.ts";
import { test } from "../helpers/suite.ts";
import { metaOf } from "./contract.ts";

const meta = metaOf("nhn");

/** The rows of the table: what it says between its bars. */
function rows(body: string): string[][] {
	const lines = body.split("\n").filter((line) => line.startsWith("| <code>"));
	return lines.map((line) =>
		line
			.split("|")
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
}

const cell = (text: string) => (text === "" ? "" : `<code>${text.replaceAll("/", "&#47;")}</code>`);

test("a new layer: each member, with nothing before", () => {
	const body = layerBody(meta, "nhn", null, '{"version":"1","en":{"layer":"a","metadata":{"uuid":"u"}}}');
	assert.match(body, "<code>jstest</code> registers the layer <code>nhn</code>");
	assert.equal(rows(body), [
		[cell("/version"), "", cell("1")],
		[cell("/en/layer"), "", cell("a")],
		[cell("/en/metadata/uuid"), "", cell("u")],
	]);
});

test("a changed layer: what differs, whatever the order of its members; what is gone too", () => {
	const body = layerBody(meta, "nhn", '{"a":1,"b":"x","c":true}', '{"b":"y","a":1}');
	assert.match(body, "changes the layer");
	assert.equal(rows(body), [
		[cell("/b"), cell("x"), cell("y")],
		[cell("/c"), cell("true"), ""],
	]);
	assert.match(layerBody(meta, "nhn", '{"a":1}', '{ "a": 1 }'), "no difference");
});

test("a file that is no JSON is shown as it is", () => {
	assert.equal(rows(layerBody(meta, "nhn", "half {", '{"a":1}')), [
		[cell("/a"), "", cell("1")],
		["<code></code>", "<code>half &#123;</code>", ""],
	]);
});

test("a body stays below what GitHub takes, and says what it leaves out", () => {
	const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${index}`, "@".repeat(300)]));
	const body = layerBody(meta, "nhn", null, JSON.stringify(wide));
	assert.ok(body.length < 65_536, String(body.length));
	assert.match(body, /And \d+ more: see the changed files\.$/);
	const edits = Array.from({ length: 5_000 }, (_, index) => ({ path: `layers/k/k${index}.json`, text: "" }));
	const batch = batchBody(metaOf("x", { smallkey: null }), edits);
	assert.ok(batch.length < 65_536, String(batch.length));
	assert.match(batch, /And \d+ more/);
	assert.match(batchBody(meta, [{ path: "layers/a/a.json", text: null }]), "- removed: <code>layers");
});

test.run();
