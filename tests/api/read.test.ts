import { test } from "uvu";
import * as assert from "uvu/assert";
import { routeOf } from "../../api/app.ts";
import { answerRead } from "../../api/read.ts";
import { type Reply, refuseRead } from "../../api/reply.ts";
import { smallkeysOf } from "../../api/wanted.ts";
import { etagOf, etagOfTags } from "../../registry/etag.ts";
import type { Fragments } from "../../registry/fragment.ts";
import { targetNames, targetPath } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { textOf as text } from "../local.ts";

const encoder = new TextEncoder();
const texts: Record<string, string> = {
	"en/a": '{"a":"en"}',
	"fr/a": '{"a":"fr"}',
	"en/b+c=": '{"b":"\u2028é\u2029"}',
	"en/B": '{"B":1}',
};

const fragments: Fragments = (target, lang, smallkey) => {
	if (target !== "v0.9") return null;
	const text = Object.hasOwn(texts, `${lang}/${smallkey}`) ? texts[`${lang}/${smallkey}`] : undefined;
	if (text === undefined) return null;
	const body = encoder.encode(text);
	return { body, etag: etagOf(body) };
};

function read(target: string, ifNoneMatch: string | null = null, method = "GET", docsMaxKeys = 1000): Reply {
	return readFrom(fragments, target, ifNoneMatch, method, docsMaxKeys);
}

function readFrom(
	from: Fragments,
	target: string,
	ifNoneMatch: string | null = null,
	method = "GET",
	docsMaxKeys = 1000,
): Reply {
	const route = routeOf(method, target, { basePath: "", docsMaxKeys, targets: targetNames });
	if (route.kind === "refused") return route.reply;
	if (route.kind !== "doc" && route.kind !== "docs") throw new Error(`${target}: ${route.kind}`);
	return answerRead(route, ifNoneMatch, from);
}

test("an entity tag is FNV-1a of 64 bits: the published test vectors", () => {
	// draft-eastlake-fnv, appendix C; RFC 9923.
	assert.is(etagOf(encoder.encode("")), '"cbf29ce484222325"');
	assert.is(etagOf(encoder.encode("a")), '"af63dc4c8601ec8c"');
	assert.is(etagOf(encoder.encode("foobar")), '"85944171f73967e8"');
});

test("the tag of a list follows each tag, each text, and their order", () => {
	const [one, other] = [etagOf(encoder.encode("one")), etagOf(encoder.encode("other"))];
	const lists = [
		[],
		[one],
		[other],
		[one, other],
		[other, one],
		[one, other, "f"],
		[one, "f", other],
		[one + other],
	];
	assert.is(new Set(lists.map(etagOfTags)).size, lists.length);
	assert.ok(lists.every((list) => /^"[0-9a-f]{16}"$/.test(etagOfTags(list))));
});

test("doc answers the fragment with every header", () => {
	const reply = read("/v0.9/doc/en/a");
	assert.is(reply.status, 200);
	assert.is(text(reply), '{"a":"en"}');
	assert.equal(reply.headers, {
		"Content-Type": "application/json; charset=utf-8",
		"Access-Control-Allow-Origin": "*",
		"Access-Control-Expose-Headers": "ETag, Date",
		ETag: etagOf(encoder.encode('{"a":"en"}')),
		"Cache-Control": "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400",
		"X-Content-Type-Options": "nosniff",
	});
	assert.is(text(read("/v0.9/doc/fr/a")), '{"a":"fr"}');
	assert.is(read("/v0.9/doc/en/a?callback=x").status, 200, "a query means nothing here");
});

test("the language is checked before the key; refusals have no body", () => {
	const expected: [string, number][] = [
		["/v0.9/doc/de/a", 400],
		["/v0.9/doc/EN/a", 400],
		["/v0.9/doc//a", 400],
		["/v0.9/doc/__proto__/a", 400],
		["/v0.9/docs/de/a", 400],
		["/v0.9/docs/de/a?callback=!", 400],
		["/v0.9/doc/en/none", 404],
		["/v0.9/doc/en/", 404],
		["/v0.9/doc/en/b", 404],
		["/v0.9/doc/fr/B", 404],
		["/v0.9/doc/en/constructor", 404],
		["/v0.9/doc/en/..", 404],
		["/v0.9/doc/en/%", 404],
		["/v0.9/doc/en/a,b", 404],
		["/v0.9/doc/en", 404],
		["/v0.9/doc/en/a/", 404],
		["/v0.9", 404],
		["/", 404],
		["/v1/doc/en/a", 404],
		["v0.9/doc/en/a", 404],
	];
	for (const [target, status] of expected) {
		const reply = read(target);
		assert.is(reply.status, status, target);
		assert.is(reply.body.length, 0, target);
		assert.is(reply.headers["Cache-Control"], "public, max-age=5");
		assert.is(reply.headers["Access-Control-Allow-Origin"], "*");
	}
	const posted = read("/v0.9/doc/en/a", null, "POST");
	assert.is(posted.status, 405);
	assert.is(posted.headers.Allow, "GET, HEAD");
});

test("percent-encoded spellings are the same key, and + stays +", () => {
	for (const key of ["b+c=", "b%2Bc%3D", "%62+c%3d"]) assert.is(read(`/v0.9/doc/en/${key}`).status, 200, key);
	assert.is(read("/v0.9/doc/en/b%20c=").status, 404);
});

test("docs answers one element for each item, in order, repeats kept", () => {
	const reply = read("/v0.9/docs/en/B,none,a,a");
	assert.is(reply.status, 200);
	assert.is(reply.headers["Content-Type"], "application/json; charset=utf-8");
	assert.is(text(reply), '[{"B":1},{"error_code":404,"smallkey":"none"},{"a":"en"},{"a":"en"}]');
});

test("docs decodes once, then splits, and drops spaces around items", () => {
	const missing = (...keys: string[]) => keys.map((smallkey) => ({ error_code: 404, smallkey }));
	const expected: [string, unknown[]][] = [
		["a%2CB", [{ a: "en" }, { B: 1 }]],
		["%20a%20,%20%20B", [{ a: "en" }, { B: 1 }]],
		["", missing("")],
		[",", missing("", "")],
		["a,,", [{ a: "en" }, ...missing("", "")]],
		["%252C", missing("%2C")],
		["%ff", missing("%ff")],
		["a,%zz", [{ a: "en" }, ...missing("%zz")]],
		["é", missing("é")],
		["%C3%A9", missing("é")],
		["__proto__,constructor", missing("__proto__", "constructor")],
		['"\\', missing('"\\')],
	];
	for (const [keys, elements] of expected) {
		assert.equal(JSON.parse(text(read(`/v0.9/docs/en/${keys}`))), elements, keys);
	}
});

test("docs answers 414 over a thousand items, over 16,000 bytes, and over the keys that may be fetched", () => {
	assert.is(read(`/v0.9/docs/en/${Array(1000).fill("a").join(",")}`).status, 200);
	assert.is(read(`/v0.9/docs/en/${Array(1001).fill("a").join(",")}`).status, 414);
	const head = "/v0.9/docs/en/";
	assert.is(read(head + "x".repeat(16_000 - head.length)).status, 200);
	const long = read(head + "x".repeat(16_001 - head.length));
	assert.is(long.status, 414);
	assert.is(long.body.length, 0);
	assert.is(read("/v0.9/docs/en/a,B,a,B", null, "GET", 2).status, 200);
	assert.is(read("/v0.9/docs/en/a,B,none", null, "GET", 2).status, 414);
	const settings = { basePath: "", docsMaxKeys: 9, targets: targetNames };
	const route = routeOf("GET", "/v0.9/docs/en/a,B,a,!,", settings);
	assert.equal(route.kind === "docs" && smallkeysOf(route.items), ["a", "B"]);
});

test("a callback makes the array a script", () => {
	const dotted = "dojo_request_script_callbacks.dojo_request_script0";
	const reply = read(`/v0.9/docs/en/a,none?callback=${dotted}`);
	assert.is(reply.status, 200);
	assert.match(reply.headers["Content-Type"] ?? "", /^application\/javascript/);
	assert.is(text(reply), `/**/${dotted}([{"a":"en"},{"error_code":404,"smallkey":"none"}]);`);
	const called: unknown[] = [];
	new Function("cb", text(read("/v0.9/docs/en/b%2Bc=?callback=first&x=1&callback=cb")))((array: unknown) =>
		called.push(array),
	);
	assert.equal(called, [[{ b: "\u2028é\u2029" }]], "the last callback counts");
	assert.not.match(text(read("/v0.9/docs/en/b%2Bc=?callback=cb")), /[\u2028\u2029]/);
	assert.is(read("/v0.9/docs/en/a?other=1").headers["Content-Type"], "application/json; charset=utf-8");
});

test("any other callback is 400 without a body", () => {
	const callbacks = [
		"",
		"1a",
		"a.",
		".a",
		"a..b",
		"a-b",
		"a(b)",
		"alert(1)//",
		"é",
		"a b",
		"a%0Ab",
		"x".repeat(129),
		"a[0]",
		"%",
	];
	for (const callback of callbacks) {
		const reply = read(`/v0.9/docs/en/a?callback=${callback}`);
		assert.is(reply.status, 400, callback);
		assert.is(reply.body.length, 0);
	}
	assert.is(read(`/v0.9/docs/en/a?callback=${"x".repeat(128)}`).status, 200);
	assert.is(read("/v0.9/docs/en/a?c%61llback=alert(1)").status, 400);
});

test("a conditional read is 304 while the fragment is the same", () => {
	const { headers } = read("/v0.9/doc/en/a");
	const etag = headers.ETag as string;
	for (const given of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
		const reply = read("/v0.9/doc/en/a", given);
		assert.is(reply.status, 304, given);
		assert.is(reply.body.length, 0);
		assert.is(reply.headers.ETag, etag);
	}
	assert.is(read("/v0.9/doc/fr/a", etag).status, 200);
	assert.is(read("/v0.9/doc/en/none", "*").status, 404);
	const docs = read("/v0.9/docs/en/a,B").headers.ETag as string;
	assert.is(read("/v0.9/docs/en/a,B", docs).status, 304);
	const others = [
		"/v0.9/docs/en/B,a",
		"/v0.9/docs/en/a",
		"/v0.9/docs/en/a,B?callback=f",
		"/v0.9/docs/fr/a,B",
	];
	for (const target of others) assert.is(read(target, docs).status, 200, target);
});

test("a base path stands before every read", () => {
	const settings = { basePath: "/rcs", docsMaxKeys: 9, targets: targetNames };
	const at = (target: string) => routeOf("GET", target, settings);
	assert.equal(at("/rcs/v0.9/doc/en/a"), {
		kind: "doc",
		target: "v0.9",
		lang: "en",
		callback: null,
		items: ["a"],
		isQuery: false,
		isSorted: false,
	});
	assert.equal(at("/v0.9/doc/en/a"), { kind: "refused", reply: refuseRead(404) });
	assert.equal(at("/rcsv0.9/doc/en/a"), { kind: "refused", reply: refuseRead(404) });
});

/** Fragments of a size for every key: an E2 byte and a separator in each. */
function sized(bytes: number): Fragments {
	// U+22A8 and U+22A9 have two of the bytes of a separator.
	const head = '{"a":"\u2028’⊨⊩';
	const body = encoder.encode(`${head}${"x".repeat(bytes - encoder.encode(head).length - 2)}"}`);
	return (_target, _lang, smallkey) => ({ body, etag: `"${smallkey}"` });
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

test("docs over 1 MB comes in pieces that are never joined, of the announced length", () => {
	const different = Array.from({ length: 500 }, (_, index) => `k${index}`).join(",");
	for (const query of ["", "?callback=f"]) {
		const reply = readFrom(sized(5_000), `/v0.9/docs/en/${different},!${query}`);
		assert.not.ok(reply.body instanceof Uint8Array);
		const pieces = [...(reply.body as Iterable<Uint8Array>)];
		assert.ok(pieces.every((piece) => piece.length < 100_000));
		assert.is(
			pieces.reduce((sum, piece) => sum + piece.length, 0),
			reply.body.length,
		);
		const elements: unknown[][] = [];
		if (query === "") elements.push(JSON.parse(text(reply)) as unknown[]);
		else new Function("f", text(reply))((array: unknown[]) => elements.push(array));
		assert.is(elements[0]?.length, 501);
		assert.equal(elements[0]?.at(-1), { error_code: 404, smallkey: "!" });
		assert.equal((elements[0] as { a: string }[])[0]?.a.slice(0, 5), "\u2028’⊨⊩x");
		assert.is(text(reply).includes("\u2028"), query === "");
	}
	assert.ok(readFrom(sized(5_000), `/v0.9/docs/en/k1,k2`).body instanceof Uint8Array);
	const portal = readFrom(sized(5_000), `/vcs?lang=en&id=${different}`);
	assert.not.ok(portal.body instanceof Uint8Array);
	assert.is(
		[...(portal.body as Iterable<Uint8Array>)].reduce((sum, { length }) => sum + length, 0),
		portal.body.length,
	);
	assert.is(JSON.parse(text(portal)).response.rcs.en.length, 500);
});

test("a conditional read that is 304 puts no body together", () => {
	const target = `/v0.9/docs/en/${Array(100).fill("k").join(",")}`;
	const { ETag } = readFrom(sized(9_000), target).headers;
	assert.is(readFrom(sized(9_000), target, `"x", W/${ETag}`).status, 304);
	assert.is(readFrom(sized(9_000), target, `x${ETag}`).status, 200);
});

/** Microseconds of the processor that 50 reads of a target cost. */
function costOf(target: string): number {
	const before = process.cpuUsage();
	for (let round = 0; round < 50; round += 1) read(target);
	const { user, system } = process.cpuUsage(before);
	return user + system;
}

test("an item with many spaces takes linear time", () => {
	const item = `a${" ".repeat(15_000)}b`;
	assert.equal(JSON.parse(text(read(`/v0.9/docs/en/${item}`))), [{ error_code: 404, smallkey: item }]);
	const plain = "/v0.9/docs/en/".concat("x".repeat(15_002));
	costOf(plain);
	// The square would be more than 1,000 times as much.
	assert.ok(costOf(`/v0.9/docs/en/${item}`) < 50 * costOf(plain));
});

/** Answers of a service that has `a` in every target, each with the name and the language as its fragment. */
function everyTarget(
	path: string,
	chosen: readonly TargetName[] = targetNames,
): { said: string; type: string; etag: string } {
	const some: Fragments = (name, lang, smallkey) =>
		smallkey === "a" ? { body: encoder.encode(`"${name} ${lang}\u2028"`), etag: `"${name}"` } : null;
	const route = routeOf("GET", `/b${path}`, { basePath: "/b", docsMaxKeys: 9, targets: chosen });
	if (route.kind === "refused") return { said: String(route.reply.status), type: "", etag: "" };
	if (route.kind !== "docs" && route.kind !== "doc") throw new Error(route.kind);
	const reply = answerRead(route, null, some);
	const said = reply.status === 200 ? text(reply).replaceAll("\u2028", "") : String(reply.status);
	return { said, type: reply.headers["Content-Type"] ?? "", etag: reply.headers.ETag ?? "" };
}

test("each target is read at its own addresses, and has its own element for an unknown key", () => {
	const at = (path: string) => everyTarget(path).said;
	assert.is(at("/v0.9/doc/en/a"), '"v0.9 en"');
	assert.is(at("/doc/en/a"), '"v0.9 en"', "as the older service had it at its root");
	assert.is(at("/docs/fr/a,x"), '["v0.9 fr",{"error_code":404,"smallkey":"x"}]');
	assert.is(at("/v1/docs/en/x,a,!"), '[null,"v1 en",null]');
	assert.is(at("/v1/doc/fr/a"), '"v1 fr"');
	assert.is(at("/v2/docs/en/a,x"), '["v2 en",null]');
	assert.is(at("/v2/docs//en/a,x"), '["v2 en",null]', "GeoView's own default address");
	for (const path of ["/v2/docs/en/x", "/v2/docs//fr/!", "/v2/docs/en/", "/v2/docs/en/%zz"])
		assert.is(at(path), "[]", "null by itself is what GeoView never ends loading on");
	assert.is(at("/v2/docs/en/x,x"), "[null,null]");
	assert.is(at("/v2/docs/en/x?callback=f"), "/**/f([]);");
	assert.is(at("/v1/docs/en/x"), "[null]");
	assert.is(at("/v2/doc//en/a"), '"v2 en"');
	assert.is(at("/ramp4/en/a"), '"ramp4 en"');
	assert.is(at("/ramp4/en/x,a,!"), '["ramp4 en"]');
	assert.is(at("/ramp4/en/a%2Cx"), '["ramp4 en"]', "a comma makes it an array");
	assert.is(at("/ramp4/en/x%2Cx?callback=f"), "/**/f([]);");
	for (const path of ["/v2/doc///en/a", "/v3/doc/en/a", "/ramp4/en/x", "/v1/doc/en/x", "/ramp4/doc/en/a"])
		assert.is(at(path), "404", path);
	for (const path of ["/v1/doc/de/a", "/ramp4/de/a", "/v2/docs//de/a", "/docs/EN/a"])
		assert.is(at(path), "400", path);
});

test("TARGETS chooses what is served", () => {
	const at = (path: string) => everyTarget(path, ["v1"]).said;
	assert.is(at("/v1/doc/en/a"), '"v1 en"');
	for (const path of ["/v0.9/doc/en/a", "/doc/en/a", "/v2/docs//en/a", "/ramp4/en/a", "/vcs?lang=en&id=a"])
		assert.is(at(path), "404", path);
});

test("the portal asks by a query, and its answer is wrapped", () => {
	const at = (path: string) => everyTarget(path).said;
	const wrap = (rcs: string) => `{"response":{"rcs":${rcs},"gcs":[]}}`;
	const wrapped = wrap('{"fr":["v2 fr"]}');
	assert.is(at("/vcs?lang=fr&id=a,x"), wrapped);
	assert.is(at("/vcs?id=a%2Cx&referrer=host.example&lang=fr"), wrapped);
	assert.is(at("/vcs?lang=en&id=a+b"), wrap('{"en":[]}'));
	const both = wrap('{"fr":["v2 fr","v2 fr"]}');
	assert.is(at("/vcs?lang=fr&id=a,x,a"), both);
	const escaped = wrapped.replaceAll("v2 fr", "v2 fr\\u2028");
	assert.is(at("/vcs?lang=fr&id=a,x&callback=f"), `/**/f(${escaped});`);
	assert.is.not(everyTarget("/vcs?lang=fr&id=a").etag, everyTarget("/v2/docs/fr/a").etag);
	for (const path of ["/vcs", "/vcs?id=a", "/vcs?lang=de&id=a", "/vcs?language=en&id=a"])
		assert.is(at(path), "400", path);
	for (const path of ["/vcs/?lang=fr&id=a", "/vcs/en/a", "/vcsx?lang=fr&id=a"])
		assert.is(at(path), "404", path);
});

test("an answer with an unknown key is cached for 5 seconds, so that no cache hides a new layer", () => {
	const inEveryTarget: Fragments = (_target, lang, smallkey) => fragments("v0.9", lang, smallkey);
	const cachingOf = (path: string) => readFrom(inEveryTarget, path).headers["Cache-Control"];
	const minute = "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400";
	for (const path of ["/v0.9/docs/en/a", "/docs/en/a,a", "/v1/docs/en/a?callback=f", "/vcs?lang=en&id=a"])
		assert.is(cachingOf(path), minute, path);
	const paths = ["/v0.9/docs/en/a,none", "/v0.9/docs/en/none?callback=f", "/v0.9/docs/en/!", "/docs/fr/a,"];
	for (const name of ["v1/docs", "v2/docs", "ramp4", "terria"]) paths.push(`/${name}/en/none,a`);
	paths.push("/v1/docs/en/a,none/sort", "/v2/docs/en/none", "/vcs?lang=en&id=a,none");
	for (const path of paths) assert.is(cachingOf(path), "public, max-age=5", path);
	const incomplete = read("/v0.9/docs/en/a,none");
	const unchanged = read("/v0.9/docs/en/a,none", incomplete.headers.ETag);
	assert.equal([unchanged.status, unchanged.headers["Cache-Control"]], [304, "public, max-age=5"]);
});

test("one fragment is read as a script, too, in every target", () => {
	for (const name of targetNames) {
		const path = `/${targetPath(name, "fr", "a")}`;
		const script = everyTarget(`${path}?callback=a.b`);
		assert.is(script.said, `/**/a.b("${name} fr\\u2028");`);
		assert.is(script.type, "application/javascript; charset=utf-8");
		assert.is.not(script.etag, everyTarget(path).etag);
		assert.is.not(script.etag, everyTarget(`${path}?callback=c`).etag);
		assert.is(everyTarget(`${path}?callback=a(b)`).said, "400");
		assert.is(everyTarget(`${path.slice(0, -1)}x?callback=f`).said, "404");
	}
});

test.run();
