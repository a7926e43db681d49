import { render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { otherLang } from "../../registry/smallkey.ts";
import { warning } from "./elements.ts";
import { ListView } from "./list-view.ts";
import { isEmbed, lang, root, siteName, t } from "./page.ts";
import { addressOfState, currentState, navigate, readState, type State, type View } from "./state.ts";

const main = document.querySelector("main") as HTMLElement;
const menu = document.querySelectorAll<HTMLAnchorElement>("a[data-page]");

/** @param lastLayer that was open before; empty for none */
async function openView(state: State, lastLayer: string, signal: AbortSignal): Promise<View> {
	if (state.layer !== "") {
		const { openLayerView } = await import("./layer-view.ts");
		return openLayerView(state.layer, signal);
	}
	if (state.page === "layers") return new ListView(lastLayer, signal);
	const { DraftView } = await import("../draft/draft-view.ts");
	return new DraftView(signal);
}

class Page {
	#view: View | null = null;
	/** Null when the page loads. */
	#openedState: State | null = null;
	#closing = new AbortController();

	/** Moves the focus to the heading of a new view, but not when the page loads. */
	async show(): Promise<void> {
		const state = currentState();
		// An address of an earlier version, `?layer=`.
		if (!isEmbed && state.layer !== "") history.replaceState(null, "", addressOfState(state) + location.hash);
		const before = this.#openedState;
		const isSame = state.layer === before?.layer && (state.layer !== "" || state.page === before.page);
		if (!isSame && !(await this.#open(state, before))) return;
		this.refresh();
		if (!isSame && before) {
			scrollTo(0, 0);
			focusHeading();
		}
		this.#view?.update?.(state);
	}

	/** @returns false if another view was opened meanwhile */
	async #open(state: State, before: State | null): Promise<boolean> {
		this.#openedState = state;
		this.#view = null;
		this.#closing.abort();
		this.#closing = new AbortController();
		const { signal } = this.#closing;
		const view = await openView(state, before?.layer ?? "", signal).catch(() => {
			// A new version of the site has other scripts. A page that has just loaded is not loaded again.
			if (before && !signal.aborted && navigator.onLine) location.reload();
			return null;
		});
		if (signal.aborted) return false;
		this.#view = view;
		// The page without a script stays until the view is there.
		if (main.querySelector("noscript")) main.replaceChildren();
		if (!view) {
			// The same link tries again.
			this.#openedState = null;
			render(warning(t("site-silent")), main);
		}
		return true;
	}

	refresh(): void {
		const state = currentState();
		const view = this.#view;
		if (view) render(keyed(view, view.content(state)), main);
		const title = view?.title ?? siteName;
		document.title = title === siteName ? title : `${title} – ${siteName}`;
		const other = document.querySelector<HTMLAnchorElement>("a[hreflang]");
		if (other) other.href = addressOfState(state, otherLang[lang]) + location.hash;
		for (const link of menu)
			link.ariaCurrent = link.dataset.page === state.page && state.layer === "" ? "page" : null;
	}
}

function focusHeading(): void {
	main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

function leadsToView({ href }: HTMLAnchorElement): boolean {
	const home = new URL(`${lang}/`, root).href;
	return href.startsWith(home) && /^(?:layer\/[^/?#]+)?(?:\?|$)/.test(href.slice(home.length));
}

const page = new Page();
addEventListener("popstate", () => void page.show());
addEventListener("refresh", () => page.refresh());
// A link to the heading would replace the address's fragment, which may contain a draft.
document.querySelector(".skip")?.addEventListener("click", (event) => {
	event.preventDefault();
	focusHeading();
});
addEventListener("click", (event) => {
	const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
	const isModified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
	if (!link || event.defaultPrevented || isModified || isEmbed || !leadsToView(link)) return;
	event.preventDefault();
	navigate(readState(link));
});
void page.show();
