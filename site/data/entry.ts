import type { FromSchema } from "json-schema-to-ts";
import { currentDescription, plainKeywords } from "../../registry/description.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { isVersion2, kindOf } from "../../registry/registration.ts";
import { described, document, exactly, list, nullable, string } from "../../registry/schemas/definitions.ts";
import { maxAbstract, maxTitle } from "../../registry/schemas/description.ts";
import type { PublicName } from "../../registry/sender.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { plainText, shorten } from "../../registry/untrusted.ts";
import { areaOf, type Bounds, boundsOf } from "../service/projections.ts";
import { causes } from "../text/causes.ts";
import { type CauseCode, type Health, sickStates } from "./health.ts";

const both = exactly({ en: string(), fr: string() });

/** JSON Schema (draft-07) of a layer in the catalogue. */
export const entry = exactly(
	{
		smallkey: { type: "string", pattern: "^[A-Za-z0-9_+=-]{1,64}$" },
		type: string("wms, feature, or the service type of a registration of version 2.0."),
		title: both,
		address: described(
			"Of the service, as registered; fr is left out where it is the same.",
			{ en: string() },
			{ fr: string() },
		),
	},
	{
		description: {
			...described(
				"At most 300 characters of the service's description; left out if it has none.",
				{},
				{ en: string(), fr: string() },
			),
			minProperties: 1,
		},
		keywords: {
			...described("The service's keywords by language.", {}, { en: list(string()), fr: list(string()) }),
			minProperties: 1,
		},
		layers: described(
			"Names or numbers of the layers inside the service, where they are not part of the address; fr is left out where they are the same.",
			{ en: list(string()) },
			{ fr: list(string()) },
		),
		sender: {
			description: "Public name of the sender who registered it last, where the operator has set one.",
			anyOf: [string(), both],
		},
		changed: described(
			"The last commit that changed it, by its first 12 digits; left out where the history is not complete.",
			{
				commit: { type: "string", pattern: "^[0-9a-f]{12}$" },
				date: {
					description: "When it was committed: UTC, whole seconds.",
					type: "string",
					pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$",
				},
			},
		),
		health: nullable(
			exactly(
				{
					state: {
						description:
							"wrong: the registration is; down: the service does not answer; empty: the service draws nothing; blocked: browsers do not show it on an https site; moved: its service redirects permanently, and a repair waits.",
						enum: sickStates,
					},
					since: { type: "string", pattern: "^\\d{4}-W\\d{2}$" },
				},
				{
					cause: string("What was seen last, in English, such as `answers with status 503`."),
					code: {
						description: "The same as a code. The texts of all codes are in site/text/causes.ts.",
						enum: Object.keys(causes.en) as CauseCode[],
					},
					values: list(string(), "The values in the text of the code."),
					repair: { description: "Whether a repair of the layer waits for a decision.", const: true },
				},
			),
			"What is wrong, and the week in which it was first seen; null where it was not checked yet; left out where no problem was seen.",
		),
		bounds: {
			description: "West, south, east, north in degrees (RFC 7946, section 5); left out where unknown.",
			type: "array",
			items: { type: "number" },
			minItems: 4,
			maxItems: 4,
		},
		thumbnail: string("Path of its picture below the site, where there is one."),
		unread: list(
			string(),
			"<target>/<lang> of each form in which it cannot be read; left out where it can be read in all.",
		),
	},
);

type Frozen<T> = { readonly [K in keyof T]: Frozen<T[K]> };

export interface Entry extends Omit<Frozen<FromSchema<typeof entry>>, "bounds"> {
	readonly bounds?: Bounds;
}

export interface KnownOfLayer {
	/** The last commit that changed it, by its first 12 digits. */
	changed?: { commit: string; date: string } | undefined;
	sender?: PublicName | undefined;
	thumbnail?: string | undefined;
}

const maxDescriptionLength = 300;

/** Texts without markup; bounds in degrees. */
export function describedFor(
	{ registration, description }: Pick<CheckedLayer, "registration" | "description">,
	lang: Lang,
) {
	const current = currentDescription(registration, description, lang);
	const feature = current && "renderer" in current ? current : null;
	const title = feature?.name ?? (current && "title" in current ? current.title : "");
	const bounds = current?.bounds as Bounds | undefined;
	return {
		title: plainText(title ?? "", maxTitle) || null,
		description: plainText(current?.abstract ?? "", maxAbstract) || null,
		keywords: plainKeywords(current?.keywords ?? []),
		bounds: bounds ?? (feature?.extent ? boundsOf(areaOf(feature.extent)) : null),
		/** A description of another origin does not show that the service has answered. */
		isHarvested: current !== null && current.from === undefined,
	};
}

/** Its health is null if the layer's services have not answered yet. */
export function contentOf(layer: CheckedLayer, settings: FragmentSettings): Entry {
	const { smallkey, registration } = layer;
	const factsIn = (lang: Lang) => layerFacts(lang, smallkey, registration, layer.description, settings);
	const facts = { en: factsIn("en"), fr: factsIn("fr") };
	const descriptions = { en: describedFor(layer, "en"), fr: describedFor(layer, "fr") };
	/** The registered name, or the service's title, or the technical name that viewers show. */
	const titleIn = (lang: Lang) =>
		(!registration[lang].service_name && descriptions[lang].title) || facts[lang].name;
	const inLangs = <T extends string | string[]>(get: (lang: Lang) => T) => {
		const values = langs.map((lang) => [lang, get(lang)] as const).filter(([, { length }]) => length > 0);
		return values.length > 0 && (Object.fromEntries(values) as Partial<Record<Lang, T>>);
	};
	const description = inLangs((lang) => shorten(descriptions[lang].description ?? "", maxDescriptionLength));
	const keywords = inLangs((lang) => [...new Set(descriptions[lang].keywords)]);
	const bounds = descriptions.en.bounds ?? descriptions.fr.bounds;
	// Every target can express version 1.x.
	const targets = isVersion2(registration) ? (settings.targets ?? targetNames) : [];
	const unread = targets.flatMap((target) =>
		langs.filter((lang) => renderAt(target, facts[lang]) === null).map((lang) => `${target}/${lang}`),
	);
	const layers = inBoth(facts.en.entries.map(String), facts.fr.entries.map(String));
	const isChecked = descriptions.en.isHarvested || descriptions.fr.isHarvested;
	return {
		smallkey,
		type: kindOf(registration),
		title: { en: titleIn("en"), fr: titleIn("fr") },
		...(description && { description }),
		...(keywords && { keywords }),
		address: inBoth(registration.en.service_url, registration.fr.service_url),
		...(layers.en.length > 0 && { layers }),
		...(bounds && { bounds }),
		...(unread.length > 0 && { unread }),
		...(!isChecked && { health: null }),
	};
}

/** `fr` is left out where it is the same. */
function inBoth<T extends string | string[]>(en: T, fr: T): { en: T; fr?: T } {
	return { en, ...(`${fr}` !== `${en}` && { fr }) };
}

/** @param content may be an earlier entry, unless its layer has recovered: only files say whether it was checked */
export function entryOf(
	{ sender: _, changed: __, thumbnail: ___, health: last, ...content }: Entry,
	{ changed, sender, thumbnail }: KnownOfLayer,
	sick: Health,
): Entry {
	const health = sick.get(content.smallkey) ?? (last === null ? null : undefined);
	return {
		...content,
		...(sender && { sender }),
		...(changed && { changed }),
		...(health !== undefined && { health }),
		...(thumbnail !== undefined && { thumbnail }),
	};
}

export const catalogueChunk = document(
	"catalogue-chunk",
	"The entries of some layers, sorted by smallkey",
	exactly({
		version: { description: "A reader ignores a chunk of another version.", const: 4 },
		entries: { ...list(entry), minItems: 1 },
	}),
);
