import type { Lang } from "../../registry/smallkey.ts";
import { failureText, ServiceFailed } from "../map/ask.ts";
import { fill, h, newId } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import { arcgisServiceOf, layersOf, type OfferedLayer } from "./offer.ts";

/** What is chosen: a layer's name in a WMS, or the address of a layer of an ArcGIS service. */
export type ChosenLayer = { layer: string } | { address: string };

/** A button that asks a service for its layers, and a list to choose one from. */
export class LayerChoice {
	readonly #texts: Texts;
	readonly #asked: () => { kind: "wms" | "feature"; address: string };
	readonly #choose: (chosen: ChosenLayer) => void;
	readonly #place = h("div", { role: "status" });
	readonly element: HTMLElement;
	#under = new AbortController();

	constructor(
		texts: Texts,
		lang: Lang,
		asked: () => { kind: "wms" | "feature"; address: string },
		choose: (chosen: ChosenLayer) => void,
	) {
		this.#texts = texts;
		this.#asked = asked;
		this.#choose = choose;
		const label = texts.draftOffer(lang === "en" ? texts.english : texts.french);
		const button = h("button", { class: "small", onclick: () => void this.#ask() }, label);
		this.element = h("div", { class: "offer" }, button, this.#place);
	}

	async #ask(): Promise<void> {
		this.#under.abort();
		const under = new AbortController();
		this.#under = under;
		const { kind, address } = this.#asked();
		fill(this.#place, this.#texts.infoAsking);
		try {
			const layers = await layersOf(kind, address, under.signal);
			if (!under.signal.aborted) this.#offer(kind, address, layers);
		} catch (error) {
			if (under.signal.aborted) return;
			if (!(error instanceof ServiceFailed)) throw error;
			fill(this.#place, h("span", { class: "bad" }, failureText(this.#texts, error.failure)));
		}
	}

	#offer(kind: "wms" | "feature", address: string, layers: readonly OfferedLayer[]): void {
		const select = h(
			"select",
			{ id: newId() },
			h("option", { value: "" }, this.#texts.draftChooseLayer(layers.length)),
			layers.map(({ name, title }) =>
				h("option", { value: name }, title === "" || title === name ? name : `${title} (${name})`),
			),
		);
		select.setAttribute("aria-label", this.#texts.layerField);
		select.addEventListener("change", () => {
			const { value } = select;
			if (value === "") return;
			const service = arcgisServiceOf(address) ?? address;
			this.#choose(kind === "wms" ? { layer: value } : { address: `${service}/${value}` });
		});
		fill(this.#place, select);
	}
}
