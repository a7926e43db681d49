import { html, render, type TemplateResult } from "lit-html";
import type { Lang } from "../../registry/smallkey.ts";
import { ServiceFailed } from "../map/ask.ts";
import { textIn } from "../page/dom.ts";
import { layers as countText } from "../page/texts.ts";
import { t } from "./check.ts";
import { readService, type ServiceLayer } from "./service.ts";
import { parseServiceAddress } from "./service-address.ts";

/** The newest question of each language: answers to older ones are not shown. */
const asked: Partial<Record<Lang, string>> = {};

/**
 * A button that asks a service for its layers, and a list to choose one from.
 * @param choose is called with the layer's name (WMS) or its address (ArcGIS)
 */
export function layerChoice(
	lang: Lang,
	kind: "wms" | "feature",
	address: string,
	choose: (chosen: string) => void,
): TemplateResult {
	const find = async ({ currentTarget }: Event) => {
		const place = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		const question = `${kind} ${address}`;
		asked[lang] = question;
		const { url = address } = parseServiceAddress(address) ?? {};
		const chooseName = (name: string) => choose(kind === "wms" ? name : `${url}/${name}`);
		render(t("asking-service"), place);
		try {
			const { layers } = await readService({ kind, url, chosen: "" });
			if (asked[lang] === question) render(layerSelect(layers.slice(0, maxOffered), chooseName), place);
		} catch (error) {
			if (!(error instanceof ServiceFailed)) throw error;
			if (asked[lang] === question) render(html`<span class="bad">${error.message}</span>`, place);
		}
	};
	const label = t(`list-layers-${lang}`);
	return html`<div class="offer"><button class="small" @click=${find}>${label}</button><div role="status"></div></div>`;
}

function layerSelect(layers: readonly ServiceLayer[], chooseName: (name: string) => void): TemplateResult {
	const options = layers.map(({ name, title }) => {
		const text = title === "" || title === name ? name : `${title} (${name})`;
		return html`<option value=${name}>${text}</option>`;
	});
	const change = (event: Event) => textIn(event) !== "" && chooseName(textIn(event));
	return html`<select aria-label=${t("layer-in-service")} @change=${change}>
		<option value="">${t("choose-of", countText(layers.length))}</option>${options}</select>`;
}

const maxOffered = 500;
