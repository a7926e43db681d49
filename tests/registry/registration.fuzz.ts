import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import * as assert from "uvu/assert";
import { parseJson } from "../../registry/json.ts";
import { canonicalText, parseRegistration } from "../../registry/registration.ts";
import { pointerOf, textsOf } from "../../registry/texts.ts";
import { fuzzRuns } from "../helpers/fuzz.ts";
import { tiles } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";

const encoder = new TextEncoder();
const folder = new URL("../fixtures/valid/", import.meta.url);
const node = {
	service_type: "ogcWms",
	service_url: "https://h.example/",
	scrape_only: ["a"],
	metadata: { uuid: "u" },
};
const registrations = [
	...readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8")),
	...[tiles, JSON.stringify({ version: "2.0", en: node, fr: node })],
];

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

function placesOf(value: Json, path: string[] = []): string[][] {
	if (typeof value !== "object" || value === null) return [path];
	return [path, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))];
}

/** A copy with another value at a place; undefined takes it away. */
function withValue(value: Json, path: string[], other: Json | undefined): Json | undefined {
	const [name, ...rest] = path;
	if (name === undefined) return other;
	if (typeof value !== "object" || value === null) return value;
	const copy = structuredClone(value) as { [name: string]: Json };
	const changed = withValue(copy[name] as Json, rest, other);
	if (changed === undefined) delete copy[name];
	else copy[name] = changed;
	return copy;
}

const nearlyRegistrations = fc
	.tuple(
		fc.constantFrom(...registrations),
		fc.array(fc.tuple(fc.nat(), fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined }), fc.string()), {
			minLength: 1,
			maxLength: 3,
		}),
	)
	.map(([registration, changes]) => {
		let value: Json = JSON.parse(registration);
		for (const [at, other, name] of changes) {
			const places = placesOf(value);
			const place = places[at % places.length] as string[];
			const added = at % 3 === 0 ? [...place.slice(0, -1), name] : place;
			value = withValue(value, added, other as Json | undefined) ?? {};
		}
		return JSON.stringify(value);
	});

test("any text is read or refused with a bounded message, and what is read round-trips", () => {
	const anything = fc.oneof(nearlyRegistrations, fc.json(), fc.string());
	fc.assert(
		fc.property(anything, (text) => {
			const written = parseRegistration(encoder.encode(text), "written");
			const stored = parseRegistration(encoder.encode(text), "stored");
			if (written.registration) assert.equal(stored, written);
			for (const { registration, problems } of [written, stored]) {
				assert.is(registration === null, problems.length > 0);
				assert.ok(problems.length <= 21);
				assert.ok(encoder.encode(JSON.stringify({ errors: textsOf(problems) })).length <= 16_000);
				for (const text of textsOf(problems)) assert.match(text, /^(?:\/.*?: |the document:? )/s);
				if (!registration) continue;
				const again = parseRegistration(encoder.encode(canonicalText(registration)), "stored");
				assert.equal(again.registration, registration);
			}
		}),
		{ numRuns: fuzzRuns },
	);
});

test("JSON is read as JSON.parse reads it, unless a name is repeated: then every repeat is named", () => {
	const names = fc.oneof(fc.constantFrom("a", "b", "__proto__", "a/b", "~", ""), fc.string());
	const lists = fc.array(fc.tuple(names, fc.json()), { maxLength: 8 });
	fc.assert(
		fc.property(lists, fc.constantFrom("", " ", "\r\n", "\t"), (members, space) => {
			const parts = members.map(([name, json]) => `${JSON.stringify(name)}:${space}${json}`);
			const text = `{${parts.join(`${space},`)}}`;
			const { value, problems } = parseJson(encoder.encode(text));
			const repeats = members.filter(
				([name], index) => members.findIndex(([other]) => other === name) < index,
			);
			assert.equal(value, repeats.length > 0 ? null : JSON.parse(text));
			const texts = repeats.map(([name]) => `${pointerOf([name])}: occurs more than once`);
			assert.equal(textsOf(problems), texts);
		}),
		{ numRuns: fuzzRuns },
	);
});

test("what JSON.parse refuses is refused with its place, and nothing else is", () => {
	const characters = fc.constantFrom(...'{}[]",:\\/u0 19.eE+-truefalsn\n\r\t\u00a0\u2028\u0001é');
	const changed = fc.tuple(fc.json(), fc.nat(), characters).map(([json, at, character]) => {
		const place = at % (json.length + 1);
		return json.slice(0, place) + character + json.slice(place);
	});
	fc.assert(
		fc.property(fc.oneof(fc.string({ unit: characters }), changed), (text) => {
			const [problem = ""] = textsOf(parseJson(encoder.encode(text)).problems);
			const isRefused = /^the document: (?:must not be empty|.*line \d+, column \d+)$/s.test(problem);
			if (isRefused) assert.throws(() => JSON.parse(text));
			else assert.not.throws(() => JSON.parse(text), text);
		}),
		{ numRuns: fuzzRuns },
	);
});

test.run();
