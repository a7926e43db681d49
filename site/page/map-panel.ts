import { html, render } from "lit-html";
import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Drawable } from "../map/drawable.ts";
import type { LayerMap } from "../map/layer-map.ts";
import { type Content, part, warning } from "./dom.ts";
import { lang, t } from "./texts.ts";

/** The map of a layer in one of its languages. */
export class MapPanel {
	readonly #drawables: Record<Lang, Drawable | null>;
	readonly #place = part("mapplace");
	readonly element: HTMLElement;
	#map: LayerMap | null = null;
	#isClosed = false;
	#serial = 0;
	#lang: Lang;

	constructor(drawables: Record<Lang, Drawable | null>) {
		this.#drawables = drawables;
		this.#lang = drawables[lang] ? lang : lang === "en" ? "fr" : "en";
		const head = html`<div class="maphead"><h2>${t("Map")}</h2>${this.#choice()}</div>`;
		this.element = part("mappanel", [head, this.#place]);
	}

	/** Draws the map; call this once the panel is in the page. */
	open(): void {
		void this.#show(this.#lang);
	}

	close(): void {
		this.#isClosed = true;
		this.#map?.close();
	}

	/** The choice of the language whose service is drawn; empty if both are the same. */
	#choice(): Content {
		const { en, fr } = this.#drawables;
		if (!en || !fr || (en.url === fr.url && en.entries.join() === fr.entries.join())) return "";
		const choices = langs.map((lang) => {
			const name = lang === "en" ? t("English") : t("French");
			return html`<label><input type="radio" name="maplang" ?checked=${lang === this.#lang}
				@change=${() => this.#show(lang)}><span>${name}</span></label>`;
		});
		return html`<fieldset class="choice"><legend>${t("Service of")}</legend>${choices}</fieldset>`;
	}

	async #show(lang: Lang): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		this.#map?.close();
		this.#map = null;
		const drawable = this.#drawables[lang];
		if (!drawable)
			return void render(
				html`<p class="warning">${t("What viewers read of this layer could not be read, so there is nothing to draw.")}</p>`,
				this.#place,
			);
		try {
			const { LayerMap } = await import("../map/layer-map.ts");
			if (this.#isClosed || serial !== this.#serial) return;
			this.#map = new LayerMap(this.#place, drawable);
			await this.#map.draw();
		} catch (error) {
			console.error(error);
			if (serial !== this.#serial) return;
			this.#map?.close();
			render(warning(t("The map could not be loaded. Everything else on this page works.")), this.#place);
		}
	}
}
