import fc from "fast-check";
import * as assert from "uvu/assert";
import { canonicalText, parseRegistration, type Registration } from "../../registry/registration.ts";
import { textsOf } from "../../registry/texts.ts";
import { fuzzRuns } from "../helpers/fuzz.ts";
import { test } from "../helpers/suite.ts";
import { registrations1, registrations2 } from "./registrations.ts";

const encoder = new TextEncoder();
const registrations = fc.oneof(registrations1, registrations2);
const parameters = { numRuns: fuzzRuns };

function parsed(text: string): Registration {
	const { registration, problems } = parseRegistration(encoder.encode(text), "written");
	assert.equal(problems, [], text);
	return registration as Registration;
}

test("every registration round-trips: nothing is added, nothing is lost, and there is one canonical text", () => {
	fc.assert(
		fc.property(registrations, fc.constantFrom(undefined, 1, "\t", " \n"), (registration, space) => {
			const read = parsed(JSON.stringify(registration, null, space));
			assert.equal(read, JSON.parse(JSON.stringify(registration)));
			const text = canonicalText(read);
			const again = parsed(text);
			assert.equal(again, read);
			assert.is(canonicalText(again), text);
		}),
		parameters,
	);
});

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
		registrations,
		fc.array(fc.tuple(fc.nat(), fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined }), fc.string()), {
			minLength: 1,
			maxLength: 3,
		}),
	)
	.map(([registration, changes]) => {
		let value: Json = JSON.parse(JSON.stringify(registration));
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
		parameters,
	);
});

test.run();
