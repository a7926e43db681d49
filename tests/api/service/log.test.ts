import * as assert from "uvu/assert";
import { countedErrors } from "../../../api/node/log.ts";
import { test } from "../../helpers/suite.ts";

test("errors of one place are one line at once and one with their number, whatever they name", () => {
	const lines: { error: string; repeated?: number }[] = [];
	const errors = countedErrors((line) => lines.push(line), 60_000);
	const fail = (name: number) => errors.add(new Error(`cannot read /dist/${name}`));
	for (let name = 0; name < 1_000; name += 1) fail(name);
	errors.add(new Error("of another place"));
	errors.add("a text");
	assert.equal(
		lines.map(({ error, repeated }) => [error.split("\n", 1)[0], repeated]),
		[
			["Error: cannot read /dist/0", undefined],
			["Error: of another place", undefined],
			["a text", undefined],
		],
	);
	lines.length = 0;
	errors.end();
	assert.is(lines.length, 1);
	assert.match(lines[0]?.error ?? "", /^Error: cannot read \/dist\/999\n {4}at /);
	assert.is(lines[0]?.repeated, 999);
});

test.run();
