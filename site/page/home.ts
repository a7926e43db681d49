import { titleOf } from "../search/entry.ts";
import type { facetNames } from "../search/select.ts";
import { fill, h } from "./dom.ts";
import { dayText, type Page, stateLink } from "./page.ts";

/** Layers that are named as new. */
const maxNew = 3;

/** What is above the list while there is no search: the number of layers, and the last changes. */
export class Home {
	readonly #page: Page;
	readonly element = h("div", { class: "home" });

	constructor(page: Page) {
		this.#page = page;
	}

	/** @param counts values of each filter, over all layers */
	show(isAsking: boolean, counts: Record<(typeof facetNames)[number], readonly unknown[]>): void {
		const { texts, catalogue, lang } = this.#page;
		this.element.hidden = isAsking || !catalogue.isComplete || catalogue.selection.size === 0;
		if (this.element.hidden) return;
		const newest = catalogue.selection.newest(maxNew);
		const rows = newest.map((entry) => {
			const state = { ...this.#page.state(), layer: entry.smallkey };
			const { date } = entry.changed ?? { date: "" };
			const time = h("time", { datetime: date }, dayText(lang, new Date(date)));
			return h("li", {}, stateLink(this.#page, state, titleOf(entry, lang)), " ", time);
		});
		const { host, sender } = counts;
		fill(
			this.element,
			h("p", {}, texts.homeCounts(catalogue.selection.size, host.length, sender.length)),
			rows.length > 0 && h("h2", {}, texts.homeNew),
			rows.length > 0 && h("ul", { class: "newest" }, rows),
		);
	}
}
