import * as assert from "uvu/assert";
import { parseAnswer } from "../../harvest/answer.ts";
import { test } from "../helpers/suite.ts";

const parse = (text: string) => parseAnswer(new TextEncoder().encode(text));

test("an answer of too many objects and lists, or nested too deep, is not read; brackets in texts do not count", () => {
	const lists = (count: number) => `[${"[],".repeat(count - 2)}[]]`;
	assert.is((parse(lists(200_000)) as unknown[]).length, 199_999);
	assert.is(parse(lists(200_001)), null);
	assert.is(parse(`[${'{"a":0},'.repeat(200_000)}0]`), null);
	assert.ok(parse("[".repeat(100) + "]".repeat(100)));
	assert.is(parse("[".repeat(101) + "]".repeat(101)), null);
	assert.equal(parse(`["${'[{\\"'.repeat(300_000)}"]`), ['[{"'.repeat(300_000)]);
});

test.run();
