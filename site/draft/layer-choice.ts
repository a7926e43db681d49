import type { Lang } from "../../registry/smallkey.ts";
import { ask, askJson, failureText, ServiceFailed } from "../map/ask.ts";
import { fill, h } from "../page/dom.ts";
import type { Texts } from "../text/english.ts";

/** What is chosen: a layer's name in a WMS, or the address of a layer of an ArcGIS service. */
export type ChosenLayer = { layer: string } | { address: string };

/** A service that is asked for its layers. */
interface Asked {
	kind: "wms" | "feature";
	address: string;
}

/**
 * A button that asks a service for its layers, and a list to choose one from.
 * @param asked the service, at the moment of the question
 */
export function layerChoice(
	texts: Texts,
	lang: Lang,
	asked: () => Asked,
	choose: (chosen: ChosenLayer) => void,
): HTMLElement {
	const place = h("div", { role: "status" });
	let under = new AbortController();
	const find = async () => {
		under.abort();
		under = new AbortController();
		const { signal } = under;
		const { kind, address } = asked();
		fill(place, texts.infoAsking);
		try {
			const layers = await layersOf(kind, address, signal);
			if (!signal.aborted)
				fill(
					place,
					offer(texts, layers, (name) => choose(chosenOf(kind, address, name))),
				);
		} catch (error) {
			if (signal.aborted) return;
			if (!(error instanceof ServiceFailed)) throw error;
			fill(place, h("span", { class: "bad" }, failureText(texts, error.failure)));
		}
	};
	const label = texts.draftOffer(lang === "en" ? texts.english : texts.french);
	return h(
		"div",
		{ class: "offer" },
		h("button", { class: "small", onclick: () => void find() }, label),
		place,
	);
}

function chosenOf(kind: Asked["kind"], address: string, name: string): ChosenLayer {
	return kind === "wms" ? { layer: name } : { address: `${arcgisServiceOf(address) ?? address}/${name}` };
}

function offer(texts: Texts, layers: readonly OfferedLayer[], take: (name: string) => void): HTMLElement {
	const select = h(
		"select",
		{ "aria-label": texts.layerField },
		h("option", { value: "" }, texts.draftChooseLayer(layers.length)),
		layers.map(({ name, title }) =>
			h("option", { value: name }, title === "" || title === name ? name : `${title} (${name})`),
		),
	);
	select.addEventListener("change", () => select.value !== "" && take(select.value));
	return select;
}

/** A layer that a service has. */
interface OfferedLayer {
	/** Its name, or its number in an ArcGIS service. */
	name: string;
	title: string;
}

/** Layers that are offered at most. */
const maxOffered = 500;

/** `…/MapServer` or `…/FeatureServer`, with or without the number of a layer. */
const arcgisService = /^([^?#]*\/(?:Map|Feature)Server)(?:\/\d*)?\/?(?:[?#].*)?$/i;

/** The address of an ArcGIS service without a layer's number; null where it is none. */
function arcgisServiceOf(address: string): string | null {
	return arcgisService.exec(address)?.[1] ?? null;
}

/** The layers of a service, in its own order. @throws {ServiceFailed} */
async function layersOf(
	kind: "wms" | "feature",
	address: string,
	signal: AbortSignal,
): Promise<OfferedLayer[]> {
	const layers = kind === "wms" ? await namedLayers(address, signal) : await numberedLayers(address, signal);
	return layers.slice(0, maxOffered);
}

async function namedLayers(address: string, signal: AbortSignal): Promise<OfferedLayer[]> {
	const url = addressOf(address);
	for (const name of [...url.searchParams.keys()])
		if (/^(?:service|request)$/i.test(name)) url.searchParams.delete(name);
	url.searchParams.set("SERVICE", "WMS");
	url.searchParams.set("REQUEST", "GetCapabilities");
	const { text } = await ask(url.href, signal);
	const document = new DOMParser().parseFromString(text, "text/xml");
	const child = (element: Element, name: string) =>
		[...element.children].find(({ localName }) => localName === name)?.textContent?.trim() ?? "";
	const layers = [...document.getElementsByTagNameNS("*", "Layer")].flatMap((element) => {
		const name = child(element, "Name");
		return name === "" ? [] : [{ name, title: child(element, "Title") }];
	});
	if (layers.length === 0) throw new ServiceFailed({ kind: "odd", host: url.host });
	return layers;
}

async function numberedLayers(address: string, signal: AbortSignal): Promise<OfferedLayer[]> {
	const url = addressOf(`${arcgisServiceOf(address) ?? address}?f=json`);
	const { layers } = await askJson(url.href, signal);
	if (!Array.isArray(layers)) throw new ServiceFailed({ kind: "odd", host: url.host });
	return layers.map(({ id, name }) => ({ name: String(id), title: String(name) }));
}

function addressOf(text: string): URL {
	try {
		return new URL(text);
	} catch {
		throw new ServiceFailed({ kind: "address", address: text });
	}
}
