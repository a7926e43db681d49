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

type Checks = Record<string, SickState | null>;

function update(health: Health, week: string, checks: Checks, registered = { has: (_: string) => true }) {
	const results = Object.entries(checks).map(([key, state]) => [key, state && { state }] as const);
	return updateHealth(health, new Map(results), week, registered);
}

const healthy: Health = new Map();

test("a layer keeps its week while its state stays, and is removed when it is healthy", () => {
	let health = update(healthy, "2026-W01", { b: "down", a: "empty", c: null });
	const text =
		'{\n  "sick": {\n    "a": {"state":"empty","since":"2026-W01"},\n    "b": {"state":"down","since":"2026-W01"}\n  }\n}\n';
	assert.is(healthText(health), text);
	health = update(parseHealth(text), "2026-W02", { a: "empty", b: "down" });
	assert.is(healthText(health), text, "the file stays the same");
	health = update(health, "2026-W03", { a: "wrong", b: null });
	assert.equal([...health], [["a", { state: "wrong", since: "2026-W03" }]]);
	assert.is(healthText(update(health, "2026-W04", { a: null })), null);
});

test("a layer keeps its week with another cause", () => {
	const before: Health = new Map([["a", { state: "down", since: "2026-W01", cause: "is slow" }]]);
	const check: CheckResult = { state: "down", cause: "does not answer" };
	const after = updateHealth(before, new Map([["a", check]]), "2026-W02", before);
	assert.equal(after.get("a"), { ...check, since: "2026-W01" });
	assert.equal(parseHealth(healthText(after)), after);
});

test("causes and their values are cut to 160 characters, and invalid ones are left out", () => {
	const sickness = { state: "down", since: "2026-W10" };
	const parsed = (cause: object) =>
		parseHealth(JSON.stringify({ sick: { a: { ...sickness, ...cause } } })).get("a");
	assert.is(parsed({ cause: "x".repeat(5_000) })?.cause?.length, 160);
	assert.is(parsed({ cause: {} })?.cause, undefined);
	assert.equal(parsed({ code: "toString", values: ["1"] }), sickness);
	const { values } = parsed({ code: "status", values: [{}, 1, "x".repeat(500), "2"] }) ?? {};
	assert.equal(values, ["x".repeat(160), "2"]);
	const long = checkResult("down", causeOf("exception", "x".repeat(500)));
	assert.equal([long.cause?.length, long.values], [160, ["x".repeat(160)]]);
	assert.equal(Object.keys(checkResult("down", causeOf("refused"))), ["state", "cause", "code"]);
});

test("a stored cause of another version is its code", () => {
	assert.is(causeText("en", JSON.parse('{"code":"no-map","values":[]}')), "no-map");
});

test("the cause of a failed host is the layer's own, and is read in both languages", () => {
	const result = checkResult("down", causeOf("host-failed", causeOf("slow", 10)));
	assert.equal([result.code, result.cause], ["slow", "did not answer completely within 10 s"]);
	const french = causeIn("fr", causes.fr, result);
	assert.is(french.lang, "fr");
	assert.match(french.text, /10/);
	assert.is.not(french.text, result.cause);
	assert.equal(causeIn("fr", causes.fr, { cause: "fails" }), { text: "fails", lang: "en" });
});

test("a layer that was not checked keeps its entry, as long as it is registered", () => {
	const health = update(healthy, "2026-W01", { a: "down", b: "down" });
	const after = update(health, "2026-W05", { c: "empty" }, new Set(["a", "c"]));
	assert.equal([...after.keys()].sort(), ["a", "c"]);
	assert.is(after.get("a")?.since, "2026-W01");
});

test("a repair that waits marks its layer, a healthy one as moved, until it is decided", () => {
	const health = update(healthy, "2026-W01", { a: "down" });
	const marked = markRepairs(health, new Set(["a", "b"]), "2026-W02");
	assert.equal(
		[marked.get("a")?.repair, marked.get("b")?.state, marked.get("b")?.repair],
		[true, "moved", true],
	);
	const checked = update(marked, "2026-W03", { a: "down", b: null });
	assert.equal([checked.get("a")?.repair, checked.get("b")?.since], [true, "2026-W02"]);
	assert.equal(markRepairs(checked, new Set(), "2026-W04"), health);
});

test("the file has at most 5,000 layers: those that have been sick longest", () => {
	const checks = Object.fromEntries(
		Array.from({ length: 6000 }, (_, index) => [`k${index}`, "down" as const]),
	);
	const health = update(update(healthy, "2026-W01", { zz: "down" }), "2026-W02", checks);
	const stored = parseHealth(healthText(health));
	assert.is(stored.size, 5000);
	assert.ok(stored.has("zz"));
});

test("a missing or invalid file, and invalid entries, are ignored", () => {
	const [state, since] = ["down", "2026-W01"];
	const sick = { "../a": { state, since }, a: null, b: { state: "ill", since }, c: { state, since: "now" } };
	for (const text of [null, "", "{", "null", '{"sick":[]}', JSON.stringify({ sick })])
		assert.is(parseHealth(text).size, 0, `${text}`);
});

const addresses: [address: string, isBlocked: boolean, site?: string][] = [
	["http://a.example/wms", true],
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
