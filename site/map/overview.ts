import { render } from "lit-html";
import { texts } from "../page/page.ts";
import { canadaBox, mapFrame, mapTarget, openBaseMap } from "./base.ts";
import type { Box } from "./drawable.ts";

/** A map without any layer, whose view is a filter. */
export interface Overview {
	/** Shows a view that the address has; the one that is shown already is left as it is. */
	show(view: Box): void;
	close(): void;
}

/**
 * @param view to begin with; null: Canada
 * @param moved called with each view after a movement ends, in whole metres, but not with a view that the page set
 */
export function openOverview(place: HTMLElement, view: Box | null, moved: (view: Box) => void): Overview {
	const target = mapTarget("map small", texts.mapOverview);
	const frame = mapFrame(target, (steps) => base.zoom(steps), null);
	render(frame, place);
	const base = openBaseMap(target);
	const shown = () => base.shown().map(Math.round) as Box;
	/** What the address has, and what the map shows of it: of another shape, it shows more. */
	let given = "";
	let fitted = "";
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
