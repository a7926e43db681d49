import type { Box } from "../../registry/index/place.ts";
import { fill, h } from "../page/dom.ts";
import type { Page } from "../page/page.ts";
import { canadaBox, openBaseMap } from "./base.ts";
import { zoomButtons } from "./buttons.ts";

/** A map without any layer, whose view is a filter. @param moved told of each view that it comes to rest at */
export function openOverview(
	place: HTMLElement,
	page: Page,
	view: Box | null,
	moved: (box: Box) => void,
): void {
	const { texts } = page;
	const target = h("div", {
		class: "map small",
		tabindex: "0",
		role: "application",
		"aria-label": texts.mapOverview,
	});
	fill(place, h("div", { class: "mapframe" }, target));
	const base = openBaseMap(target, page.settings, page.land);
	target.parentElement?.append(zoomButtons(base, texts, null));
	base.show(view ?? canadaBox(page.settings.mapWkid));
	base.map.on("moveend", () => moved(base.shown()));
}
