import { test } from "uvu";
import * as assert from "uvu/assert";
import { entryOf } from "../../catalogue/entry.ts";
import { escapeMarkup } from "../../registry/markup.ts";
import type { Registration } from "../../registry/registration.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { renderLayer, targetNames } from "../../registry/targets/table.ts";
import { escapeHtml } from "../../site/static/html.ts";
import { layerHtml } from "../../site/static/layer.ts";
import { pageSettings } from "../catalogue/pages.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { type Kind, type Member, members, otherMembers, type Reader } from "./members.ts";

/** The names in `properties` of a language's part of a schema. */
function namesIn(part: unknown): string[] {
	if (typeof part !== "object" || part === null) return [];
	return Object.entries(part).flatMap(([keyword, value]) => [
		...(keyword === "properties" ? Object.keys(value) : []),
		...namesIn(value),
	]);
}

test("every member of a registration has its row: where each viewer and page has it, or why not", () => {
	const listed = new Set([...members.map(({ name }) => name), ...Object.keys(otherMembers)]);
	const parts = new Set([...listed].flatMap((name) => name.split(".")));
	const all = namesIn([registration1, registration2]).filter((name) => !["en", "fr", "v2"].includes(name));
	for (const name of all) assert.ok(parts.has(name), `${name}: no row in tests/registry/members.ts`);
	for (const name of parts) assert.ok(all.includes(name), `${name}: is in no schema`);
});

const settings = { metadataUrl: "", catalogueUrl: "" };

/** A registration of a kind with all its members, the same in both languages. */
function registrationOf(kind: Kind): Registration {
	const part: Record<string, unknown> = {};
	for (const { name, value } of members.filter(({ kinds }) => kinds.includes(kind))) {
		const [outer = "", inner] = name.split(".");
		if (inner === undefined) part[outer] = value;
		else part[outer] = { ...(part[outer] as object | undefined), [inner]: value };
	}
	if (kind === "wms" || kind === "feature")
		return { version: "1.0.0", payload_type: kind, en: part, fr: part } as unknown as Registration;
	const whole = {
		service_type: kind,
		service_url: "https://member.example/MapServer",
		scrape_only: [1],
		...part,
	};
	const { scrape_only, ...single } = whole;
	const node = kind === "esriFeature" ? single : whole;
	return { version: "2.0", en: node, fr: node } as unknown as Registration;
}

/** The paths of all values that contain a value, below the layer. */
function placesOf(value: unknown, wanted: string, path: readonly string[] = []): string[] {
	if (typeof value !== "object" || value === null)
		return String(value).includes(wanted) ? [path.join(".")] : [];
	return Object.entries(value).flatMap(([name, part]) => placesOf(part, wanted, [...path, name]));
}

/** Where a layer begins in the fragment of each target. */
const start = /^(?:layers\.(?:wms\.|feature\.)?0|catalog\.0)\./;

function assertPlaces({ name, at, value }: Member, reader: Reader, content: unknown): void {
	const places = placesOf(content, escapeMarkup(String(value))).map((path) => path.replace(start, ""));
	const place = at[reader] ?? "";
	// The entry has a title in each language.
	const own = places.filter((path) => !path.endsWith(".fr"));
	assert.equal(own, place.startsWith("-") ? [] : [place], `${name} at ${reader}`);
}

for (const kind of ["wms", "feature", "ogcWms", "esriFeature", "esriMapServer"] as const)
	test(`each member of ${kind} is where its row says, escaped where it is shown`, () => {
		const registration = registrationOf(kind);
		const own = members.filter(({ kinds }) => kinds.includes(kind));
		const rendered = renderLayer(targetNames, "en", "key", registration, null, settings);
		for (const [index, target] of targetNames.entries()) {
			const text = rendered[index] ?? null;
			if (text === null) continue;
			assertAcceptedAt(target, text);
			assert.not.match(text, /<b>/, target);
			for (const member of own) assertPlaces(member, target, JSON.parse(text));
		}
		const layer = { smallkey: "key", registration, description: null };
		const entry = entryOf(layer, {}, new Map(), settings);
		for (const member of own) assertPlaces(member, "entry", entry);
		for (const lang of langs) {
			const html = layerHtml(lang, entry, pageSettings);
			assert.not.match(html, /<b>/);
			for (const { name, at, value } of own) {
				const isShown = html.includes(escapeHtml(escapeMarkup(String(value))));
				assert.is(isShown, at.page === "shown", `${name} on the page`);
			}
		}
	});

test.run();
