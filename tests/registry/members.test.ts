import Ajv from "ajv";
import * as assert from "uvu/assert";
import type { Registration } from "../../registry/registration.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { escapeMarkup } from "../../registry/untrusted.ts";
import { contentOf, entryOf, entry as entrySchema } from "../../site/data/entry.ts";
import { escapeHtml } from "../../site/static/html.ts";
import { layerHtml } from "../../site/static/layer-page.ts";
import { test } from "../helpers/suite.ts";
import { pageSettings } from "../site/data/pages.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { type Kind, type Member, members, otherMembers, type Reader } from "./members.ts";

type Schemas = Readonly<Record<string, object>>;

const schemasOf: Readonly<Record<Kind, Schemas>> = {
	wms: without(Object.keys(registration1.definitions.wms.properties)),
	feature: without(Object.keys(registration1.definitions.feature.properties)),
	ogcWms: registration2.definitions.ogc.properties,
	ogcWmts: registration2.definitions.ogc.properties,
	esriFeature: registration2.definitions.esriFeature.properties,
	esriMapServer: registration2.definitions.esriService.properties,
	esriImage: registration2.definitions.esriPicture.properties,
};

function without(names: readonly string[]): Schemas {
	const { properties } = registration1.definitions.lang;
	return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}

const kinds = Object.keys(schemasOf) as Kind[];
const metadataNames = Object.keys(registration1.definitions.metadata.properties);

for (const kind of kinds)
	test(`every member of ${kind} has its row: where each viewer and page has it, or why not`, () => {
		const ofKind = members.filter((member) => member.kinds.includes(kind));
		const names = Object.keys(schemasOf[kind]).flatMap((name) =>
			name === "metadata" ? metadataNames.map((member) => `metadata.${member}`) : [name],
		);
		const expected = names.filter((name) => !(name in otherMembers));
		// The address of a whole service is a part of those of its layers.
		const listed = ofKind.map(({ name }) => name).concat(kind === "esriMapServer" ? "service_url" : []);
		assert.equal(listed.sort(), expected.sort(), "rows of tests/registry/members.ts");
	});

test("the members beside the languages are named with the tests that cover them", () => {
	for (const name of Object.keys({ ...registration1.properties, ...registration2.properties }))
		assert.ok(["en", "fr"].includes(name) || name in otherMembers, name);
});

const ajv = new Ajv();
const settings = { metadataUrl: "", catalogueUrl: "" };

function valueIn<Value>(lang: Lang, value: Value): Value {
	if (lang === "en") return value;
	const french = { member: "membre", Member: "Membre", MEMBER: "MEMBRE", 5417: "5418" };
	return JSON.parse(
		JSON.stringify(value).replace(/member|5417/gi, (word) => french[word as keyof typeof french]),
	) as Value;
}

function registrationOf(kind: Kind): Registration {
	const isFirst = kind === "wms" || kind === "feature";
	const part: Record<string, unknown> = {};
	if (!isFirst) Object.assign(part, { service_type: kind, service_url: "https://member.example/MapServer" });
	for (const { name, value } of members.filter(({ kinds }) => kinds.includes(kind))) {
		const [outer = "", inner] = name.split(".");
		if (inner === undefined) part[outer] = value;
		else part[outer] = { ...(part[outer] as object | undefined), [inner]: value };
	}
	if (!isFirst && !("scrape_only" in schemasOf[kind])) delete part.scrape_only;
	const outer = isFirst ? { version: "1.0.0", payload_type: kind } : { version: "2.0" };
	return { ...outer, en: part, fr: valueIn("fr", part) } as unknown as Registration;
}

function placesOf(value: unknown, text: string, path: readonly string[] = []): string[] {
	if (typeof value !== "object" || value === null)
		return String(value).includes(text) ? [path.join(".")] : [];
	return Object.entries(value).flatMap(([name, part]) => placesOf(part, text, [...path, name]));
}

const start = /^(?:layers\.(?:wms\.|feature\.)?0|catalog\.0)\./;

function assertPlaces({ name, at, value }: Member, reader: Reader, lang: Lang, content: unknown): void {
	const text = escapeMarkup(String(valueIn(lang, value)));
	const places = placesOf(content, text).map((path) => path.replace(start, ""));
	const place = at[reader] ?? "";
	const expected = reader === "entry" ? place.replace(/\.en\b/, `.${lang}`) : place;
	assert.equal(places, place.startsWith("-") ? [] : [expected], `${name} at ${reader}, ${lang}`);
}

for (const kind of kinds)
	test(`each member of ${kind} is where its row says, escaped where it is shown`, () => {
		const registration = registrationOf(kind);
		const ofKind = members.filter(({ kinds }) => kinds.includes(kind));
		const layer = { smallkey: "key", registration, description: null };
		const entry = entryOf(contentOf(layer, settings), {}, new Map());
		assert.ok(ajv.validate(entrySchema, entry), ajv.errorsText());
		for (const lang of langs) {
			const facts = layerFacts(lang, "key", registration, null, settings);
			for (const target of targetNames) {
				const text = renderAt(target, facts);
				if (text === null) continue;
				assertAcceptedAt(target, text);
				assert.not.match(text, /<b>/, target);
				for (const member of ofKind) assertPlaces(member, target, lang, JSON.parse(text));
			}
			for (const member of ofKind) assertPlaces(member, "entry", lang, entry);
			const html = layerHtml(lang, entry, pageSettings);
			assert.not.match(html, /<b>/);
			for (const { name, at, value } of ofKind) {
				const isShown = html.includes(escapeHtml(escapeMarkup(String(valueIn(lang, value)))));
				assert.is(isShown, at.page === "shown", `${name} on the page, ${lang}`);
			}
		}
	});

test.run();
