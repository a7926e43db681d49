import * as assert from "uvu/assert";
import { routeOf } from "../../api/app.ts";
import { answerRead } from "../../api/read.ts";
import type { ReadSettings } from "../../api/read-request.ts";
import type { Reply } from "../../api/reply.ts";
import type { Fragment } from "../../registry/targets/facts.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { partsOf, textOf as text } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";
import { words } from "../helpers/world.ts";

const encoder = new TextEncoder();

type Read = (path: string) => Fragment | null;

function readFrom(from: Read, target: string, settings: Partial<ReadSettings> = {}): Reply {
	const all = { basePath: "", docsMaxKeys: 1000, targets: targetNames, ...settings };
	const route = routeOf("GET", target, all);
	if (route.kind === "refused") return route.reply;
	if (route.kind !== "doc" && route.kind !== "docs") throw new Error(`${target}: ${route.kind}`);
	return answerRead(route, null, (folder, key) => from(`${folder}/${key}`)) as Reply;
}

function sized(bytes: number): Read {
	// U+22A8 and U+22A9 have two of the bytes of a separator.
	const head = '{"a":"\u2028’⊨⊩';
	const body = encoder.encode(`${head}${"x".repeat(bytes - encoder.encode(head).length - 2)}"}`);
	return (path) => ({ body, etag: `"${partsOf(path)[2]}"` });
}

test("docs over 32 MB with repeats is 414 before anything is put together", () => {
	const thousand = Array(1000).fill("k").join(",");
	const brackets = 2;
	const commas = 999;
	const most = sized(31_998);
	const fits = readFrom(most, `/v0.9/docs/en/${thousand}`);
	assert.is(fits.status, 200);
	assert.is(fits.body.length, 1000 * 31_998 + commas + brackets);
	assert.is(readFrom(sized(32_000), `/v0.9/docs/en/${thousand}`).status, 414);
	const script = readFrom(sized(31_997), `/v0.9/docs/en/${thousand}?callback=f`);
	assert.is(script.status, 414, "escaped separators are counted, too");
	assert.is(script.body.length, 0);
});

function everyTarget(path: string, targets = targetNames) {
	const some: Read = (file) => {
		const [name, lang, smallkey] = partsOf(file);
		return smallkey === "a" ? { body: encoder.encode(`"${name} ${lang}\u2028"`), etag: `"${name}"` } : null;
	};
	const reply = readFrom(some, `/b${path}`, { basePath: "/b", docsMaxKeys: 9, targets });
	const said = reply.status === 200 ? text(reply).replaceAll("\u2028", "") : String(reply.status);
	return { said, etag: reply.headers.ETag };
}

test("TARGETS chooses what is served", () => {
	const at = (path: string) => everyTarget(path, ["v1"]).said;
	assert.is(at("/v1/doc/en/a"), '"v1 en"');
	for (const path of ["/v0.9/doc/en/a", "/doc/en/a", "/v2/docs//en/a", "/ramp4/en/a", "/vcs?lang=en&id=a"])
		assert.is(at(path), "404", path);
});

test("each target has its own element for an unknown key, and the portal's answer to a query is wrapped", () => {
	const wrap = (rcs: string) => `{"response":{"rcs":${rcs},"gcs":[]}}`;
	const table: [path: string, answer: string][] = [
		["/docs/fr/a,x", '["v0.9 fr",{"error_code":404,"smallkey":"x"}]'],
		["/v1/docs/en/x,a,!", '[null,"v1 en",null]'],
		["/v2/docs//en/x,x", "[null,null]"],
		["/v2/docs/en/x?callback=f", "/**/f([]);"],
		["/ramp4/en/x,a,!", '["ramp4 en"]'],
		["/v2/doc///en/a", "404"],
		["/v1/doc//a", "400"],
		["/docs/EN/a", "400"],
		["/vcs?lang=fr&id=a,x", wrap('{"fr":["v2 fr"]}')],
		["/vcs?id=a%2Cx%2Ca&referrer=host.example&lang=fr", wrap('{"fr":["v2 fr","v2 fr"]}')],
		["/vcs?lang=en&id=a+b", wrap('{"en":[]}')],
		["/vcs?lang=fr&id=a,x&callback=f", `/**/f(${wrap('{"fr":["v2 fr\\u2028"]}')});`],
		...["/vcs", "/vcs?id=a", "/vcs?lang=de&id=a"].map((path): [string, string] => [path, "400"]),
		...["/vcs/?lang=fr&id=a", "/vcs/en/a", "/vcsx?lang=fr&id=a"].map((path): [string, string] => [
			path,
			"404",
		]),
	];
	for (const [path, answer] of table) assert.is(everyTarget(path).said, answer, path);
	for (const path of ["/v2/docs/fr/a", "/vcs?lang=fr&id=a&callback=f"])
		assert.is.not(everyTarget("/vcs?lang=fr&id=a").etag, everyTarget(path).etag);
});

test("v1 has lists in drawing order: lower ranks first, what has none between, equal ones as asked for", () => {
	const ranks: Record<string, number> = { point1: 2, polygon2: 0, point2: 2, polygon1: 0, line: 1 };
	const ranked: Read = (path) => {
		const [, , smallkey] = partsOf(path);
		const rank = ranks[smallkey];
		const fragment = { body: encoder.encode(`"${smallkey}"`), etag: smallkey };
		return rank === undefined ? fragment : { ...fragment, rank };
	};
	const keys = "point2,line,polygon2,wms,no key,point1,polygon1,line,point2";
	const list = (path: string) => text(readFrom(ranked, `/v1/docs/en/${keys}${path}`));
	const sorted = '["polygon2","polygon1","line","wms",null,"line","point2","point1","point2"]';
	assert.is(list("/sort"), sorted);
	assert.is(list("/sort?callback=f"), `/**/f(${sorted});`);
	assert.is(list(""), '["point2","line","polygon2","wms",null,"point1","polygon1","line","point2"]');
	for (const path of words("/v0.9/docs/en/a/sort /v1/doc/en/a/sort /v2/docs/en/a/sort /v1/docs/en/a/other"))
		assert.is(readFrom(ranked, path).status, 404, path);
});

test.run();
