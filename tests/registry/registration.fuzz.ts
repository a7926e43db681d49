import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import * as assert from "uvu/assert";
import { canonicalText, parseRegistration } from "../../registry/registration.ts";
import { textsOf } from "../../registry/texts.ts";
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

test.run();
