import { parseLang } from "../../registry/smallkey.ts";
import { Catalogue } from "../search/catalogue.ts";
import { english } from "../text/english.ts";
import { french } from "../text/french.ts";
import { readState, type State, writeState } from "./address.ts";
import { fill, warning } from "./dom.ts";
import { HealthView } from "./health-view.ts";
import { LayerView } from "./layer-view.ts";
import { ListView } from "./list-view.ts";
import { followHere, type Page, readFile, type View } from "./page.ts";
import type { SiteSettings } from "./settings.ts";

const lang = parseLang(document.documentElement.lang) ?? "en";
const texts = lang === "fr" ? french : english;
const root = new URL("../", location.href.split(/[?#]/)[0]);
const main = document.querySelector("main") as HTMLElement;

/**
 * Opens the view of a state.
 * @param left the layer that was open before; null: none
 */
async function openView(page: Page, state: State, left: string | null): Promise<View> {
	if (state.layer !== null) return new LayerView(page, state.layer);
	if (state.page === "health") return new HealthView(page);
	if (state.page === "layers") return new ListView(page, left);
	const { DraftView } = await import("../draft/draft-view.ts");
	return new DraftView(page);
}

/** Which view shows a state: another one is opened where this changes. */
function viewKey({ page, layer }: State): string {
	return layer === null ? page : `layer ${layer}`;
}

class Site {
	#view: View | null = null;
	#key = "";
	/** The open layer. */
	#layer: string | null = null;
	readonly #page: Page;

	constructor(settings: SiteSettings) {
		const { dataset } = main;
		this.#page = {
			lang,
			texts,
			settings,
			root,
			catalogue: new Catalogue(
				(path, freshness, signal) => readFile(root, path, freshness, signal),
				lang,
				new URL(dataset.worker ?? "", location.href),
			),
			land: { light: dataset.landLight ?? "", dark: dataset.landDark ?? "" },
			now: () => new Date(),
			state: () => readState(location.search),
			go: (state, replace = false) => this.#go(state, replace),
			href: (state) => writeState(state) || location.pathname,
		};
		addEventListener("popstate", () => void this.#show());
		// The part of the address behind the # belongs to drafts.
		document.querySelector(".skip")?.addEventListener("click", (event) => {
			event.preventDefault();
			this.#focusHeading();
		});
		for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-page]"))
			followHere(link, () => this.#go(readState(new URL(link.href).search), false));
		void this.#show();
	}

	#go(state: State, replace: boolean): void {
		const hash = state.page === "draft" && state.layer === null ? location.hash : "";
		const address = `${location.pathname}${writeState(state)}${replace ? hash : ""}`;
		if (address === `${location.pathname}${location.search}${location.hash}`) this.#showHead();
		else history[replace ? "replaceState" : "pushState"](null, "", address);
		void this.#show();
	}

	#focusHeading(): void {
		main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
	}

	/** A draft behind any of the page's addresses is shown as one. */
	#acceptDraft(): void {
		const { page, layer } = readState(location.search);
		const isOpen = page === "draft" && layer === null;
		if (isOpen || !location.hash.startsWith("#draft=")) return;
		history.replaceState(null, "", `${location.pathname}?page=draft${location.hash}`);
	}

	/** The focus goes along where another view is shown, but stays where a page begins. */
	async #show(): Promise<void> {
		this.#acceptDraft();
		const state = readState(location.search);
		const key = viewKey(state);
		if (key !== this.#key) {
			const isFirst = this.#key === "";
			const left = this.#layer;
			this.#key = key;
			this.#layer = state.layer;
			this.#view?.close();
			this.#view = null;
			try {
				const view = await openView(this.#page, state, left);
				if (key !== this.#key) return view.close();
				this.#view = view;
				fill(main, view.element);
			} catch {
				fill(main, warning(texts.problemNetwork));
			}
			if (!isFirst) {
				scrollTo(0, 0);
				this.#focusHeading();
			}
		}
		document.body.classList.toggle("embed", state.isEmbedded && state.layer !== null);
		this.#view?.update(state);
		this.#showHead();
	}

	/** The window's title, the other language's address, and where one is. */
	#showHead(): void {
		const state = readState(location.search);
		const title = this.#view?.title() ?? texts.title;
		document.title = title === texts.title ? title : `${title} – ${texts.title}`;
		const other = document.querySelector<HTMLAnchorElement>("a[hreflang]");
		if (other) other.href = `../${lang === "en" ? "fr" : "en"}/${writeState(state)}${location.hash}`;
		for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-page]")) {
			const isHere = link.dataset.page === state.page && state.layer === null;
			if (isHere) link.setAttribute("aria-current", "page");
			else link.removeAttribute("aria-current");
		}
	}
}

// The page holds them: no request waits for them.
new Site(JSON.parse(document.getElementById("settings")?.textContent ?? "") as SiteSettings);
