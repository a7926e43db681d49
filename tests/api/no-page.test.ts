import { test } from "uvu";
import * as assert from "uvu/assert";
import { answerNoPage } from "../../api/pages.ts";

const length = (target: string) => answerNoPage(target, "/base").body.length;

test("an error page does not repeat the folders of a long path", () => {
	assert.ok(length(`/base/${"a/".repeat(30_000)}`) <= length("/base/a/b") + 100);
	const page = (target: string) => new TextDecoder().decode(answerNoPage(target, "/base").body as Uint8Array);
	assert.match(page("/base/a/b"), '"../');
	assert.match(page(`/base/${"a/".repeat(30_000)}`), '"/base/');
});

test.run();
