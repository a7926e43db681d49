import { h } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import type { BaseMap } from "./base.ts";

/** The buttons over a map. @param home what brings the whole layer into view; null: no such button */
export function zoomButtons(base: BaseMap, texts: Texts, home: (() => void) | null): HTMLElement {
	const button = (sign: string, label: string, press: () => void) =>
		h("button", { type: "button", "aria-label": label, title: label, onclick: press }, sign);
	return h(
		"div",
		{ class: "zoom" },
		button("+", texts.zoomIn, () => base.zoom(1)),
		button("−", texts.zoomOut, () => base.zoom(-1)),
		home && button("⌂", texts.zoomLayer, home),
	);
}
