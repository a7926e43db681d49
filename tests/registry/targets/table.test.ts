import { test } from "uvu";
import * as assert from "uvu/assert";
import { parseTargets, targetPath, targets } from "../../../registry/targets/table.ts";

const namesOf = (text: string) => {
	const parsed = parseTargets(text);
	return typeof parsed === "string" ? parsed : parsed.map(({ name }) => name);
};

test("TARGETS chooses from the table, in the table's order", () => {
	assert.equal(namesOf("v0.9,v1,v2,ramp4"), ["v0.9", "v1", "v2", "ramp4"]);
	assert.equal(namesOf("v2, v0.9,v2"), ["v0.9", "v2"]);
	assert.equal(namesOf("ramp4"), ["ramp4"]);
});

test("an unknown target is named, with those that there are", () => {
	const rule = "must be some of v0.9,v1,v2,ramp4, not";
	assert.is(namesOf("v0.9,v3"), `${rule} v3`);
	assert.is(namesOf("V2"), `${rule} V2`);
	assert.is(namesOf("v2,"), `${rule} nothing`);
	assert.is(namesOf("constructor"), `${rule} constructor`);
});

test("every target has paths of its own", () => {
	const paths = targets.map((target) => targetPath(target, "en", "23ax5t"));
	assert.equal(paths, ["v0.9/doc/en/23ax5t", "v1/doc/en/23ax5t", "v2/doc/en/23ax5t", "ramp4/en/23ax5t"]);
	const all = targets.flatMap((target) => [
		...new Set([target, ...target.aliases].flatMap(({ doc, docs }) => [doc, docs])),
	]);
	assert.is(new Set(all).size, all.length);
});

test("an unknown key is what each target's viewers expect", () => {
	assert.equal(
		targets.map((target) => target.absent('a"b')),
		['{"error_code":404,"smallkey":"a\\"b"}', "null", "null", null],
	);
});

test.run();
