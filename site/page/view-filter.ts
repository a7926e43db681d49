import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Box } from "../map/drawable.ts";
import type { Overview } from "../map/overview.ts";
import type { State } from "./address.ts";
import { part, warning } from "./dom.ts";
import { currentState, refresh } from "./page.ts";
import { t } from "./texts.ts";

/** The filter by a map view: a checkbox, and the map. */
export class ViewFilter {
	readonly #change: (view: Box | null) => void;
	readonly #place = part("overview");
	/** Whether the checkbox was ticked, but the map has not reported a view yet. */
	#isAsked = false;
	#map: Overview | "opening" | null = null;

	/** @param change called with the view that filters; null for none */
	constructor(change: (view: Box | null) => void) {
		this.#change = change;
	}

	/** The checkbox with its label. */
	label(state: State): TemplateResult {
		const tick = ({ currentTarget }: Event) => {
			this.#isAsked = (currentTarget as HTMLInputElement).checked;
			if (!this.#isAsked) return this.#change(null);
			this.update(currentState(), true);
			refresh();
		};
		return html`<label class="check"><input type="checkbox" aria-describedby="viewhint"
			.checked=${live(this.#isOn(state))} @change=${tick}><span>${t("In the map’s view")}</span></label>`;
	}

	/** The map and a hint, below the other filters. */
	content(state: State): TemplateResult {
		const hint = t(
			"Move the map: only layers that may lie in its view are listed. Layers whose extent is not known are left out.",
		);
		return html`<div><p class="hint" id="viewhint" ?hidden=${!this.#isOn(state)}>${hint}</p>${this.#place}</div>`;
	}

	/** @param isShown whether the filters are open; the map is loaded only then */
	update(state: State, isShown: boolean): void {
		const { view } = state;
		if (view !== null) this.#isAsked = false;
		if (!this.#isOn(state)) this.close();
		else if (this.#map === null && isShown) void this.#open();
		else if (view !== null && this.#map !== null && this.#map !== "opening") this.#map.show(view);
	}

	/** Closes the map. */
	close(): void {
		if (this.#map !== null && this.#map !== "opening") this.#map.close();
		this.#map = null;
		render("", this.#place);
	}

	#isOn({ view }: State): boolean {
		return view !== null || this.#isAsked;
	}

	async #open(): Promise<void> {
		this.#map = "opening";
		try {
			const { openOverview } = await import("../map/overview.ts");
			if (this.#map !== "opening") return;
			this.#map = openOverview(this.#place, currentState().view, (view) => {
				if (this.#isOn(currentState())) this.#change(view);
			});
		} catch {
			this.#map = null;
			render(warning(t("The map could not be loaded. Everything else on this page works.")), this.#place);
		}
	}
}
