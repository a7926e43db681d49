import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { t } from "./texts.ts";

/** A button that copies a text and announces the result. @param name what is copied, for screen readers */
export function copyButton(label: string, text: () => string, name = ""): TemplateResult {
	const copy = async ({ currentTarget }: Event) => {
		const said = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		try {
			await navigator.clipboard.writeText(text());
			said.textContent = t("Copied");
		} catch {
			said.textContent = t("Could not copy: select the text and copy it yourself");
		}
	};
	const called = name ? `${label}${t(":")} ${name}` : nothing;
	return html`<span class="copy"><button class="small" aria-label=${called} @click=${copy}>${label}</button
		><span role="status" class="said"></span></span>`;
}

/** Longest text that is printed, in characters: longer ones are of no use on paper. */
const maxPrinted = 400;

/** A text that can be selected, with a button that copies it. */
export function copyBox(name: string, text: string): TemplateResult {
	const box = html`<div class=${text.length > maxPrinted ? "copybox long" : "copybox"}>
		<div class="copyhead"><span>${name}</span>${copyButton(t("Copy"), () => text, name)}</div>
		<pre tabindex="0" role="region" aria-label=${name}><code>${text}</code></pre>
	</div>`;
	// A changed text gets a new box, so that "Copied" is not shown for it.
	return html`${keyed(text, box)}`;
}
