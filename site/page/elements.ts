import { html, nothing, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { t } from "./page.ts";
import { addressOfState, type State } from "./state.ts";

/** Texts are never parsed as HTML. */
export type Content = TemplateResult | Node | string | undefined | readonly Content[];

export function stateLink(state: State, content: Content) {
	return html`<a href=${addressOfState(state)} data-layer=${state.layer}>${content}</a>`;
}

const maxProblems = 3;

export function problemBox(problems: readonly string[], retry: () => void): Content {
	if (problems.length === 0) return "";
	const texts = [...new Set(problems)].slice(0, maxProblems);
	return html`<div class="warning" role="alert">
		${texts.map((text) => html`<p>${text}</p>`)}
		<button @click=${retry}>${t("try-again")}</button>
	</div>`;
}

/** Is updated outside the page's rendering. */
export function createPart(className: string, content: Content = ""): HTMLElement {
	const element = document.createElement("div");
	element.className = className;
	render(content, element);
	return element;
}

export function field(id: string, label: string, control: Content, more: Content = "") {
	return html`<div class="field"><label for=${id}>${label}</label>${control}${more}</div>`;
}

export function select(
	id: string,
	chosen: string,
	options: readonly (readonly [value: string, text: string])[],
	choose: (value: string) => void,
) {
	const change = (event: Event) => choose(textIn(event));
	return html`<select id=${id} @change=${change}>${options.map(([value, text]) => {
		return html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`;
	})}</select>`;
}

export function textIn({ currentTarget }: Event): string {
	return (currentTarget as HTMLInputElement).value;
}

/** Screen readers announce it at once. */
export function warning(text: string) {
	return html`<p class="warning" role="alert">${text}</p>`;
}

/** Screen readers announce the answer. @param name added to the label for them */
export function copyButton(label: string, text: () => string, name = "") {
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

export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}
