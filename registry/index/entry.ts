import type { Sickness } from "../health.ts";
import type { Lang } from "../smallkey.ts";
import { numberBits, numberLength } from "./numbers.ts";
import { orderedText, toDigits } from "./ordered.ts";
import { type Box, placeOf, roundedOut } from "./place.ts";
import { titleWords } from "./words.ts";

/** What the index says of one layer. */
export interface Entry {
	smallkey: string;
	/** `wms`, `feature`, or the service type of a registration of version 2.0. */
	type: string;
	title: Record<Lang, string>;
	/** Host of the service's address, with its port where it has one. */
	host: Record<Lang, string>;
	/** Public name of who registered it last, where the operator gave one. */
	sender?: string;
	/** The last commit that changed it, and its time; left out where the whole history is not there. */
	changed?: { commit: string; date: string };
	/** Left out for a layer that was not seen to be sick. */
	health?: Sickness;
	/** Left out where it is not known. */
	extent?: Box;
	/** Target → language → content hash of the fragment: its entity tag, without the quotes. */
	fragments: Record<string, Partial<Record<Lang, string>>>;
}

/**
 * A layer's number in the index, as four ordered characters: a hash of its smallkey, so that it is the same whatever
 * else is registered. Two layers may have one number; whoever looks one up compares its smallkey, too.
 * FNV-1a of 32 bits (RFC 9923) with the last mixing step of MurmurHash3.
 */
export function numberOf(smallkey: string): string {
	let hash = 0x811c9dc5;
	for (const unit of smallkey.toLowerCase().split(""))
		hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
	hash ^= hash >>> 16;
	hash = Math.imul(hash, 0x85ebca6b);
	hash ^= hash >>> 13;
	hash = Math.imul(hash, 0xc2b2ae35);
	hash ^= hash >>> 16;
	return toDigits((hash >>> 0) >>> (32 - numberBits), numberLength);
}

/** The order of layers in pieces that are found by number; no two layers have the same. */
export function numberedText(smallkey: string): string {
	return numberOf(smallkey) + orderedText(smallkey.toLowerCase());
}

/** What a row of search results shows, and what filters look at. */
export interface Name {
	smallkey: string;
	type: string;
	title: Record<Lang, string>;
	/** Host of the service's address, with its port where it has one. */
	host: Record<Lang, string>;
	/** `""` for a layer that was not seen to be sick. */
	health: string;
	/** `""` where it has no public name. */
	sender: string;
	/** The layer's extent, rounded outwards; null where it is not known. */
	extent: Box | null;
}

/** The part of an entry that searching needs. */
export function nameOf(entry: Entry): Name {
	return {
		smallkey: entry.smallkey,
		type: entry.type,
		title: entry.title,
		host: entry.host,
		health: entry.health?.state ?? "",
		sender: entry.sender ?? "",
		extent: entry.extent ? roundedOut(entry.extent) : null,
	};
}

/** The hosts of both languages, each once. */
export function hostsOf({ host }: Name): string[] {
	return [...new Set([host.en, host.fr])].filter(Boolean);
}

/** Whether a layer's French title is only its English one. */
export function hasOneTitle(title: Record<Lang, string>): boolean {
	return title.en.trim().toLowerCase() === title.fr.trim().toLowerCase();
}

/** The terms of a name that are filters; each starts with `=`, as no word does. */
export function facetsOf(name: Name): string[] {
	const facets = [`=type:${name.type}`, ...hostsOf(name).map((host) => `=host:${host}`)];
	if (name.sender) facets.push(`=sender:${name.sender}`);
	if (name.health) facets.push(`=health:${name.health}`);
	if (hasOneTitle(name.title)) facets.push("=title:same");
	return facets;
}

/** Every term that a layer is found by: words of its titles, its filters, its place. */
export function termsOf(name: Name): string[] {
	const words = [...titleWords(name.title.en), ...titleWords(name.title.fr)];
	const terms = [...words, ...facetsOf(name)];
	if (name.extent !== null) terms.push(`=place:${placeOf(name.extent)}`);
	return [...new Set(terms)];
}
