import * as assert from "uvu/assert";
import { answer, answerFailure, type Engine, routeOf } from "../../api/app.ts";
import { type Reply, refuseRead } from "../../api/reply.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { parsePage } from "../../site/http/pages.ts";
import { StoreBusy } from "../../store/store.ts";
import { textOf, writes } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";
import { words } from "../helpers/world.ts";

const settings = { basePath: "", docsMaxKeys: 9, targets: targetNames };

function said(method: string, target: string, basePath = ""): string {
	const route = routeOf(method, target, { ...settings, basePath }, { writes });
	if (route.kind !== "refused") return route.kind;
	const { status, headers, body } = route.reply;
	const allow = headers.Allow === undefined ? "" : `, Allow: ${headers.Allow}`;
	return `${status} ${body.length === 0 ? "empty" : JSON.parse(textOf(route.reply)).errors[0]}${allow}`;
}

const literal = "400 path: must be /register/<smallkey>, not ";
const tooLong = "400 path: must have at most 256 characters";
const notFound = "404 path: must be /register/<smallkey>, not ";

/** Beside those of the conformance tests. */
test("one table of routes, for every engine", () => {
	const table: [string, string][] = [
		["GET /v2/version/", "version"],
		["GET /v2/versions/", "404 empty"],
		["GET /status/23ax5t", "status"],
		["HEAD /status/a%2Bb?x", "status"],
		["GET /status/", "status"],
		["GET /status/a/b", "404 empty"],
		["OPTIONS /status/a", "preflight"],
		["OPTIONS /none", "404 empty"],
		["PUT /status/a", "405 empty, Allow: GET, HEAD"],
		["DELETE /v1/register/a%2Fb", "write"],
		["PUT /v2/update/2_0/a", notFound],
		["PUT /x/register/a", notFound],
		["DELETE /none/a", notFound],
		["POST /register", notFound],
		["POST /v1/update/all/100", notFound],
		["POST /v2/refresh/all/1/2", notFound],
		["GET /v2/update/a", "405 method: must be PUT, not GET, Allow: PUT"],
		["GET /v1/update/all", "405 method: must be POST, not GET, Allow: POST"],
		["POST /v2/refresh/all?", literal],
		["PUT /register/", "write"],
		["PUT http://h/register/a", literal],
		["PUT register/a", literal],
		[`PUT /v1/updatefeature/${"%41".repeat(64)}`, "write"],
		[`PUT /register/${"x".repeat(246)}`, "write"],
		[`PUT /register/${"x".repeat(247)}`, tooLong],
		[`PUT //${"x".repeat(300)}/x`, tooLong],
		[`POST /v2/refresh/${"x".repeat(60_000)}`, tooLong],
		["POST /registers/a", "404 empty"],
	];
	for (const [request, expected] of table) {
		const [method = "", target = ""] = request.split(" ");
		const value = expected.endsWith(", not ") ? JSON.stringify(target) : "";
		assert.is(said(method, target), expected + value, request);
	}
});

test("the path of a write is taken as a URL parser would leave it", () => {
	const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
	// A query is another refusal; engines differ in ^, which no path needs.
	const single = characters
		.filter((character) => character !== "?" && character !== "^")
		.map((character) => `/register/a${character}b`);
	// Not `.a`: the parser of Node.js 20 keeps a `.` behind it.
	const segments = ["", "a", ".", "..", "...", "%2e", "%2E.", "%2e%2E", "%2"];
	const folders = segments.flatMap((first) =>
		segments.flatMap((second) => [
			`/${first}/${second}`,
			`/register/${first}/${second}/a`,
			`/${first}/register/${second}`,
		]),
	);
	const isKept = (target: string) => new URL(`http://host${target}`).pathname === target;
	for (const target of [...single, ...folders]) {
		// Behind a host of its own, a parser takes a second / for a part of the path.
		const expected = isKept(target) && !target.startsWith("//");
		assert.is(!said("PUT", target).startsWith(literal), expected, JSON.stringify(target));
	}
	assert.is(said("PUT", "/register/a^b"), `${literal}"/register/a^b"`);
});

test("the catalogue has files of plain names only, and the slash of its folders", () => {
	const page = (target: string, basePath = "") => {
		const route = parsePage(target.slice(basePath.length), basePath);
		return typeof route === "string" ? `to ${route}` : (route?.file ?? "404.html");
	};
	for (const [target, expected, basePath] of [
		["/?q=x", "index.html"],
		["/fr/?q=x", "fr/index.html"],
		["/index/chunks/08-0.json", "index/chunks/08-0.json"],
		["/en/layer/a+b%3D?x", "en/layer/a+b=.html"],
		["/rcs/fr/embed/a%2Bb", "fr/embed/a+b.html", "/rcs"],
		["/list/fr/", "list/fr/index.html"],
		["/guide/fr", "to /guide/fr/"],
		["/guide/publish.html", "guide/publish.html"],
		["/rcs?q=x", "to /rcs/?q=x", "/rcs"],
		["/rcs/list?x", "to /rcs/list/?x", "/rcs"],
	] as const)
		assert.is(page(target, basePath), expected, target);
	for (const odd of [
		...words("/dist.catalogue /_headers /.assetsignore /enx/ /status /index.html /index/../site.json"),
		...words("/assets/%2e%2e/site.json /assets/.hidden /en//index.html /en/é /en/layer/%zz /en/layer/a.b"),
		...["/en/\0", `/en/${"x".repeat(300)}.html`, "//en/", "/\\en/", "/v0.9/", "/index/a b"],
		"/assets/x%00.js",
	])
		assert.is(page(odd), "404.html", odd);
	const matches = (path: string) => path === "/en/";
	const other = { name: "page", matches, answer: () => refuseRead(404) };
	const last = { ...other, matches: (path: string) => path.startsWith("/") };
	const kindOf = (method: string, target: string, basePath = "") => {
		const route = routeOf(method, target, { ...settings, basePath }, { routes: [other, last] });
		return route.kind === "refused" ? route.reply.status : route.kind === "other" && route.route;
	};
	assert.is(kindOf("GET", "/rcs/en/", "/rcs"), other);
	assert.is(kindOf("HEAD", "/fr/"), last);
	for (const path of ["/en/", "/fr/"]) assert.is(kindOf("POST", path), 405);
	for (const outside of ["/en/", "/rcsconstructor"]) assert.is(kindOf("GET", outside, "/rcs"), 404, outside);
});

test("readyz is 503 with the reason in one line", () => {
	const reason = "the files\nare behind ".concat("x".repeat(5_000));
	const behind = answer({ kind: "readyz" }, "", { context: { readiness: () => reason } } as Engine) as Reply;
	assert.is(behind.status, 503);
	assert.match(textOf(behind), /^the files are behind x+\n$/);
	assert.ok(behind.body.length <= 501);
});

test("a read of a broken world is a 500 with an empty body, and is reported", () => {
	const reported: unknown[] = [];
	const error = new Error("a secret");
	const { status, body } = answerFailure(error, "doc", { error: (reason) => reported.push(reason) });
	assert.equal([status, body.length, reported], [500, 0, [error]]);
	for (const failure of [error, new StoreBusy("busy", 2, "a secret")]) {
		const reply = answerFailure(failure, "status", { error: () => undefined });
		assert.is(reply.headers["Access-Control-Allow-Origin"], "*");
		assert.match(textOf(reply), /^{"errors":\["[^"]*"\]}$/);
	}
});

test.run();
