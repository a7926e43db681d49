import * as assert from "uvu/assert";
import { parseTargets, targetNames, targets } from "../../../registry/targets/table.ts";
import { test } from "../../helpers/suite.ts";

const expected = ["v0.9", "v1", "v2", "ramp4", "terria"];

test("TARGETS chooses from the table, in the table's order, and an unknown one is named", () => {
	assert.equal(targetNames.slice(0, expected.length), expected);
	assert.equal(parseTargets(expected.join()), expected);
	assert.equal(parseTargets("v2, v0.9,v2"), ["v0.9", "v2"]);
	const rule = `must be some of ${targetNames.join()}, not`;
	for (const name of ["v3", "V2", "constructor", "nothing"])
		assert.is(parseTargets(`v0.9,${name.replace("nothing", "")}`), `${rule} ${name}`);
});

test("every target has paths of its own", () => {
	const all = targets.flatMap((target) => [
		...new Set([target, ...target.aliases].flatMap(({ doc, docs }) => [doc, docs])),
	]);
	assert.is(new Set(all).size, all.length);
});

test.run();
