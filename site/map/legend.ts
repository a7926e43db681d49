import { h } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import { type Symbology, symbolsOf } from "./symbols.ts";

/** Most symbols of a legend that are shown. */
const maxSymbols = 200;

/** The legend that a fragment's symbols make. */
export function legendOf(texts: Texts, symbology: Symbology): HTMLElement {
	const symbols = symbolsOf(symbology).slice(0, maxSymbols);
	return h(
		"div",
		{},
		h("h3", {}, texts.legend),
		h(
			"ul",
			{},
			symbols.map(({ imageUrl, label }) =>
				h(
					"li",
					{},
					isPicture(imageUrl) && h("img", { src: imageUrl, alt: "" }),
					h("span", {}, label || texts.otherValues),
				),
			),
		),
	);
}

/** Pictures in fragments are data URIs: nothing else is loaded for them. */
function isPicture(address: unknown): boolean {
	return typeof address === "string" && address.startsWith("data:image/");
}
