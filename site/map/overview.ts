import { render } from "lit-html";
import { t } from "../page/page.ts";
import { canadaBox, mapFrame, openBaseMap } from "./base.ts";
import type { Box } from "./drawable.ts";

export type Overview = ReturnType<typeof openOverview>;

export function openOverview(
	place: HTMLElement,
	view: Box | null,
	moved: (view: Box) => void,
	signal: AbortSignal,
) {
	const frame = mapFrame("map small", t("map-of-canada"), (steps) => base.zoom(steps), null);
	render(frame, place);
	const base = openBaseMap(place.querySelector(".map") as HTMLElement, signal);
	const shown = () => base.shown().map(Math.round) as Box;
	/** It is larger than the view in the address if its shape differs. */
	let fitted = "";
	const show = (box: Box | null) => {
		if (!box || box.join() === fitted) return;
		base.view.fit(box);
		fitted = shown().join();
	};
	if (view) show(view);
	else base.show(canadaBox());
	base.map.on("moveend", () => {
		const box = shown();
		if (box.join() === fitted) return;
		fitted = box.join();
		moved(box);
	});
	return { show, shown };
}
