import { test } from "uvu";
import * as assert from "uvu/assert";
import { french } from "../../site/text/french.ts";
import { translator } from "../../site/text/translate.ts";

const [english, inFrench] = [translator(null), translator(french)];

test("a text has its values, and numbers as its language writes them", () => {
	assert.is(
		english.t("{0} so far: {1} of {2} were read", "2 layers", 1_500, 20_000),
		"2 layers so far: 1,500 of 20,000 were read",
	);
	assert.is(inFrench.layers(20_000), `${(20_000).toLocaleString("fr-CA")} couches`);
	assert.is(
		inFrench.t("west {0}°, south {1}°, east {2}°, north {3}°", -141.0018, 41.5, -52.6, 83),
		"ouest -141,0018°, sud 41,5°, est -52,6°, nord 83°",
	);
	// A value is never searched for places of further values.
	assert.is(english.t("{0} says: {1}", "{1}", "no"), "{1} says: no");
});

test("the plural begins at two in French, and at anything but one in English", () => {
	assert.equal([0, 1, 2].map(english.layers), ["0 layers", "1 layer", "2 layers"]);
	assert.equal([0, 1, 2].map(inFrench.layers), ["0 couche", "1 couche", "2 couches"]);
});

test("states and types that have no text are shown as they are", () => {
	assert.is(inFrench.stateText("down"), "Le service est en panne");
	for (const name of ["other", "constructor", ""]) assert.is(inFrench.stateText(name), name);
	assert.is(english.typeText("esriImage"), "esriImage");
});

test.run();
