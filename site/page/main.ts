import { render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { otherLang } from "../../registry/smallkey.ts";
import { ListView } from "./list-view.ts";
import {
	addressOfState,
	currentState,
	go,
	isEmbed,
	lang,
	readState,
	root,
	type State,
	siteName,
	t,
	type View,
	warning,
} from "./page.ts";

const main = document.querySelector("main") as HTMLElement;
const menu = document.querySelectorAll<HTMLAnchorElement>("a[data-page]");

let view: View | null = null;
/** Null when the page loads. */
let openedState: State | null = null;
let closing = new AbortController();

async function openView(state: State, left: string, signal: AbortSignal): Promise<View> {
	if (state.layer !== "") {
		const { openLayerView } = await import("./layer-view.ts");
		return openLayerView(state.layer, signal);
	}
	if (state.page === "layers") return new ListView(left, signal);
	const { DraftView } = await import("../draft/draft-view.ts");
	return new DraftView(signal);
}

function focusHeading(): void {
	main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** Moves the focus to the heading of a new view, but not when the page loads. */
async function show(): Promise<void> {
	const state = currentState();
	// An address of an earlier version, `?layer=`.
	if (!isEmbed && state.layer !== "") history.replaceState(null, "", addressOfState(state) + location.hash);
	const before = openedState;
	const isOther = state.layer !== before?.layer || (state.layer === "" && state.page !== before.page);
	if (isOther) {
		openedState = state;
		view = null;
		closing.abort();
		closing = new AbortController();
		const { signal } = closing;
		const other = await openView(state, before?.layer ?? "", signal).catch(() => {
			// A new version of the site has other scripts. A page that has just loaded is not loaded again.
			if (before && !signal.aborted && navigator.onLine) location.reload();
			return null;
		});
		if (signal.aborted) return;
		view = other;
		// The page without a script stays until the view is there.
		if (main.querySelector("noscript")) main.replaceChildren();
		if (!other) {
			// The same link tries again.
			openedState = null;
			render(warning(t("site-silent")), main);
		}
	}
	refresh();
	if (isOther && before) {
		scrollTo(0, 0);
		focusHeading();
	}
	view?.update?.(state);
}

function refresh(): void {
	const state = currentState();
	if (view) render(keyed(view, view.content(state)), main);
	const title = view?.title ?? siteName;
	document.title = title === siteName ? title : `${title} – ${siteName}`;
	const other = document.querySelector<HTMLAnchorElement>("a[hreflang]");
	if (other) other.href = addressOfState(state, otherLang[lang]) + location.hash;
	for (const link of menu)
		link.ariaCurrent = link.dataset.page === state.page && state.layer === "" ? "page" : null;
}

addEventListener("popstate", () => void show());
addEventListener("refresh", refresh);
// A link to the heading would replace the address's fragment, which may contain a draft.
document.querySelector(".skip")?.addEventListener("click", (event) => {
	event.preventDefault();
	focusHeading();
});
function isState({ href }: HTMLAnchorElement): boolean {
	const home = new URL(`${lang}/`, root).href;
	return href.startsWith(home) && /^(?:layer\/[^/?#]+)?(?:\?|$)/.test(href.slice(home.length));
}

addEventListener("click", (event) => {
	const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
	if (
		!link ||
		event.defaultPrevented ||
		isEmbed ||
		!isState(link) ||
		event.metaKey ||
		event.ctrlKey ||
		event.shiftKey ||
		event.altKey
	)
		return;
	event.preventDefault();
	go(readState(link));
});
void show();
