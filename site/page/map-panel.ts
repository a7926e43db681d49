import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Drawable } from "../map/drawable.ts";
import type { LayerMap } from "../map/layer-map.ts";
import { fill, h, newId, warning } from "./dom.ts";
import type { Page } from "./page.ts";

/** The map of a layer in one of its languages. */
export class MapPanel {
	readonly #page: Page;
	readonly #drawables: Record<Lang, Drawable | null>;
	readonly #place = h("div", { class: "mapplace" });
	readonly element: HTMLElement;
	#map: LayerMap | null = null;
	#isClosed = false;
	#serial = 0;
	#lang: Lang;

	constructor(page: Page, drawables: Record<Lang, Drawable | null>) {
		this.#page = page;
		this.#drawables = drawables;
		this.#lang = drawables[page.lang] ? page.lang : page.lang === "en" ? "fr" : "en";
		const head = h("h2", {}, page.texts.map);
		this.element = h(
			"section",
			{ class: "mappanel" },
			h("div", { class: "maphead" }, head, this.#choice()),
			this.#place,
		);
	}

	/** Draws, once the panel is in the page. */
	open(): void {
		void this.#show(this.#lang);
	}

	close(): void {
		this.#isClosed = true;
		this.#map?.close();
	}

	/** Which language's service is drawn, where both have one of their own. */
	#choice(): HTMLElement | null {
		const { texts } = this.#page;
		const { en, fr } = this.#drawables;
		if (!en || !fr || (en.url === fr.url && en.entries.join() === fr.entries.join())) return null;
		const name = newId();
		return h(
			"fieldset",
			{ class: "choice" },
			h("legend", {}, texts.langOnMap),
			langs.map((lang) =>
				h(
					"label",
					{},
					h("input", {
						type: "radio",
						name,
						checked: lang === this.#lang,
						onchange: () => void this.#show(lang),
					}),
					h("span", {}, lang === "en" ? texts.english : texts.french),
				),
			),
		);
	}

	async #show(lang: Lang): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		this.#map?.close();
		this.#map = null;
		const drawable = this.#drawables[lang];
		if (!drawable) return fill(this.#place, h("p", { class: "warning" }, this.#page.texts.mapNothing));
		try {
			const { LayerMap } = await import("../map/layer-map.ts");
			if (this.#isClosed || serial !== this.#serial) return;
			this.#map = await LayerMap.open(this.#page, this.#place, drawable);
		} catch (error) {
			console.error(error);
			fill(this.#place, warning(this.#page.texts.mapFailed));
		}
	}
}
