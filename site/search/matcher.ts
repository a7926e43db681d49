import { langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { addressOf } from "./select.ts";
import { termsOf } from "./synonyms.ts";
import { type Matches, WordIndex } from "./word-index.ts";
import { queryWords, stem, wordsOf } from "./words.ts";

/** Longer texts are cut; in UTF-16 units. */
const maxTextLength = 500;

interface Exact {
	key: string;
	titles: readonly string[];
	names: readonly string[];
	services: readonly string[];
}

/** Adding a layer takes about 0.1 ms, a search in 20,000 layers up to 100 ms. */
export class Matcher {
	readonly #exact: Exact[] = [];
	readonly #words = new WordIndex();

	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const services = [...new Set(langs.map((lang) => comparedAddress(addressOf(entry, lang))))];
			const titles = langs.map((lang) => comparedTitle(entry.title[lang]));
			const keys = [wordsOf(entry.smallkey, true), ...langs.map((lang) => queryWords(entry.title[lang]))];
			const names = keys.map((words) => words.map(stem).join(" "));
			this.#exact.push({ key: entry.smallkey.toLowerCase(), titles, names, services });
			this.#words.add(entry);
		}
	}

	/**
	 * First whole keys and titles, in singular or plural and by their name in the other language, or
	 * addresses, then words, then parts of keys.
	 */
	match(query: string): Matches {
		const text = query.slice(0, maxTextLength).trim();
		const exact = this.#byWholeText(text);
		if (/^https?:\/\//i.test(text)) {
			const matches = [...exact, ...this.#byAddress(text)];
			if (matches.length > 0) return { ids: [...new Set(matches)], words: [] };
		}
		const { ids, words } = this.#words.match(text, (a, b) => this.#byKey(a, b));
		return { ids: [...new Set([...exact, ...ids, ...this.#byKeyPart(text)])], words };
	}

	#byWholeText(text: string): number[] {
		const key = text.toLowerCase();
		const title = comparedTitle(text);
		return [
			...this.#idsWhere((exact) => exact.key === key),
			...this.#idsWhere(({ titles }) => titles.includes(title)),
			...namesOf(text).flatMap((names) =>
				this.#idsWhere((exact) => exact.names.some((name) => names.has(name))),
			),
		];
	}

	#byKeyPart(text: string): number[] {
		const part = text.toLowerCase();
		return /^[a-z0-9_\-+=]{3,}$/.test(part) ? this.#idsWhere(({ key }) => key.includes(part)) : [];
	}

	/**
	 * First the layers with this address as fragment, page or service, then other layers of the same service.
	 */
	#byAddress(text: string): number[] {
		const keys = keysIn(text);
		const service = comparedAddress(text);
		const isSameService = (address: string) =>
			address.startsWith(`${service}/`) || service.startsWith(`${address}/`);
		return [
			...this.#idsWhere(({ key, services }) => keys.has(key) || services.includes(service)),
			...this.#idsWhere(({ services }) => services.some(isSameService)),
		];
	}

	#idsWhere(is: (exact: Exact) => boolean): number[] {
		const ids = this.#exact.flatMap((exact, id) => (is(exact) ? [id] : []));
		return ids.sort((a, b) => this.#byKey(a, b));
	}

	/** The order of equal matches must not depend on which chunk was read first. */
	#byKey(a: number, b: number): number {
		return (this.#exact[a]?.key ?? "") < (this.#exact[b]?.key ?? "") ? -1 : 1;
	}
}

/** Stemmed: the text itself, then its synonyms. */
function namesOf(text: string): Set<string>[] {
	const terms = termsOf(text).filter(({ isOptional }) => !isOptional);
	const name = terms.flatMap(({ words }) => words).join(" ");
	const aliases = terms.length === 1 ? (terms[0]?.others ?? []) : [];
	return name === "" ? [] : [new Set([name]), new Set(aliases)];
}

/** In lower case, without scheme, query and final slash. */
function comparedAddress(address: string): string {
	return address
		.replace(/^https?:\/\//i, "")
		.split(/[?#]/, 1)
		.join("")
		.replace(/(?<!\/)\/+$/, "")
		.toLowerCase();
}

/** Possible smallkeys in the address of a fragment or page, in lower case. */
function keysIn(address: string): Set<string> {
	const [, path = ""] = /^https?:\/\/[^/?#]*\/([^?#]*)/i.exec(address) ?? [];
	const layer = /[?&]layer=([^&#]*)/.exec(address)?.[1] ?? "";
	const names = [layer, ...path.slice(path.lastIndexOf("/") + 1).split(",")];
	return new Set(names.filter(Boolean).map((name) => decode(name).toLowerCase()));
}

/** Only words, so that `l’eau` and `l'eau` are the same; without words, its signs. */
function comparedTitle(text: string): string {
	const title = text.slice(0, maxTextLength).trim();
	return wordsOf(title).join(" ") || title;
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
