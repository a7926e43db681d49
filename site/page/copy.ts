import type { Texts } from "../text/english.ts";
import { fill, h } from "./dom.ts";

/** A button that copies a text, and announces it, to screen readers too. @param name of what is copied, for them */
export function copyButton(texts: Texts, label: string, text: () => string, name = ""): HTMLElement {
	const said = h("span", { role: "status", class: "said" });
	const button = h(
		"button",
		{
			class: "small",
			"aria-label": name ? `${label}${texts.colon} ${name}` : null,
			onclick: async () => {
				try {
					await navigator.clipboard.writeText(text());
					fill(said, texts.copied);
				} catch {
					fill(said, texts.copyFailed);
				}
			},
		},
		label,
	);
	return h("span", { class: "copy" }, button, said);
}

/** Longest text that is printed, in characters: paper is no place to copy more from. */
const maxPrinted = 400;

/** A text that can be marked, with a button that copies it. */
export function copyBox(texts: Texts, name: string, text: string): HTMLElement {
	const button = copyButton(texts, texts.copy, () => text, name);
	return h(
		"div",
		{ class: text.length > maxPrinted ? "copybox long" : "copybox" },
		h("div", { class: "copyhead" }, h("span", {}, name), button),
		h("pre", { tabindex: "0", role: "region", "aria-label": name }, h("code", {}, text)),
	);
}
