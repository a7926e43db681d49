import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { collectFolder } from "../../publish/collect.ts";
import { describedFor, isDescribed } from "../../registry/description.ts";
import { judgeFiles } from "../../registry/judge.ts";
import { langs } from "../../registry/smallkey.ts";
import { root } from "../process.ts";

const { layers, problems } = judgeFiles(collectFolder(join(root, "layers")));

test("every example has a title and a place in both languages, and a start asks no service for it", () => {
	assert.equal(problems, []);
	assert.ok(layers.size >= 22);
	for (const [smallkey, { registration, description }] of layers) {
		assert.ok(isDescribed(registration, description), smallkey);
		for (const lang of langs) {
			const { title, bounds } = describedFor({ registration, description }, lang);
			const name = registration[lang].service_name;
			assert.ok(title && title !== smallkey, `${smallkey}, ${lang}`);
			if (name) assert.is(title, name);
			assert.ok(bounds, `${smallkey}, ${lang}`);
		}
	}
});

test.run();
