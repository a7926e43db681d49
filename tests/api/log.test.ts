import * as assert from "uvu/assert";
import { logText } from "../../api/context.ts";
import { countedErrors } from "../../api/node/serve.ts";
import { test } from "../helpers/suite.ts";

test("a line is at most 4,000 characters, whatever is in it", () => {
	const long = "x".repeat(100_000);
	for (const text of [
		long,
		"\u0001".repeat(100_000),
		"\u202e".repeat(100_000),
		"\ud83d\udc4d".repeat(50_000),
	]) {
		const line = logText({ path: text, sender: text, error: text, address: text, warning: text });
		assert.ok(line.length <= 4_000, `${line.length}`);
		assert.ok((JSON.parse(line) as { path: string }).path.startsWith(text.slice(0, 2)));
	}
	assert.match(logText({ path: long }), /^\{"path":"x{1000}… \(100000 characters\)"\}$/);
});

test("characters that are not visible are escaped in a line of the log, and no others", () => {
	const odd = "a\n\u001b[2Jb\u007f\u009b\u2028\u202ec\u200b\ufeff";
	const line = logText({ path: odd, fr: "Données à jour", count: 3, none: null });
	assert.match(line, /^[\x20-\x7eéà]*$/);
	assert.equal(JSON.parse(line), { path: odd, fr: "Données à jour", count: 3, none: null });
});

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
