import { join } from "node:path";
import * as assert from "uvu/assert";
import { isDescribed } from "../../extensions/harvest/description.ts";
import { collectFolder } from "../../publish/collect.ts";
import { judgeStored } from "../../registry/judge.ts";
import { langs } from "../../registry/smallkey.ts";
import { describedFor } from "../../site/data/entry.ts";
import { readTextIfThere } from "../../store/files/files.ts";
import { test } from "../helpers/suite.ts";

const ownersOf = (folder: string) => readTextIfThere(join(folder, "owners.json"));

// With owners of their own, the layers of this checkout are no examples.
const isOwn = (await ownersOf("layers")) !== (await ownersOf("tests/fixtures/layers"));
const files = isOwn ? [] : collectFolder("layers");
const { layers, problems } = judgeStored(files);

const ofExamples = isOwn ? test.skip : test;

ofExamples(
	"every example has a title and a place in both languages, and a start asks no service for it",
	() => {
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
	},
);

test.run();
