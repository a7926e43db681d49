import { render } from "lit-html";
import { texts } from "../page/page.ts";
import { canadaBox, mapFrame, openBaseMap } from "./base.ts";
import type { Box } from "./drawable.ts";

/** A map without any layer, whose view is a filter. */
export type Overview = ReturnType<typeof openOverview>;

/**
 * @param view to begin with; null: Canada
 * @param moved called with each view after a movement ends, in whole metres, but not with a view that the page set
 */
export function openOverview(place: HTMLElement, view: Box | null, moved: (view: Box) => void) {
	render(
		mapFrame("map small", texts.mapOverview, (steps) => base.zoom(steps), null),
		place,
	);
	const base = openBaseMap(place.querySelector(".map") as HTMLElement);
	const shown = () => base.shown().map(Math.round) as Box;
	/** What the address has, and what the map shows of it: of another shape, it shows more. */
	let given = "";
	let fitted = "";
	/** Shows a view that the address has; the one that is shown already is left as it is. */
	const show = (box: Box) => {
		if (box.join() === given) return;
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
