import { parse } from "acorn";
import * as assert from "uvu/assert";
import { snippetsOf } from "../../../site/data/snippets.ts";
import { test } from "../../helpers/suite.ts";

const root = "https://layers.example.ca/rcs/";
const layer = { smallkey: "a+b=", title: { en: `Say "hi" </script><b>'x'`, fr: "L’été" } };
const textsOf = (lang: "en" | "fr", targets: string[], type = "wms") =>
	new Map(snippetsOf({ ...layer, type }, lang, root, targets).map(({ name, text }) => [name, text]));

test("each viewer of a served target has a text to copy, which is valid in its language", () => {
	const texts = textsOf("en", ["v0.9", "v1", "v2", "ramp4", "terria"]);
	assert.equal([...texts.keys()], ["RAMP 4.0", "RAMP 5", "FGPV", "GeoView", "Terria", "<iframe>"]);
	for (const name of ["RAMP 4.0", "RAMP 5"]) parse(texts.get(name) ?? "", { ecmaVersion: 2022 });
	for (const name of ["GeoView", "Terria"]) JSON.parse(texts.get(name) ?? "");
	assert.equal([...textsOf("en", ["v1"]).keys()], ["RAMP 5", "<iframe>"]);
	assert.equal([...textsOf("en", ["v2"], "ogcWmts").keys()], ["GeoView", "<iframe>"]);
	assert.equal([...textsOf("en", ["v2"], "esriTile").keys()], ["FGPV", "<iframe>"]);
});

test("French texts have the French address and title; no title ends an attribute", () => {
	const terria = JSON.parse(textsOf("fr", ["terria"]).get("Terria") ?? "");
	assert.equal([terria.name, terria.url], ["L’été", `${root}terria/fr/a%2Bb%3D`]);
	assert.is(
		textsOf("en", []).get("<iframe>"),
		`<iframe src="${root}en/embed/a%2Bb%3D" title="Say &quot;hi&quot; &lt;/script&gt;&lt;b&gt;&#39;x&#39;" width="800" height="600" loading="lazy"></iframe>`,
	);
});

test.run();
