import type { Box } from "../map/drawable.ts";
import type { Overview } from "../map/overview.ts";
import type { State } from "./address.ts";
import { describe, fill, h, warning } from "./dom.ts";
import type { Page } from "./page.ts";

/** The filter by a map's view: a box to tick, and the map whose view filters. */
export class ViewFilter {
	readonly #page: Page;
	readonly #change: (view: Box | null) => void;
	readonly #box = h("input", { type: "checkbox" });
	readonly #hint = h("p", { class: "hint", hidden: true });
	readonly #place = h("div", { class: "overview" });
	/** The box with its name. */
	readonly label: HTMLElement;
	/** What is below the filters. */
	readonly element: HTMLElement;
	/** Ticked, and the map has not come to rest yet. */
	#isAsked = false;
	#map: Overview | "opening" | null = null;

	/** @param change called with the view that filters; null: none */
	constructor(page: Page, change: (view: Box | null) => void) {
		this.#page = page;
		this.#change = change;
		const { texts } = page;
		fill(this.#hint, texts.inViewHint);
		describe(this.#box, this.#hint);
		this.label = h("label", { class: "check" }, this.#box, h("span", {}, texts.inView));
		this.element = h("div", {}, this.#hint, this.#place);
		this.#box.addEventListener("change", () => {
			this.#isAsked = this.#box.checked;
			if (this.#box.checked) this.update(this.#page.state(), true);
			else this.#change(null);
		});
	}

	/** @param isShown whether the filters are open: no map is loaded before */
	update({ view }: State, isShown: boolean): void {
		if (view !== null) this.#isAsked = false;
		const isOn = view !== null || this.#isAsked;
		this.#box.checked = isOn;
		this.#hint.hidden = !isOn;
		if (!isOn) this.#close();
		else if (this.#map === null && isShown) void this.#open();
		else if (view !== null && this.#map !== null && this.#map !== "opening") this.#map.show(view);
	}

	#close(): void {
		if (this.#map !== null && this.#map !== "opening") this.#map.close();
		this.#map = null;
		fill(this.#place);
	}

	async #open(): Promise<void> {
		this.#map = "opening";
		const { texts } = this.#page;
		try {
			const { openOverview } = await import("../map/overview.ts");
			if (this.#map !== "opening") return;
			this.#map = openOverview(this.#place, this.#page, this.#page.state().view, (view) => {
				if (this.#box.checked) this.#change(view);
			});
		} catch {
			this.#map = null;
			fill(this.#place, warning(texts.mapFailed));
		}
	}
}
