import * as assert from "uvu/assert";
import { logText } from "../../api/log.ts";
import { limitedLog } from "../../api/node/log.ts";
import { test } from "../helpers/suite.ts";

test("a line is at most 4,000 characters, whatever its texts are", () => {
	for (const character of ["x", "\u0001", "\u202e", "\ud83d\udc4d"]) {
		const text = character.repeat(100_000);
		const line = logText({ path: text, sender: text, error: text, address: text, warning: text });
		assert.ok(line.length <= 4_000, `${line.length}`);
		assert.ok((JSON.parse(line) as { path: string }).path.startsWith(text.slice(0, 2)));
	}
	assert.match(logText({ path: "x".repeat(100_000) }), /^\{"path":"x{1000}… \(100000 characters\)"\}$/);
});

test("characters that are not visible are escaped in a line of the log, and no others", () => {
	const path = "a\n\u001b[2Jb\u007f\u009b\u2028\u202ec\u200b\ufeff";
	const line = logText({ path, fr: "Données à jour", count: 3, none: null });
	assert.match(line, /^[\x20-\x7eéà]*$/);
	assert.equal(JSON.parse(line), { path, fr: "Données à jour", count: 3, none: null });
});

test("lines beyond the limit of a second are counted", () => {
	const lines: { name: number; skipped?: number }[] = [];
	let nowMs = 0;
	const log = limitedLog<{ name: number }>(
		(line) => lines.push(line),
		2,
		() => nowMs,
	);
	for (let name = 0; name < 1_000; name += 1) log({ name });
	nowMs = 1_000;
	log({ name: 1_000 });
	assert.equal(lines, [{ name: 0 }, { name: 1 }, { name: 1_000, skipped: 998 }]);
});

test.run();
