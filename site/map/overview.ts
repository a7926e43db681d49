import { render } from "lit-html";
import { t } from "../page/texts.ts";
import { canadaBox, mapFrame, openBaseMap } from "./base.ts";
import type { Box } from "./drawable.ts";

/** A map without any layer; its view is a filter. */
export type Overview = ReturnType<typeof openOverview>;

/**
 * Opens the map.
 * @param view first view; null for Canada
 * @param moved called after each movement by the user, with the new view in whole metres
 */
export function openOverview(place: HTMLElement, view: Box | null, moved: (view: Box) => void) {
	render(
		mapFrame(
			"map small",
			t("Map of Canada. Arrow keys move it, plus and minus zoom."),
			(steps) => base.zoom(steps),
			null,
		),
		place,
	);
	const base = openBaseMap(place.querySelector(".map") as HTMLElement);
	const shown = () => base.shown().map(Math.round) as Box;
	/** The view in the address, and the view on the map, which is larger if its shape differs. */
	let given = "";
	let fitted = "";
	/** Shows the view in the address, unless the map shows it already. */
	const show = (box: Box | null) => {
		if (!box || box.join() === given) return;
		given = box.join();
		base.view.fit(box);
		fitted = shown().join();
	};
	if (view) show(view);
	else base.show(canadaBox());
	base.map.on("moveend", () => {
		const box = shown();
		if (box.join() === fitted) return;
		given = box.join();
		fitted = given;
		moved(box);
	});
	return { show, close: () => base.close() };
}
