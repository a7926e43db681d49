import { fill, h, newId } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import type { BaseMap } from "./base.ts";

/** The buttons over a map. @param home what brings the whole layer into view; null: no such button */
export function zoomButtons(base: BaseMap, texts: Texts, home: (() => void) | null): HTMLElement {
	const button = (sign: string, label: string, press: () => void) =>
		h("button", { "aria-label": label, title: label, onclick: press }, sign);
	return h(
		"div",
		{ class: "zoom" },
		button("+", texts.zoomIn, () => base.zoom(1)),
		button("−", texts.zoomOut, () => base.zoom(-1)),
		home && button("⌂", texts.zoomLayer, home),
	);
}

/** A slider for a layer's opacity. @param change is called with 0 to 1 */
export function opacitySlider(texts: Texts, change: (opacity: number) => void): HTMLElement {
	const shown = h("output", {}, texts.opacityValue(100));
	const input = h("input", { type: "range", min: 0, max: 100, step: 5, value: 100, id: newId() });
	input.addEventListener("input", () => {
		fill(shown, texts.opacityValue(input.valueAsNumber));
		input.setAttribute("aria-valuetext", texts.opacityValue(input.valueAsNumber));
		change(input.valueAsNumber / 100);
	});
	return h("p", { class: "opacity" }, h("label", { for: input.id }, texts.opacity), input, shown);
}
