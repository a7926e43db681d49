import * as assert from "uvu/assert";
import { documentTexts } from "../../registry/texts/documents.ts";
import { requestTexts } from "../../registry/texts/requests.ts";
import { texts } from "../../registry/texts.ts";
import { textsIn } from "../../site/text/static.ts";
import { translator } from "../../site/text/translate.ts";
import { englishWords } from "../helpers/french.ts";
import { test } from "../helpers/suite.ts";
import { textTables } from "../helpers/text-tables.ts";

const { en: english, fr: french } = textsIn;

test("a text has its values, and numbers as its language writes them", () => {
	assert.is(
		english.t("found-so-far", "2 layers", 1_500, 20_000),
		"2 layers so far: 1,500 of 20,000 were read",
	);
	assert.is(french.plural(20_000, "layer-count"), `${(20_000).toLocaleString("fr-CA")} couches`);
	assert.is(
		french.t("bounds", -141.0018, 41.5, -52.6, 83),
		"ouest -141,0018°, sud 41,5°, est -52,6°, nord 83°",
	);
	// A value is never searched for places of further values, and keeps its colons.
	const { t } = translator("fr", { said: "{0} répond : {1}" });
	assert.is(t("said", "{1} : b", "non"), "{1} : b répond\u00a0: non");
});

test("a day is written as its language writes it; the first of a month is 1er in French", () => {
	const days = ({ dayText }: typeof english) =>
		["2026-12-01", "2026-12-11"].map((day) => dayText(new Date(day)));
	assert.equal(days(english), ["December 1, 2026", "December 11, 2026"]);
	assert.equal(days(french), ["1er décembre 2026", "11 décembre 2026"]);
});

test("the plural begins at two in French, and at anything but one in English", () => {
	const layers = ({ plural }: typeof english) => [0, 1, 2].map((number) => plural(number, "layer-count"));
	assert.equal(layers(english), ["0 layers", "1 layer", "2 layers"]);
	assert.equal(layers(french), ["0 couche", "1 couche", "2 couches"]);
});

const inEnglishOnly = new Set(
	Object.entries({ ...documentTexts, ...requestTexts }).flatMap(([code, text]) =>
		typeof text === "string" ? code : [],
	),
);

for (const { name, en, fr } of textTables) {
	test(`${name}: every code has a text in both languages, with the same values`, () => {
		assert.equal(Object.keys(fr).sort(), Object.keys(en).sort());
		const valuesOf = (text = "") => (text.match(/\{\d\}/g) ?? []).sort();
		for (const [code, text] of Object.entries(en)) {
			assert.ok(text !== "" && fr[code] !== "", code);
			assert.equal(valuesOf(fr[code]), valuesOf(text), code);
		}
	});

	test(`${name}: every French text is in Canadian French, with its spaces and apostrophes`, () => {
		for (const [code, text] of Object.entries(fr)) {
			if (inEnglishOnly.has(code) && en === texts.en) continue;
			assert.not.match(text, /(?<! |^|\d|EPSG):(?![\d/%])/, `${code}: a space before a colon`);
			assert.not.match(text, /\u00a0:/, `${code}: translators add the no-break space before a colon`);
			assert.not.match(text, /\s[;?!](?=\s|$)/, `${code}: no space before ; ? !`);
			assert.not.match(text, /«[^\u00a0]|[^\u00a0]»/, `${code}: no-break spaces in guillemets`);
			assert.not.match(text, /'|\.\.\./, `${code}: ’ and …`);
			assert.not.match(text, englishWords, `${code}: an English sentence`);
		}
	});
}

test.run();
