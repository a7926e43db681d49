import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Box } from "../map/drawable.ts";
import type { Chosen } from "../search/select.ts";
import { boxOf, filterCount, firstShown, noFilters, type State } from "./address.ts";
import { field, part, select, textIn, warning } from "./dom.ts";
import { currentState, go, refresh } from "./page.ts";
import { plural, stateText, t, typeText } from "./texts.ts";

const maxOffered = 500;

const selectTexts = { type: "Type", sender: "Sender", health: "Health" } as const;

/** The filters. They work without a text, and offer the values that layers have. */
export class Filters {
	#isOpen = false;
	/** The element for the map whose view filters. */
	readonly #place = part("overview");
	/** Whether the map's checkbox was ticked, but the map has not reported a view yet. */
	#isViewAsked = false;
	/** Closes the map; null if it is closed. */
	#closing: AbortController | null = null;
	/** Shows a view on the map; null until the map is open. */
	#show: ((view: Box | null) => void) | null = null;

	/** Opens, moves or closes the map whose view filters. It is loaded only while the filters are open. */
	update({ view }: State): void {
		if (view !== "") this.#isViewAsked = false;
		if (view === "" && !this.#isViewAsked) this.close();
		else if (this.#closing === null && this.#isOpen) void this.#openMap();
		else this.#show?.(boxOf(view));
	}

	close(): void {
		this.#closing?.abort();
		this.#closing = null;
		this.#show = null;
		render("", this.#place);
	}

	async #openMap(): Promise<void> {
		this.#closing = new AbortController();
		const { signal } = this.#closing;
		const moved = (box: Box) => {
			const { view } = currentState();
			// Moving the map replaces the address, so that *Back* removes the whole filter, not one movement.
			if (view !== "" || this.#isViewAsked) this.#set({ view: box.join() }, view !== "");
		};
		try {
			const { openOverview } = await import("../map/base.ts");
			if (!signal.aborted) this.#show = openOverview(this.#place, boxOf(currentState().view), moved, signal);
		} catch {
			if (signal.aborted) return;
			this.#closing = null;
			render(warning(t("The map could not be loaded. Everything else on this page works.")), this.#place);
		}
	}

	#set(part: Partial<State>, replace = false): void {
		go({ ...currentState(), n: firstShown, ...part }, replace);
	}

	/** @param chosen the values of the filters with their numbers of layers; shown only while the filters are open */
	content(state: State, chosen: Chosen | null): TemplateResult {
		const count = filterCount(state);
		const toggle = ({ currentTarget }: Event) => {
			this.#isOpen = (currentTarget as HTMLDetailsElement).open;
			this.update(currentState());
			refresh();
		};
		const setTitle = ({ currentTarget }: Event) =>
			this.#set({ title: (currentTarget as HTMLInputElement).checked ? "same" : "" });
		const setView = ({ currentTarget }: Event) => {
			this.#isViewAsked = (currentTarget as HTMLInputElement).checked;
			if (!this.#isViewAsked) return this.#set({ view: "" });
			this.update(currentState());
			refresh();
		};
		const offered = this.#isOpen ? chosen : null;
		const isInView = state.view !== "" || this.#isViewAsked;
		const hosts = offered?.facets.host.slice(0, maxOffered) ?? [];
		const host = html`<input type="text" id="host" list="hosts" autocomplete="off" spellcheck="false"
			aria-describedby="hosthint" .value=${state.host} @change=${(event: Event) => this.#set({ host: textIn(event).trim() })}>`;
		const option = (value: string, count: number) =>
			html`<option value=${value} label="${value} (${count})"></option>`;
		const hostList = html`<datalist id="hosts">${hosts.map((one) => option(...one))}</datalist><p class="hint" id="hosthint">${t("Begin to type the name of a server")}</p>`;
		return html`<div>
			<details class="filters" @toggle=${toggle}>
				<summary>${count > 0 ? plural(count, "Filters (1 on)", "Filters ({0} on)") : t("Filters")}</summary>
				<div class="grid">
					${this.#select("type", state, offered, typeText)}
					${field("host", t("Service host"), host, hostList)}
					${this.#select("sender", state, offered, String)}
					${this.#select("health", state, offered, stateText)}
					<label class="check"><input type="checkbox" .checked=${live(state.title !== "")}
						@change=${setTitle}><span>${t("No French title of its own")}${offered && ` (${offered.facets.title[0]?.[1] ?? 0})`}</span></label>
					<label class="check"><input type="checkbox" aria-describedby="viewhint" .checked=${live(isInView)}
						@change=${setView}><span>${t("In the map’s view")}</span></label>
				</div>
				<div><p class="hint" id="viewhint" ?hidden=${!isInView}>${t(
					"Move the map: only layers that may lie in its view are listed. Layers whose extent is not known are left out.",
				)}</p>${this.#place}</div>
			</details>
			${this.#chips(state)}
		</div>`;
	}

	/** The drop-down list of a filter. The chosen value is always in it. */
	#select(
		name: keyof typeof selectTexts,
		state: State,
		offered: Chosen | null,
		textOf: (value: string) => string,
	): TemplateResult {
		const chosen = state[name];
		const values = offered?.facets[name] ?? [];
		const isThere = chosen === "" || values.some(([value]) => value === chosen);
		const options = [...values, ...(isThere ? [] : [[chosen, 0] as const])]
			.slice(0, maxOffered)
			.map(([value, count]) => [value, offered ? `${textOf(value)} (${count})` : textOf(value)] as const);
		const choose = (value: string) => this.#set({ [name]: value });
		return field(name, t(selectTexts[name]), select(name, chosen, [["", t("Any")], ...options], choose));
	}

	/** The active filters, each as a button that removes it. */
	#chips(state: State): TemplateResult {
		const remove = (without: Partial<State>) => () => {
			this.#set(without);
			// The button disappears with its filter, so the focus moves to the summary.
			document.querySelector("summary")?.focus();
		};
		const texts = {
			type: typeText(state.type),
			host: state.host,
			sender: state.sender,
			health: stateText(state.health),
			title: t("No French title of its own"),
			view: t("In the map’s view"),
		};
		const active = Object.entries(texts).filter(([name]) => state[name as keyof typeof texts] !== "");
		const chips = active.map(
			([name, text]) => html`<li><button type="button" class="chip"
			aria-label=${t("Remove the filter {0}", text)} @click=${remove({ [name]: "" })}>${text}<span aria-hidden="true"> ×</span></button></li>`,
		);
		const all = html`<li><button type="button" class="chip all"
			@click=${remove(noFilters)}>${t("Remove all filters")}</button></li>`;
		return html`<ul class="chips" ?hidden=${chips.length === 0}>${chips}${chips.length > 1 ? all : ""}</ul>`;
	}
}
