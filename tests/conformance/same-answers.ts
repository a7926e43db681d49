import fc from "fast-check";
import * as assert from "uvu/assert";
import { fuzzRuns } from "../helpers/fuzz.ts";
import type { Test } from "../helpers/suite.ts";
import { words } from "../helpers/world.ts";
import { type Answer, ask, signedHeaders, type Words } from "./client.ts";
import { type Engine, layers } from "./engine.ts";
import { startNode } from "./engines.ts";

/** How many requests both engines are asked: each is answered twice over a socket. */
const runs = Math.ceil(fuzzRuns / 20);

/** Headers that have to be the same; the tag of a file is the hosting's own. */
const compared = words(`
	access-control-allow-origin access-control-expose-headers cache-control content-type retry-after
	x-content-type-options
`);

interface Request {
	method: string;
	target: string;
	/** What a write has that is signed; null: no write. */
	body: string | null;
	isSigned: boolean;
}

/** A character as it is, or percent-encoded in either case. */
const spelled = (text: string) =>
	fc
		.array(fc.integer({ min: 0, max: 9 }), { minLength: text.length, maxLength: text.length })
		.map((choices) => [...text].map((character, index) => spell(character, choices[index] ?? 0)).join(""));

function spell(character: string, choice: number): string {
	const code = character.charCodeAt(0).toString(16).padStart(2, "0");
	if (choice === 0) return `%${code}`;
	return choice === 1 ? `%${code.toUpperCase()}` : character;
}

const known = fc.constantFrom(...layers.keys()).chain(spelled);
const unknown = fc.string({ unit: fc.constantFrom(..."aZ0_-+=%,!~*'();@&$"), maxLength: 70 });
const key = fc.oneof(known, unknown, fc.constantFrom("%", "%2", "%zz", "%00", "%c3%28", "%2e%2e", "%2f", ""));
const keys = fc.array(key, { maxLength: 30 }).chain((list) => {
	return fc.constantFrom(",", "%2C", "%2c,", " ,".replace(" ", "%20")).map((comma) => list.join(comma));
});
const lang = fc.constantFrom("en", "fr", "de", "EN", "e%6e", "");
const target = fc.constantFrom("/v0.9", "", "/v1", "/v2", "/ramp4", "/V0.9", "/v3", "/register");
const query = fc.constantFrom("", "?", "?a=b", "?a=%", "?lang=fr");
const callback = fc.constantFrom(
	"",
	"?callback=f",
	"?callback=a.b",
	"?callback=1",
	"?callback=",
	"?callback=a&callback=b",
);

const doc = fc.tuple(target, lang, key, query).map(([from, l, k, q]) => `${from}/doc/${l}/${k}${q}`);
const docs = fc.tuple(target, lang, keys, callback).map(([from, l, k, q]) => `${from}/docs/${l}/${k}${q}`);
const registered = fc.tuple(key, query).map(([k, q]) => `/register/${k}${q}`);

const payload = fc.oneof(
	fc.constantFrom(
		"",
		"{}",
		"[]",
		"null",
		'{"version":"1.0.0"}',
		'{"version":"9"}',
		'{"version":1,"version":2}',
		"\ud800",
		"{",
	),
	fc.json({ maxDepth: 3 }),
	fc.string({ maxLength: 200 }),
);

const request: fc.Arbitrary<Request> = fc.oneof(
	fc.record({
		method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
		target: fc.oneof(doc, docs, registered),
		body: fc.constant(null),
		isSigned: fc.constant(false),
	}),
	fc.record({
		// A DELETE that is in order would change something, or tell of the store what the other does not have.
		method: fc.constantFrom("PUT", "POST", "PATCH"),
		target: registered,
		body: payload,
		isSigned: fc.boolean(),
	}),
);

/** Whether URL parsing in front of the worker takes a segment away: `dot segments` of differences.ts. */
const hasDotSegment = (path: string) => /\/(?:\.|%2e){1,2}(?=[/?]|$)/i.test(path);

/** What is compared of an answer: all but the time of this moment, which a refused timestamp is told. */
function comparable(answer: Answer): object {
	const headers = Object.fromEntries(compared.map((name) => [name, answer.headers[name]]));
	return {
		status: answer.status,
		headers,
		text: answer.text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"),
	};
}

async function wordsOf({ target, body, isSigned }: Request): Promise<Words> {
	if (body === null) return {};
	const timestamp = "2026-01-01T00:00:00Z";
	return {
		body,
		headers: await signedHeaders(target, isSigned ? { body } : { body, secret: "another", timestamp }),
	};
}

/** The same bytes are answered by Node and by another engine with the same bytes. */
export function sameAnswerTests(test: Test, engine: () => Engine): void {
	test(`${runs} requests are answered as Node answers them`, async () => {
		const node = await startNode(layers, { DOCS_MAX_KEYS: String(engine().docsMaxKeys) });
		try {
			await fc.assert(
				fc.asyncProperty(
					request.filter((made) => !hasDotSegment(made.target)),
					async (made) => {
						const words = await wordsOf(made);
						const [here, there] = await Promise.all([
							ask(node.origin, made.method, made.target, words),
							ask(engine().origin, made.method, made.target, words),
						]);
						// What both store is theirs to answer: the commits differ.
						if (here.status === 201 && there.status === 201) return;
						assert.equal(comparable(there), comparable(here));
					},
				),
				{ numRuns: runs },
			);
		} finally {
			await node.stop();
		}
	});
}
