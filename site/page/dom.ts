import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";

/** What a template can hold: texts, which are never read as HTML, elements, templates, and lists of them. */
export type Content = TemplateResult | Node | string | undefined | readonly Content[];

/** An element of its own, for what a script keeps up to date by itself. */
export function part(className: string, content: Content = ""): HTMLElement {
	const element = document.createElement("div");
	element.className = className;
	render(content, element);
	return element;
}

/** Hosts and service texts with places where a long word may break. */
export function breakable(text: string): Content {
	return text.split(/(?<=[/_.\-?&=,])/).map((one) => html`${one}<wbr>`);
}

/** A control with its id, below its label; `more` follows it. */
export function field(id: string, label: string, control: Content, more: Content = ""): TemplateResult {
	return html`<div class="field"><label for=${id}>${label}</label>${control}${more}</div>`;
}

/** A list of values to choose from, with the text of each. */
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

/** What the control of an event holds. */
export function textIn({ currentTarget }: Event): string {
	return (currentTarget as HTMLInputElement).value;
}

/** A text that is read out at once. */
export function warning(text: string): TemplateResult {
	return html`<p class="warning" role="alert">${text}</p>`;
}

/** Calls later, and only the last of several calls in a row. */
export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}

/** `http` and `https` addresses; null for anything else, such as `javascript:`. */
export function webAddress(text: string): URL | null {
	try {
		const url = new URL(text);
		return url.protocol === "http:" || url.protocol === "https:" ? url : null;
	} catch {
		return null;
	}
}

/** A link to another site; its text where the address is none. */
export function outside(address: string, text: string): TemplateResult {
	if (!webAddress(address)) return html`<span>${breakable(text)}</span>`;
	// On paper an address that is the text itself need not follow once more.
	const name = address === text ? "address" : "";
	return html`<a href=${address} rel="noopener noreferrer" class=${name}>${breakable(text)}</a>`;
}
