import { html, render, type TemplateResult } from "lit-html";
import type { Lang } from "../../registry/smallkey.ts";
import { ask, askJson, oddAnswer, ServiceFailed } from "../map/ask.ts";
import { capabilitiesOf } from "../map/drawable.ts";
import { textIn } from "../page/dom.ts";
import { layers as countText, t } from "../page/texts.ts";

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
		const chooseName = (name: string) =>
			choose(kind === "wms" ? name : `${arcgisServiceOf(address)}/${name}`);
		render(t("Asking the service…"), place);
		try {
			const layers = await layersOf(kind, address);
			if (asked[lang] === question) render(layerSelect(layers.slice(0, maxOffered), chooseName), place);
		} catch (error) {
			if (!(error instanceof ServiceFailed)) throw error;
			if (asked[lang] === question) render(html`<span class="bad">${error.message}</span>`, place);
		}
	};
	const label = t(`List the layers of the service (${lang === "en" ? "English" : "French"})`);
	return html`<div class="offer"><button class="small" @click=${find}>${label}</button><div role="status"></div></div>`;
}

function layerSelect(
	layers: Awaited<ReturnType<typeof layersOf>>,
	chooseName: (name: string) => void,
): TemplateResult {
	const options = layers.map(({ name, title }) => {
		const text = title === "" || title === name ? name : `${title} (${name})`;
		return html`<option value=${name}>${text}</option>`;
	});
	const change = (event: Event) => textIn(event) !== "" && chooseName(textIn(event));
	return html`<select aria-label=${t("Layer in the service")} @change=${change}>
		<option value="">${t("Choose one of {0}", countText(layers.length))}</option>${options}</select>`;
}

const maxOffered = 500;

/** Accepts `…/MapServer` or `…/FeatureServer`, with or without the number of a layer. */
const arcgisService = /^([^?#]*\/(?:Map|Feature)Server)(?:\/\d*)?\/?(?:[?#].*)?$/i;

/** The address of an ArcGIS service without a layer's number; any other address as it is. */
function arcgisServiceOf(address: string): string {
	return arcgisService.exec(address)?.[1] ?? address;
}

/**
 * Reads the layers of a service, in its own order: their names in a WMS, or their numbers in an ArcGIS service.
 * @throws {ServiceFailed}
 */
async function layersOf(kind: "wms" | "feature", address: string) {
	if (kind === "feature") {
		const { layers } = await askJson(`${arcgisServiceOf(address)}?f=json`);
		if (!Array.isArray(layers)) throw new ServiceFailed(address, oddAnswer);
		return layers.map(({ id, name }) => ({ name: String(id), title: String(name) }));
	}
	const { text } = await ask(capabilitiesOf(address));
	const names = new DOMParser().parseFromString(text, "text/xml").querySelectorAll("Layer > Name");
	const layers = [...names].flatMap((element) => {
		const name = element.textContent.trim();
		const title = element.parentElement?.querySelector(":scope > Title");
		return name === "" ? [] : { name, title: title?.textContent.trim() ?? "" };
	});
	if (layers.length === 0) throw new ServiceFailed(address, oddAnswer);
	return layers;
}
