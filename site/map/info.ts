import { html, type TemplateResult } from "lit-html";
import { tryJson } from "../../registry/try-json.ts";
import { breakable, type Content, outside } from "../page/dom.ts";
import { t } from "../page/texts.ts";
import { ask, ServiceFailed } from "./ask.ts";
import type { Drawable } from "./drawable.ts";

/** Most characters of an answer that are shown. */
const maxText = 20_000;

/** Most features, and most members of a feature, that are shown. */
const maxShown = 10;
const maxMembers = 200;

/**
 * The answer of a WMS to GetFeatureInfo, as the viewer's parser would show it. HTML is shown in a sandboxed frame
 * without scripts, forms and this page's origin, so that it cannot affect the page.
 */
export async function serviceInfo(address: string, type: string): Promise<TemplateResult> {
	if (type === "text/html") {
		return html`<iframe sandbox="" referrerpolicy="no-referrer" title=${t("The service’s answer")} src=${address}></iframe>`;
	}
	try {
		const { text } = await ask(address);
		if (text.trim() === "") return html`<p>${t("There is nothing here.")}</p>`;
		const value = type === "application/json" ? tryJson(text) : null;
		const shown = value === null ? text : JSON.stringify(value, null, 2);
		const name = t("The service’s answer");
		return html`<pre tabindex="0" role="region" aria-label=${name}>${shown.slice(0, maxText)}</pre>`;
	} catch (error) {
		if (!(error instanceof ServiceFailed)) throw error;
		return html`<p class="bad">${error.message}</p>`;
	}
}

/** The attributes of features, with their displayed names. */
export function featureInfo(
	{ nameField, aliases }: Drawable,
	features: Record<string, unknown>[],
): TemplateResult {
	if (features.length === 0) return html`<p>${t("There is nothing here.")}</p>`;
	const shown = features.slice(0, maxShown).map((attributes) => {
		const members = Object.entries(attributes).slice(0, maxMembers);
		return html`<section>
			<h4>${String(attributes[nameField] ?? "") || t("The service’s answer")}</h4>
			<dl>${members.map(([name, value]) => html`<dt>${aliases[name] ?? name}</dt><dd>${shownValue(value)}</dd>`)}</dl>
		</section>`;
	});
	const isMore = features.length > maxShown;
	return html`<div>${isMore ? html`<p>${t("The first {0} of {1}.", maxShown, features.length)}</p>` : ""}${shown}</div>`;
}

function shownValue(value: unknown): Content {
	if (value === null || value === undefined) return "–";
	const text = String(value);
	return /^https?:\/\/\S+$/.test(text) ? outside(text, text) : breakable(text.slice(0, maxText));
}
