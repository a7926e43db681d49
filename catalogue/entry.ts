import { currentDescription, describedFor } from "../registry/description.ts";
import type { Entry, PublicName } from "../registry/entries.ts";
import type { Health } from "../registry/health.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { kindOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../registry/targets/facts.ts";
import { renderAt, targetNames } from "../registry/targets/table.ts";

/** What is known about a layer from other sources than its own files. */
export interface KnownOfLayer {
	/** The last commit that changed it. */
	changed?: { commit: string; date: string } | undefined;
	/** Public name of the sender who registered it last. */
	sender?: PublicName | undefined;
	/** Path of its picture below the site. */
	thumbnail?: string | undefined;
}

/** Longest description in an entry, in characters. */
const maxDescriptionLength = 300;

/** Digits of a commit in an entry: enough to find it; all 40 would make an entry a seventh longer. */
const commitDigits = 12;

/** A layer's entry in the catalogue. @param health the observed health of all layers */
export function entryOf(
	layer: CheckedLayer,
	{ changed, sender, thumbnail }: KnownOfLayer,
	health: Health,
	settings: FragmentSettings,
): Entry {
	const { smallkey, registration, description } = layer;
	const factsIn = (lang: Lang) => layerFacts(lang, smallkey, registration, description, settings);
	const facts = { en: factsIn("en"), fr: factsIn("fr") };
	const described = { en: describedFor(layer, "en"), fr: describedFor(layer, "fr") };
	/** The registered name, or the service's title, or the technical name that viewers show. */
	const titleIn = (lang: Lang) => {
		const { name } = facts[lang];
		return registration[lang].service_name ? name : (described[lang].title ?? name);
	};
	const texts = langs.flatMap((lang) => {
		const text = described[lang].description;
		return text ? [[lang, cut(text)]] : [];
	});
	const keywords = langs.flatMap((lang) => {
		const words = [...new Set(described[lang].keywords)];
		return words.length > 0 ? [[lang, words]] : [];
	});
	const bounds = described.en.bounds ?? described.fr.bounds;
	const unread = (settings.targets ?? targetNames).flatMap((target) =>
		langs.filter((lang) => renderAt(target, facts[lang]) === null).map((lang) => `${target}/${lang}`),
	);
	const addresses = { en: registration.en.service_url, fr: registration.fr.service_url };
	// A harvested description shows that the service has answered; one of another origin does not.
	const wasChecked = langs.some((lang) => {
		const known = currentDescription(registration, description, lang);
		return known !== null && known.from === undefined;
	});
	const sickness = health.get(smallkey) ?? (wasChecked ? undefined : null);
	return {
		smallkey,
		type: kindOf(registration),
		title: { en: titleIn("en"), fr: titleIn("fr") },
		...(texts.length > 0 && { description: Object.fromEntries(texts) }),
		...(keywords.length > 0 && { keywords: Object.fromEntries(keywords) }),
		address: { en: addresses.en, ...(addresses.fr !== addresses.en && { fr: addresses.fr }) },
		...(facts.en.entries.length > 0 && { layers: facts.en.entries.map(String) }),
		...(sender && { sender }),
		...(changed && { changed: { ...changed, commit: changed.commit.slice(0, commitDigits) } }),
		...(sickness !== undefined && { health: sickness }),
		...(bounds && { bounds }),
		...(thumbnail !== undefined && { thumbnail }),
		...(unread.length > 0 && { unread }),
	};
}

function cut(text: string): string {
	return text.length <= maxDescriptionLength
		? text
		: `${text.slice(0, maxDescriptionLength - 1).toWellFormed()}…`;
}
