import * as assert from "uvu/assert";
import {
	type CheckResult,
	checkResult,
	healthText,
	markRepairs,
	updateHealth,
	weekOf,
} from "../../../extensions/harvest/health.ts";
import { isBlockedOn } from "../../../registry/addresses.ts";
import {
	causeIn,
	causeOf,
	causeText,
	type Health,
	parseHealth,
	type SickState,
} from "../../../site/data/health.ts";
import { causes } from "../../../site/text/causes.ts";
import { test } from "../../helpers/suite.ts";

test("weeks are those of ISO 8601, in UTC", () => {
	for (const [day, week] of [
		["2026-01-01", "2026-W01"],
		["2025-12-29", "2026-W01"],
		["2027-01-03", "2026-W53"],
		["2021-01-03", "2020-W53"],
	])
		for (const time of ["00:00:00", "23:59:59"]) assert.is(weekOf(new Date(`${day}T${time}Z`)), week);
});

const seen = (states: Record<string, SickState | null>) =>
	new Map(Object.entries(states).map(([key, state]) => [key, state && { state }]));
const all = { has: () => true };

test("a layer keeps its week while its state stays, and is removed when it is healthy", () => {
	let health: Health = updateHealth(new Map(), seen({ b: "down", a: "empty", c: null }), "2026-W01", all);
	const text =
		'{\n  "sick": {\n    "a": {"state":"empty","since":"2026-W01"},\n    "b": {"state":"down","since":"2026-W01"}\n  }\n}\n';
	assert.is(healthText(health), text);
	health = updateHealth(parseHealth(text), seen({ a: "empty", b: "down" }), "2026-W02", all);
	assert.is(healthText(health), text, "the file stays the same");
	health = updateHealth(health, seen({ a: "wrong", b: null }), "2026-W03", all);
	assert.equal([...health], [["a", { state: "wrong", since: "2026-W03" }]]);
	assert.is(healthText(updateHealth(health, seen({ a: null }), "2026-W04", all)), null);
});

test("a layer keeps its week with another cause, and causes and values are cut", () => {
	const at = (cause: string): ReadonlyMap<string, CheckResult> => new Map([["a", { state: "down", cause }]]);
	const before = updateHealth(new Map(), at("answers with status 503"), "2026-W01", all);
	const after = updateHealth(before, at("does not answer"), "2026-W02", all);
	assert.equal(after.get("a"), { state: "down", since: "2026-W01", cause: "does not answer" });
	assert.equal(parseHealth(healthText(after)), after);
	const read = (more: object) =>
		parseHealth(JSON.stringify({ sick: { a: { state: "down", since: "2026-W10", ...more } } })).get("a");
	assert.is(read({ cause: "x".repeat(5_000) })?.cause?.length, 160);
	assert.is(read({ cause: {} })?.cause, undefined);
	assert.equal(read({ code: "toString", values: ["1"] }), { state: "down", since: "2026-W10" });
	const { values } = read({ code: "status", values: [{}, 1, "x".repeat(500), "2"] }) ?? {};
	assert.equal(values, ["x".repeat(160), "2"]);
	const long = checkResult("down", causeOf("exception", "x".repeat(500)));
	assert.equal([long.cause?.length, long.values], [160, ["x".repeat(160)]]);
	assert.equal(Object.keys(checkResult("down", causeOf("refused"))), ["state", "cause", "code"]);
});

test("a stored cause of another version is its code", () => {
	assert.is(causeText("en", JSON.parse('{"code":"no-map","values":[]}')), "no-map");
});

test("the cause of a failed host is the layer's own, and is read in both languages", () => {
	const stored = checkResult("down", causeOf("host-failed", causeOf("slow", 10)));
	assert.equal([stored.code, stored.cause], ["slow", "did not answer completely within 10 s"]);
	const french = causeIn("fr", causes.fr, stored);
	assert.is(french.lang, "fr");
	assert.match(french.text, /10/);
	assert.is.not(french.text, stored.cause);
	assert.equal(causeIn("fr", causes.fr, { cause: "fails" }), { text: "fails", lang: "en" });
});

test("a layer that was not checked keeps its entry, as long as it is registered", () => {
	const health = updateHealth(new Map(), seen({ a: "down", b: "down" }), "2026-W01", all);
	const after = updateHealth(health, seen({ c: "empty" }), "2026-W05", {
		has: (smallkey) => smallkey !== "b",
	});
	assert.equal([...after.keys()].sort(), ["a", "c"]);
	assert.is(after.get("a")?.since, "2026-W01");
});

test("a repair that waits marks its layer, a healthy one as moved, until it is decided", () => {
	const health = updateHealth(new Map(), seen({ a: "down" }), "2026-W01", all);
	const marked = markRepairs(health, new Set(["a", "b"]), "2026-W02");
	assert.equal(
		[marked.get("a")?.repair, marked.get("b")?.state, marked.get("b")?.repair],
		[true, "moved", true],
	);
	const checked = updateHealth(marked, seen({ a: "down", b: null }), "2026-W03", all);
	assert.equal([checked.get("a")?.repair, checked.get("b")?.since], [true, "2026-W02"]);
	assert.equal(markRepairs(checked, new Set(), "2026-W04"), health);
});

test("the file has at most 5,000 layers: those that have been sick longest", () => {
	const many = Array.from({ length: 6000 }, (_, index) => [`k${index}`, { state: "down" }] as const);
	const old = updateHealth(new Map(), seen({ zz: "down" }), "2026-W01", all);
	const known = parseHealth(healthText(updateHealth(old, new Map(many), "2026-W02", all)));
	assert.is(known.size, 5000);
	assert.ok(known.has("zz"));
});

test("a file that is none, and invalid entries, are ignored", () => {
	const [state, since] = ["down", "2026-W01"];
	const sick = { "../a": { state, since }, a: null, b: { state: "ill", since }, c: { state, since: "now" } };
	for (const text of [null, "", "{", "null", '{"sick":[]}', JSON.stringify({ sick })])
		assert.is(parseHealth(text).size, 0, `${text}`);
});

const addresses: [address: string, isBlocked: boolean, site?: string][] = [
	["http://a.example/wms", true],
	["http://a.example/wms", true, ""],
	["http://a.example/wms", false, "http://maps.example"],
	["HTTP://a.example/wms", true],
	["http://127.0.0.1:8080/wms", false],
	["http://[::1]/wms", false],
	["http://127.0.0.1.example/wms", true],
	["http://localhost/wms", false],
	["http://", false],
];

test("a page over https cannot load an address over http, unless it is on the same machine", () => {
	for (const [address, isBlocked, site = "https://maps.example"] of addresses)
		assert.is(isBlockedOn(address, site), isBlocked, `${site} ${address}`);
});

test.run();
