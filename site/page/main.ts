import { render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { otherLang } from "../../registry/smallkey.ts";
import { warning } from "./elements.ts";
import { ListView } from "./list-view.ts";
import { isEmbed, lang, root, siteName, t } from "./page.ts";
import { addressOfState, currentState, navigate, readState, type State, type View } from "./state.ts";

const main = document.querySelector("main") as HTMLElement;
const menuLinks = document.querySelectorAll<HTMLAnchorElement>("a[data-page]");

async function loadView(state: State, lastLayer: string, signal: AbortSignal): Promise<View> {
	if (state.layer !== "") {
		const { openLayerView } = await import("./layer-view.ts");
		return openLayerView(state.layer, signal);
	}
	if (state.page === "layers") return new ListView(lastLayer, signal);
	const { DraftView } = await import("../draft/draft-view.ts");
	return new DraftView(signal);
}

let view: View | null = null;
/** Null when the page loads. */
let openedState: State | null = null;
let closing = new AbortController();

async function show() {
	const state = currentState();
	// An address of an earlier version, `?layer=`.
	if (!isEmbed && state.layer !== "") history.replaceState(null, "", addressOfState(state) + location.hash);
	const before = openedState;
	const isSame = state.layer === before?.layer && (state.layer !== "" || state.page === before.page);
	if (!isSame && !(await changeView(state, before))) return;
	renderView();
	if (!isSame && before) {
		scrollTo(0, 0);
		focusHeading();
	}
	view?.update?.(state);
}

/** @returns false if another view was opened meanwhile */
async function changeView(state: State, before: State | null) {
	openedState = state;
	view = null;
	closing.abort();
	closing = new AbortController();
	const { signal } = closing;
	const opened = await loadView(state, before?.layer ?? "", signal).catch(() => {
		// A new version of the site has other scripts. A page that has just loaded is not loaded again.
		if (before && !signal.aborted && navigator.onLine) location.reload();
		return null;
	});
	if (signal.aborted) return false;
	view = opened;
	// The page without a script stays until the view is there.
	if (main.querySelector("noscript")) main.replaceChildren();
	if (view) return true;
	// The same link tries again.
	openedState = null;
	render(warning(t("site-silent")), main);
	return true;
}

function renderView() {
	const state = currentState();
	if (view) render(keyed(view, view.content(state)), main);
	const title = view?.title ?? siteName;
	document.title = title === siteName ? title : `${title} – ${siteName}`;
	const other = document.querySelector<HTMLAnchorElement>("a[hreflang]");
	if (other) other.href = addressOfState(state, otherLang[lang]) + location.hash;
	for (const link of menuLinks)
		link.ariaCurrent = link.dataset.page === state.page && state.layer === "" ? "page" : null;
}

function focusHeading() {
	main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** The catalogue in this language, or `layer/<smallkey>`; with any query, and without a fragment before it. */
function leadsToView({ href }: HTMLAnchorElement) {
	const home = new URL(`${lang}/`, root).href;
	return href.startsWith(home) && /^(?:layer\/[^/?#]+)?(?:\?|$)/.test(href.slice(home.length));
}

addEventListener("popstate", () => void show());
addEventListener("refresh", renderView);
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
void show();
