import type { Lang } from "../../registry/smallkey.ts";
import { failureText, ServiceFailed } from "../map/ask.ts";
import { fill, h } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import { arcgisServiceOf, layersOf, type OfferedLayer } from "./offer.ts";

/** What is chosen: a layer's name in a WMS, or the address of a layer of an ArcGIS service. */
export type ChosenLayer = { layer: string } | { address: string };

/** A service that is asked for its layers. */
interface Asked {
	kind: "wms" | "feature";
	address: string;
}

/**
 * A button that asks a service for its layers, and a list to choose one from.
 * @param asked the service, at the moment of the question
 */
export function layerChoice(
	texts: Texts,
	lang: Lang,
	asked: () => Asked,
	choose: (chosen: ChosenLayer) => void,
): HTMLElement {
	const place = h("div", { role: "status" });
	let under = new AbortController();
	const ask = async () => {
		under.abort();
		under = new AbortController();
		const { signal } = under;
		const { kind, address } = asked();
		fill(place, texts.infoAsking);
		try {
			const layers = await layersOf(kind, address, signal);
			if (!signal.aborted)
				fill(
					place,
					offer(texts, layers, (name) => choose(chosenOf(kind, address, name))),
				);
		} catch (error) {
			if (signal.aborted) return;
			if (!(error instanceof ServiceFailed)) throw error;
			fill(place, h("span", { class: "bad" }, failureText(texts, error.failure)));
		}
	};
	const label = texts.draftOffer(lang === "en" ? texts.english : texts.french);
	return h(
		"div",
		{ class: "offer" },
		h("button", { class: "small", onclick: () => void ask() }, label),
		place,
	);
}

function chosenOf(kind: Asked["kind"], address: string, name: string): ChosenLayer {
	return kind === "wms" ? { layer: name } : { address: `${arcgisServiceOf(address) ?? address}/${name}` };
}

function offer(texts: Texts, layers: readonly OfferedLayer[], take: (name: string) => void): HTMLElement {
	const select = h(
		"select",
		{ "aria-label": texts.layerField },
		h("option", { value: "" }, texts.draftChooseLayer(layers.length)),
		layers.map(({ name, title }) =>
			h("option", { value: name }, title === "" || title === name ? name : `${title} (${name})`),
		),
	);
	select.addEventListener("change", () => select.value !== "" && take(select.value));
	return select;
}
