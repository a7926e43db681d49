import type { Description } from "../description.ts";
import { defaultMapWkid } from "../extent.ts";
import type { Sickness } from "../health.ts";
import { kindOf, type Registration } from "../registration.ts";
import { type Lang, langs } from "../smallkey.ts";
import type { TargetName } from "../targets/target.ts";
import type { Entry } from "./entry.ts";
import type { Box } from "./place.ts";

/** A layer with everything that was made of it. */
export interface IndexedLayer {
	smallkey: string;
	registration: Registration;
	description: Description | null;
	/** Target → language → fragment; null where the layer is not served there. */
	fragments: Record<TargetName, Record<Lang, string | null>>;
}

/** What is known of a layer beside its files. */
export interface LayerNews {
	/** Well-known id of the map's spatial reference. */
	mapWkid?: number;
	changed?: { commit: string; date: string };
	health?: Sickness;
	/** Public name of who registered it. */
	sender?: string;
}

/** What the index says of a layer. @param hash content hash of a fragment: its entity tag without the quotes */
export function entryOf(layer: IndexedLayer, news: LayerNews, hash: (fragment: string) => string): Entry {
	const { smallkey, registration, fragments } = layer;
	const entry: Entry = {
		smallkey,
		type: kindOf(registration),
		title: { en: titleOf(layer, "en"), fr: titleOf(layer, "fr") },
		host: { en: hostOf(registration.en.service_url), fr: hostOf(registration.fr.service_url) },
		fragments: {},
	};
	const extent = extentOf(layer, news.mapWkid ?? defaultMapWkid);
	if (news.sender) entry.sender = news.sender;
	if (news.changed) entry.changed = news.changed;
	if (news.health) entry.health = news.health;
	if (extent) entry.extent = extent;
	for (const [target, texts] of Object.entries(fragments)) {
		const served = langs.filter((lang) => texts[lang] !== null);
		if (served.length === 0) continue;
		entry.fragments[target] = Object.fromEntries(served.map((lang) => [lang, hash(texts[lang] as string)]));
	}
	return entry;
}

/** The name that viewers show, as a fragment has it; of fragments, the shortest. */
function titleOf({ smallkey, registration, fragments }: IndexedLayer, lang: Lang): string {
	const texts = Object.values(fragments).flatMap((one) => one[lang] ?? []);
	const [text] = texts.sort((a, b) => a.length - b.length);
	return (text && nameIn(JSON.parse(text))) || registration[lang].service_name || smallkey;
}

/** The first `name` or `displayName` of a fragment's one layer. */
function nameIn(fragment: unknown): string | null {
	let value: unknown = fragment;
	while (typeof value === "object" && value !== null) {
		const { name, displayName } = value as Record<string, unknown>;
		if (typeof name === "string") return name;
		if (typeof displayName === "string") return displayName;
		value = Object.values(value)[0];
	}
	return null;
}

function hostOf(address: string): string {
	try {
		return new URL(address).host;
	} catch {
		return "";
	}
}

/** Where the layer lies, in the map's reference; whole metres or a 10,000th of a degree are enough to find it. */
function extentOf({ registration, description }: IndexedLayer, mapWkid: number): Box | null {
	for (const lang of langs) {
		const described = description?.[lang];
		const extent = described && "extent" in described ? described.extent : null;
		if (described?.service_url !== registration[lang].service_url || extent?.wkid !== mapWkid) continue;
		const { xmin, ymin, xmax, ymax } = extent;
		const digits = Math.max(Math.abs(xmax), Math.abs(ymax)) > 400 ? 0 : 4;
		const [left, bottom, right, top] = [xmin, ymin, xmax, ymax].map((number) =>
			Number(number.toFixed(digits)),
		);
		return [left, bottom, right, top] as Box;
	}
	return null;
}
