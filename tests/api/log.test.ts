import * as assert from "uvu/assert";
import { logText } from "../../api/log.ts";
import { limitedLog, stackOf } from "../../api/node/log.ts";
import { test } from "../helpers/suite.ts";

test("a line is at most 4,000 characters, whatever is in it", () => {
	const long = "x".repeat(100_000);
	for (const part of ["x", "\u0001", "\u202e", "\ud83d\udc4d"]) {
		const text = part.repeat(100_000);
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

test("errors of one place are one line a second, whatever they name, and the others are counted", () => {
	const lines: { error: string; skipped?: number }[] = [];
	let nowMs = 0;
	const kindOf = ({ error }: { error: string }) => stackOf(error);
	const log = limitedLog(
		(line) => lines.push(line),
		1,
		kindOf,
		() => nowMs,
	);
	const fail = (name: number) => log({ error: new Error(`cannot read /dist/${name}`).stack ?? "" });
	for (let name = 0; name < 1_000; name += 1) fail(name);
	log({ error: new Error("of another place").stack ?? "" });
	nowMs = 1_000;
	fail(1_000);
	assert.equal(
		lines.map(({ error, skipped }) => [error.split("\n", 1)[0], skipped]),
		[
			["Error: cannot read /dist/0", undefined],
			["Error: of another place", 999],
			["Error: cannot read /dist/1000", undefined],
		],
	);
});

test.run();
