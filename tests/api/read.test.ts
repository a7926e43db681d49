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

async function readFrom(from: Read, target: string, settings: Partial<ReadSettings> = {}): Promise<Reply> {
	const all = { basePath: "", docsMaxKeys: 1000, targets: targetNames, ...settings };
	const route = routeOf("GET", target, all);
	if (route.kind === "refused") return route.reply;
	if (route.kind !== "doc" && route.kind !== "docs") throw new Error(`${target}: ${route.kind}`);
	return answerRead(route, null, (folder, key) => from(`${folder}/${key}`));
}

test("docs over 32 MB with repeats is 414 before anything is put together", async () => {
	const thousand = Array(1000).fill("k").join(",");
	const read = (bytes: number) => {
		const fragment = { body: new Uint8Array(bytes), etag: "" };
		return readFrom(() => fragment, `/v0.9/docs/en/${thousand}`);
	};
	const brackets = 2;
	const commas = 999;
	assert.is((await read(32_000)).body.length, 32_000_000 + commas + brackets);
	const { status, body } = await read(32_001);
	assert.equal([status, body.length], [414, 0]);
});

async function everyTarget(path: string, targets = targetNames) {
	const some: Read = (file) => {
		const [name, lang, smallkey] = partsOf(file);
		return smallkey === "a" ? { body: encoder.encode(`"${name} ${lang}\u2028"`), etag: `"${name}"` } : null;
	};
	const reply = await readFrom(some, `/b${path}`, { basePath: "/b", docsMaxKeys: 9, targets });
	const said = reply.status === 200 ? text(reply).replaceAll("\u2028", "") : String(reply.status);
	return { said, etag: reply.headers.ETag };
}

test("TARGETS chooses what is served", async () => {
	const at = async (path: string) => (await everyTarget(path, ["v1"])).said;
	assert.is(await at("/v1/doc/en/a"), '"v1 en"');
	for (const path of ["/v0.9/doc/en/a", "/doc/en/a", "/v2/docs//en/a", "/ramp4/en/a", "/vcs?lang=en&id=a"])
		assert.is(await at(path), "404", path);
});

test("each target has its own element for an unknown key, and the portal's answer to a query is wrapped", async () => {
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
	for (const [path, answer] of table) assert.is((await everyTarget(path)).said, answer, path);
	for (const path of ["/v2/docs/fr/a", "/vcs?lang=fr&id=a&callback=f"])
		assert.is.not((await everyTarget("/vcs?lang=fr&id=a")).etag, (await everyTarget(path)).etag);
});

test("v1 has lists in drawing order: lower ranks first, what has none between, equal ones as asked for", async () => {
	const ranks: Record<string, number> = { point1: 2, polygon2: 0, point2: 2, polygon1: 0, line: 1 };
	const ranked: Read = (path) => {
		const [, , smallkey] = partsOf(path);
		const rank = ranks[smallkey];
		const fragment = { body: encoder.encode(`"${smallkey}"`), etag: smallkey };
		return rank === undefined ? fragment : { ...fragment, rank };
	};
	const keys = "point2,line,polygon2,wms,no key,point1,polygon1,line,point2";
	const list = async (path: string) => text(await readFrom(ranked, `/v1/docs/en/${keys}${path}`));
	const sorted = '["polygon2","polygon1","line","wms",null,"line","point2","point1","point2"]';
	assert.is(await list("/sort"), sorted);
	assert.is(await list("/sort?callback=f"), `/**/f(${sorted});`);
	assert.is(await list(""), '["point2","line","polygon2","wms",null,"point1","polygon1","line","point2"]');
	for (const path of words("/v0.9/docs/en/a/sort /v1/doc/en/a/sort /v2/docs/en/a/sort /v1/docs/en/a/other"))
		assert.is((await readFrom(ranked, path)).status, 404, path);
});

test.run();
