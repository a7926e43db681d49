import * as assert from "uvu/assert";
import {
	type Health,
	healthText,
	parseHealth,
	type Seen,
	type SickState,
	updateHealth,
	weekOf,
	weeksSince,
} from "../../registry/health.ts";
import { test } from "../helpers/suite.ts";

for (const [day, week] of [
	["2026-01-01", "2026-W01"],
	["2025-12-29", "2026-W01"],
	["2025-12-28", "2025-W52"],
	["2027-01-03", "2026-W53"],
	["2024-12-30", "2025-W01"],
	["2021-01-03", "2020-W53"],
] as const) {
	test(`${day} is in ${week}`, () => {
		for (const time of ["00:00:00", "23:59:59"]) assert.is(weekOf(new Date(`${day}T${time}Z`)), week);
	});
}

test("weeks are counted over the ends of years, and never below 1", () => {
	assert.is(weeksSince("2026-W09", "2026-W09"), 1);
	assert.is(weeksSince("2026-W09", "2026-W11"), 3);
	assert.is(weeksSince("2026-W53", "2027-W01"), 2);
	assert.is(weeksSince("2025-W52", "2026-W01"), 2);
	assert.is(weeksSince("2026-W10", "2026-W09"), 1, "a clock that was ahead");
	for (let day = Date.UTC(2020, 0, 1); day < Date.UTC(2030, 0, 1); day += 7 * 86_400_000) {
		assert.is(weeksSince(weekOf(new Date(day)), weekOf(new Date(day + 7 * 86_400_000))), 2);
	}
});

const seen = (states: Record<string, SickState | null>) =>
	new Map(Object.entries(states).map(([key, state]) => [key, state && { state }]));
const all = () => true;

test("a layer keeps its week while it is as it was, and is forgotten when it is well", () => {
	let health: Health = updateHealth(new Map(), seen({ b: "down", a: "empty", c: null }), "2026-W01", all);
	const text =
		'{\n  "sick": {\n    "a": {"state":"empty","since":"2026-W01"},\n    "b": {"state":"down","since":"2026-W01"}\n  }\n}\n';
	assert.is(healthText(health), text);
	health = updateHealth(parseHealth(text), seen({ a: "empty", b: "down" }), "2026-W02", all);
	assert.is(healthText(health), text, "nothing changed, and so does the file");
	health = updateHealth(health, seen({ a: "wrong", b: null }), "2026-W03", all);
	assert.equal([...health], [["a", { state: "wrong", since: "2026-W03" }]]);
	assert.is(healthText(updateHealth(health, seen({ a: null }), "2026-W04", all)), null);
});

test("a layer keeps its week with another cause, and no cause is longer than a line", () => {
	const at = (cause: string): ReadonlyMap<string, Seen> => new Map([["a", { state: "down", cause }]]);
	const before = updateHealth(new Map(), at("answers with status 503"), "2026-W01", all);
	const after = updateHealth(before, at("does not answer"), "2026-W02", all);
	assert.equal(after.get("a"), { state: "down", since: "2026-W01", cause: "does not answer" });
	assert.equal(parseHealth(healthText(after)), after);
	const long = parseHealth(
		`{"sick":{"a":{"state":"down","since":"2026-W01","cause":"${"x".repeat(5_000)}"}}}`,
	);
	assert.is(long.get("a")?.cause?.length, 160);
	assert.is(
		parseHealth('{"sick":{"a":{"state":"down","since":"2026-W01","cause":{}}}}').get("a")?.cause,
		undefined,
	);
});

test("a layer that was not checked keeps what was known, as long as it is registered", () => {
	const health = updateHealth(new Map(), seen({ a: "down", b: "down" }), "2026-W01", all);
	const after = updateHealth(health, seen({ c: "empty" }), "2026-W05", (smallkey) => smallkey !== "b");
	assert.equal([...after.keys()].sort(), ["a", "c"]);
	assert.is(after.get("a")?.since, "2026-W01");
});

test("the file names 5,000 layers at most: those that are sick for longest", () => {
	const many = Array.from({ length: 6000 }, (_, index) => [`k${index}`, { state: "down" }] as const);
	const old = updateHealth(new Map(), seen({ zz: "down" }), "2026-W01", all);
	const text = String(healthText(updateHealth(old, new Map(many), "2026-W02", all)));
	const known = parseHealth(text);
	assert.is(known.size, 5000);
	assert.ok(known.has("zz"));
	assert.ok(text.length < 400_000);
});

for (const text of [
	null,
	"",
	"{",
	"[]",
	"null",
	'{"sick":[]}',
	'{"sick":{"../a":{"state":"down","since":"2026-W01"}}}',
	'{"sick":{"a":null,"b":{"state":"ill","since":"2026-W01"},"c":{"state":"down","since":"yesterday"}}}',
	'{"week":"2026-W01","failing":{"a":1}}',
]) {
	test(`what was never written so counts as nothing: ${text}`, () => {
		assert.is(parseHealth(text).size, 0);
	});
}

test.run();
