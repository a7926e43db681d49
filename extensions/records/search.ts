import { type Client, Room } from "../../api/room.ts";
import type { Entry } from "../../site/data/entries.ts";
import { type ItemsQuery, isWanted, searchedText } from "./records-query.ts";

/** Most searches that run or wait; they run one after the other. */
export const maxSearches = 64;

/** Most characters that a search compares before other requests get a turn. */
export const maxTurnWork = 1_000_000;

/** Making the searched text of an entry takes as long as comparing it so many times. */
const textWork = 25;

/** Most entries of all kept results, and most results. */
const maxKeptEntries = 1_000_000;
const maxKept = 1_000;

/** Searches of all entries, in turns that are short for other requests. Results are kept until the entries change. */
export class Searches {
	readonly #room = new Room(maxSearches);
	#last: Promise<unknown> = Promise.resolve();
	/** The entries of the kept results. */
	#of: readonly Entry[] | null = null;
	/** Query → its result. */
	readonly #kept = new Map<string, readonly Entry[]>();
	#keptEntries = 0;
	/** The text of each entry in which a search looks; made by the first search. */
	readonly #texts = new WeakMap<Entry, string>();

	/** @param pause lets other requests have a turn; gets the characters that were compared in this one */
	constructor(readonly pause: (work: number) => Promise<void> = nextTurn) {}

	/**
	 * Finds the entries that match, in their order.
	 * @param load returns all entries: the same array as long as they are the same
	 * @returns null if too many searches wait
	 */
	async find(
		load: () => Promise<readonly Entry[]>,
		wanted: ItemsQuery,
		client: Client,
	): Promise<readonly Entry[] | null> {
		const own = this.#room.hold(client);
		if (own.take(1)) return null;
		const search = this.#last.then(async () => this.#search(await load(), wanted));
		this.#last = search.catch(() => undefined);
		return search.finally(own.end);
	}

	async #search(entries: readonly Entry[], wanted: ItemsQuery): Promise<readonly Entry[]> {
		if (this.#of !== entries || this.#keptEntries > maxKeptEntries || this.#kept.size >= maxKept) {
			this.#kept.clear();
			this.#keptEntries = 0;
			this.#of = entries;
		}
		const known = this.#kept.get(wanted.text);
		if (known) return known;
		let work = 0;
		const textOf = (entry: Entry) => {
			const text = this.#texts.get(entry);
			const made = text ?? searchedText(entry);
			if (text === undefined) this.#texts.set(entry, made);
			work += made.length * ((wanted.q?.length ?? 0) + (text === undefined ? textWork : 0));
			return made;
		};
		const found: Entry[] = [];
		for (const entry of entries) {
			work += 1;
			if (isWanted(entry, wanted, textOf)) found.push(entry);
			if (work < maxTurnWork) continue;
			await this.pause(work);
			work = 0;
		}
		await this.pause(work);
		this.#kept.set(wanted.text, found);
		this.#keptEntries += found.length;
		return found;
	}
}

function nextTurn(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, 0));
}
