import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";

/** A value in a template: a text, which is never parsed as HTML, an element, a template, or a list of these. */
export type Content = TemplateResult | Node | string | undefined | readonly Content[];

/** An element whose content a script updates, outside the page's rendering. */
export function part(className: string, content: Content = ""): HTMLElement {
	const element = document.createElement("div");
	element.className = className;
	render(content, element);
	return element;
}

/** A text with possible line breaks after punctuation, for long addresses and names. */
export function breakable(text: string): Content {
	return text.split(/(?<=[/_.\-?&=,])/).map((one) => html`${one}<wbr>`);
}

/** A control below its label. @param id of the control @param more follows the control */
export function field(id: string, label: string, control: Content, more: Content = ""): TemplateResult {
	return html`<div class="field"><label for=${id}>${label}</label>${control}${more}</div>`;
}

/** A drop-down list of values with their texts. */
export function select(
	id: string,
	chosen: string,
	options: readonly (readonly [value: string, text: string])[],
	choose: (value: string) => void,
): TemplateResult {
	const items = options.map(
		([value, text]) => html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`,
	);
	const change = (event: Event) => choose(textIn(event));
	return html`<select id=${id} @change=${change}>${items}</select>`;
}

/** The value of an event's control. */
export function textIn({ currentTarget }: Event): string {
	return (currentTarget as HTMLInputElement).value;
}

/** A warning, which screen readers announce at once. */
export function warning(text: string): TemplateResult {
	return html`<p class="warning" role="alert">${text}</p>`;
}

/** Delays a call; a further call within `waitMs` replaces it. */
export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}

/** Parses an `http` or `https` address; null for anything else, such as `javascript:`. */
export function webAddress(text: string): URL | null {
	try {
		const url = new URL(text);
		return url.protocol === "http:" || url.protocol === "https:" ? url : null;
	} catch {
		return null;
	}
}

/** A link to another site; only its text if the address is not `http` or `https`. */
export function outside(address: string, text: string): TemplateResult {
	if (!webAddress(address)) return html`<span>${breakable(text)}</span>`;
	// Print styles add the address after a link, except if the text is the address (class `address`).
	const name = address === text ? "address" : "";
	return html`<a href=${address} rel="noopener noreferrer" class=${name}>${breakable(text)}</a>`;
}
