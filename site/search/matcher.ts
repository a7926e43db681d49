import MiniSearch, { type SearchOptions } from "minisearch";
import type { Entry } from "../../registry/entries.ts";
import { langs } from "../../registry/smallkey.ts";
import { addressOf, hostsOf, senderOf } from "./entry.ts";
import { fold, isEmptyWord, queryWords, stem, wordsOf } from "./words.ts";

/** What a text finds. */
export interface Matched {
	/** Places of the layers in the order in which they were added; the best first. */
	ids: number[];
	/** The words that were found, stemmed, for marking them; of a word that was typed in error, the right one. */
	words: string[];
}

/** Longest text that is looked for, in UTF-16 units; the rest is left out. */
const longestText = 500;

/** What is compared of an entry as a whole. */
interface Exact {
	key: string;
	/** Each as it is, then its words alone: `l’eau` and `l'eau` are the same. */
	titles: readonly (readonly [whole: string, words: string])[];
	/** Addresses of the service, without scheme and query. */
	services: readonly string[];
}

/** What the library indexes of an entry. */
interface Indexed {
	id: number;
	title: string;
	keywords: string;
	description: string;
	key: string;
	sender: string;
	place: string;
}

/** The weight of a word in each field. */
const boost = { title: 6, key: 4, keywords: 3, sender: 2, place: 2, description: 1 };

/** Fields in which `CamelCase` and `a1` are two words each. */
const keyFields: ReadonlySet<string> = new Set(["key", "place"]);

/** Finds layers by a text. Adding a layer takes about 0.1 ms, finding among 20,000 up to 100 ms: it is for a worker. */
export class Matcher {
	readonly #exact: Exact[] = [];
	readonly #index = new MiniSearch<Indexed>({
		fields: Object.keys(boost),
		tokenize: (text, field) => wordsOf(text, keyFields.has(field ?? "")),
		processTerm: (word) => (isEmptyWord(word) ? null : stem(word)),
		searchOptions: { tokenize: (text) => queryWords(text), processTerm: stem, boost },
	});

	/** Adds layers, each once. */
	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const { smallkey, title, keywords = [], description, layers = [] } = entry;
			const services = [...new Set(langs.map((lang) => bare(addressOf(entry, lang))))];
			const titles = langs.map((lang) => comparedTitle(title[lang]));
			const id = this.#exact.push({ key: smallkey.toLowerCase(), titles, services }) - 1;
			this.#index.add({
				id,
				title: joined(title.en, title.fr),
				keywords: keywords.join(" "),
				description: joined(description?.en, description?.fr),
				key: smallkey,
				sender: joined(senderOf(entry, "en"), senderOf(entry, "fr")),
				place: [...hostsOf(entry), ...layers].join(" "),
			});
		}
	}

	/** Which layers a text finds: the one whose key or title it is, then what the library finds, then parts of keys. */
	match(given: string): Matched {
		const text = given.slice(0, longestText).trim();
		const exact = this.#whole(text);
		if (/^https?:\/\//i.test(text)) {
			const found = [...exact, ...this.#byAddress(text)];
			if (found.length > 0) return { ids: [...new Set(found)], words: [] };
		}
		const { ids, words } = this.#byWords(text);
		return { ids: [...new Set([...exact, ...ids, ...this.#byKeyPart(text)])], words };
	}

	#whole(text: string): number[] {
		const key = text.toLowerCase();
		const [title, words] = comparedTitle(text);
		return [
			...this.#those((one) => one.key === key),
			...this.#those(({ titles }) => titles.some(([whole]) => whole === title)),
			...this.#those(({ titles }) => words !== "" && titles.some((one) => one[1] === words)),
		];
	}

	#byKeyPart(text: string): number[] {
		const part = text.toLowerCase();
		return /^[a-z0-9_\-+=]{3,}$/.test(part) ? this.#those(({ key }) => key.includes(part)) : [];
	}

	/** Layers whose fragment, page or service an address is, then those of the same service. */
	#byAddress(text: string): number[] {
		const named = keysIn(text);
		const service = bare(text);
		const isNear = (own: string) => own.startsWith(`${service}/`) || service.startsWith(`${own}/`);
		return [
			...this.#those(({ key, services }) => named.has(key) || services.includes(service)),
			...this.#those(({ services }) => services.some(isNear)),
		];
	}

	#those(is: (exact: Exact) => boolean): number[] {
		const ids = this.#exact.flatMap((exact, id) => (is(exact) ? [id] : []));
		return ids.sort((one, other) => this.#byKey(one, other));
	}

	/** Layers that fit equally are in this order, whichever was read first. */
	#byKey(one: number, other: number): number {
		return (this.#exact[one]?.key ?? "") < (this.#exact[other]?.key ?? "") ? -1 : 1;
	}

	/** Layers that have all words; where there are none, all but for typing errors; then as many of them as any has. */
	#byWords(text: string): Matched {
		const asked = queryWords(text);
		if (asked.length === 0) return { ids: [], words: [] };
		const [title] = comparedTitle(text);
		const startsTitle = (id: number) => this.#exact[id]?.titles.some(([whole]) => whole.startsWith(title));
		const common: SearchOptions = {
			prefix: (word) => word.length > 1,
			boostDocument: (id) => (startsTitle(id) ? 4 : 1),
		};
		const fuzzy: SearchOptions["fuzzy"] = (word) => (word.length > 3 && !/\d/.test(word) ? 0.25 : false);
		const tries: SearchOptions[] = [
			{ ...common, combineWith: "AND" },
			{ ...common, combineWith: "AND", fuzzy },
			{ ...common, combineWith: "OR", fuzzy },
		];
		for (const options of tries) {
			const found = this.#index.search(text, options);
			const most = Math.max(0, ...found.slice(0, 1_000).map(({ queryTerms }) => queryTerms.length));
			// Half of what was said has to be there.
			if (most === 0 || most * 2 < asked.length) continue;
			const best =
				options.combineWith === "OR" ? found.filter((one) => one.queryTerms.length === most) : found;
			const words = new Set(best.slice(0, 200).flatMap(({ terms }) => terms));
			best.sort((one, other) => other.score - one.score || this.#byKey(one.id, other.id));
			return { ids: best.map(({ id }) => id as number), words: [...words] };
		}
		return { ids: [], words: [] };
	}
}

/** An address without what does not tell services apart: scheme, query, slash at its end. */
function bare(address: string): string {
	return address
		.replace(/^https?:\/\//i, "")
		.split(/[?#]/, 1)
		.join("")
		.replace(/(?<!\/)\/+$/, "")
		.toLowerCase();
}

/** Smallkeys that an address of a fragment or of a page names, in lower case. */
function keysIn(address: string): Set<string> {
	const [, path = ""] = /^https?:\/\/[^/?#]*\/([^?#]*)/i.exec(address) ?? [];
	const layer = /[?&]layer=([^&#]*)/.exec(address)?.[1] ?? "";
	const names = [layer, ...path.slice(path.lastIndexOf("/") + 1).split(",")];
	return new Set(names.filter(Boolean).map((name) => decode(name).toLowerCase()));
}

/** A title, or a text that may be one, as it is compared: as long as a text that is looked for. */
function comparedTitle(text: string): [whole: string, words: string] {
	const title = text.slice(0, longestText).trim();
	return [fold(title), wordsOf(title).join(" ")];
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function joined(en = "", fr = ""): string {
	return en === fr ? en : `${en} ${fr}`;
}
