import { html, nothing, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { live } from "lit-html/directives/live.js";
import { type Content, t } from "./page.ts";

export type { Content } from "./page.ts";

/** A script updates it, outside the page's rendering. */
export function part(className: string, content: Content = ""): HTMLElement {
	const element = document.createElement("div");
	element.className = className;
	render(content, element);
	return element;
}

/** Line breaks are possible after punctuation, but not in a number such as 83,12. */
export function breakable(text: string): Content {
	return text.split(/(?<=[/_\-?&=])|(?<=[.,])(?!\d)/).map((piece) => html`${piece}<wbr>`);
}

export function field(id: string, label: string, control: Content, more: Content = ""): TemplateResult {
	return html`<div class="field"><label for=${id}>${label}</label>${control}${more}</div>`;
}

export function select(
	id: string,
	chosen: string,
	options: readonly (readonly [value: string, text: string])[],
	choose: (value: string) => void,
): TemplateResult {
	const change = (event: Event) => choose(textIn(event));
	return html`<select id=${id} @change=${change}>${options.map(([value, text]) => {
		return html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`;
	})}</select>`;
}

export function textIn({ currentTarget }: Event): string {
	return (currentTarget as HTMLInputElement).value;
}

/** Screen readers announce it at once. */
export function warning(text: string): TemplateResult {
	return html`<p class="warning" role="alert">${text}</p>`;
}

/** Screen readers announce the answer. @param name added to the label for them; empty for none */
export function copyButton(label: string, text: () => string, name = ""): TemplateResult {
	const press = async ({ currentTarget }: Event) => {
		const place = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		place.textContent = await navigator.clipboard.writeText(text()).then(
			() => t("copied"),
			() => t("copy-failed"),
		);
	};
	return html`<span class="copy">
		<button class="small" aria-label=${name ? `${label}${t("colon")} ${name}` : nothing} @click=${press}>${label}</button>
		<span role="status" class="said"></span>
	</span>`;
}

export function copyBox(name: string, text: string): TemplateResult {
	const box = html`<div class="copybox">
		<div class="copyhead"><span>${name}</span>${copyButton(t("copy"), () => text, name)}</div>
		<pre tabindex="0" role="region" aria-label=${name}><code>${text}</code></pre>
	</div>`;
	// A changed text gets a new box, so that "Copied" is not shown for it.
	return html`${keyed(text, box)}`;
}

export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}

/** Null for anything but http and https, such as `javascript:`. */
export function webAddress(text: string): URL | null {
	return /^\s*https?:/i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

export function outside(address: string, text: string): TemplateResult {
	if (!webAddress(address)) return html`<span>${breakable(text)}</span>`;
	// Print styles add the address after a link, except if the text is the address (class `address`).
	const name = address === text ? "address" : "";
	return html`<a href=${address} rel="noopener noreferrer" class=${name}>${breakable(text)}</a>`;
}
