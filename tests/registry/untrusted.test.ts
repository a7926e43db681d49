import * as assert from "uvu/assert";
import { renderFence } from "../../extensions/review/comment.ts";
import { code, visible } from "../../registry/untrusted.ts";
import { test } from "../helpers/suite.ts";

test("every character but ASCII letters and digits becomes a character reference", () => {
	assert.is(code("a-b_1"), "<code>a&#45;b&#95;1</code>");
	assert.is(code("<b>@x</b>"), "<code>&#60;b&#62;&#64;x&#60;&#47;b&#62;</code>");
	assert.is(code("é😀"), "<code>&#233;&#128512;</code>");
});

test("invisible characters are shown as a replacement, and a long text is cut between characters", () => {
	assert.is(code("a\n\u202e\u0000"), "<code>a&#65533;&#65533;&#65533;</code>");
	assert.is(code("😀".repeat(201)), `<code>${"&#128512;".repeat(200)}&#8230;</code>`);
});

test("a text's invisible characters are spelled out", () => {
	assert.is(
		visible("a\r\n\t\u2028\u200b\u{e0001}\ud800z"),
		"a\\u000d\\u000a\\u0009\\u2028\\u200b\\ue0001\\ud800z",
	);
});

test("no line of a text can end the code block around it", () => {
	assert.is(renderFence("diff", ["+a"]), "```diff\n+a\n```");
	assert.is(renderFence("diff", ["```", "`````", "+\n```"]), "``````diff\n```\n`````\n+\\u000a```\n``````");
});

test.run();
