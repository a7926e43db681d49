import { render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { readState, type State, writeState } from "./address.ts";
import { warning } from "./dom.ts";
import { openHealth } from "./health-view.ts";
import { LayerView } from "./layer-view.ts";
import { ListView } from "./list-view.ts";
import { currentState, followHere, go, lang, texts, type View } from "./page.ts";

const main = document.querySelector("main") as HTMLElement;
const menu = document.querySelectorAll<HTMLAnchorElement>("a[data-page]");

let view: View | null = null;
/** Which view is open: another one is opened where this changes. */
let key = "";
let layer: string | null = null;

/** @param left the layer that was open before: null: none */
async function openView(state: State, left: string | null): Promise<View> {
	if (state.layer !== null) return new LayerView(state.layer);
	if (state.page === "health") return openHealth();
	if (state.page === "layers") return new ListView(left);
	const { DraftView } = await import("../draft/draft-view.ts");
	return new DraftView();
}

function focusHeading(): void {
	main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** A draft behind any of the page's addresses is shown as one. */
function acceptDraft(): void {
	const { page, layer } = currentState();
	const isOpen = page === "draft" && layer === null;
	if (isOpen || !location.hash.startsWith("#draft=")) return;
	history.replaceState(null, "", `${location.pathname}?page=draft${location.hash}`);
}

/** Shows the state of the address. The focus goes along where another view is shown, but stays where a page begins. */
async function show(): Promise<void> {
	acceptDraft();
	const state = currentState();
	const other = state.layer === null ? state.page : `layer ${state.layer}`;
	const isMove = key !== "" && other !== key;
	if (other !== key) {
		const left = layer;
		key = other;
		layer = state.layer;
		view?.close();
		view = null;
		try {
			const opened = await openView(state, left);
			if (key !== other) return opened.close();
			view = opened;
		} catch {
			render(warning(texts.problemNetwork), main);
		}
	}
	document.body.classList.toggle("embed", state.isEmbedded && state.layer !== null);
	refresh();
	if (isMove) {
		scrollTo(0, 0);
		focusHeading();
	}
	view?.update?.(state);
}

/** Shows what the view says, the window's title, the other language's address, and where one is. */
function refresh(): void {
	const state = currentState();
	if (view) render(keyed(key, view.content(state)), main);
	const title = view?.title ?? texts.title;
	document.title = title === texts.title ? title : `${title} – ${texts.title}`;
	const other = document.querySelector<HTMLAnchorElement>("a[hreflang]");
	if (other) other.href = `../${lang === "en" ? "fr" : "en"}/${writeState(state)}${location.hash}`;
	for (const link of menu) {
		const isHere = link.dataset.page === state.page && state.layer === null;
		if (isHere) link.setAttribute("aria-current", "page");
		else link.removeAttribute("aria-current");
	}
}

addEventListener("popstate", () => void show());
addEventListener("refresh", refresh);
// The part of the address behind the # belongs to drafts.
document.querySelector(".skip")?.addEventListener("click", (event) => {
	event.preventDefault();
	focusHeading();
});
for (const link of menu) {
	const follow = followHere(() => go(readState(new URL(link.href).search)));
	link.addEventListener("click", follow);
}
main.replaceChildren();
void show();
