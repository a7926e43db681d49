import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Lang } from "../../registry/smallkey.ts";
import type { Bounds } from "../data/entries.ts";
import { ServiceFailed } from "../map/service-request.ts";
import { type Content, debounce, field, select, textIn } from "../page/dom.ts";
import { refresh } from "../page/page.ts";
import { layers as countText } from "../page/page-texts.ts";
import { t } from "./check.ts";
import { readService, type Service, type ServiceLayer } from "./service.ts";
import { isSurelyService, parseServiceAddress } from "./service-address.ts";
import { langOf, twinAddresses, twinTexts } from "./twin.ts";

const maxAsked = 4;

interface Twin {
	url: string;
	layer: ServiceLayer;
}

/** Null if there is none. Services ignore parameters that they do not know, so a twin by a parameter alone needs another title. */
async function findTwin(service: Service, layer: ServiceLayer, from: Lang): Promise<Twin | null> {
	for (const url of twinAddresses(service.url, from, service.languages).slice(0, maxAsked)) {
		const chosen = service.kind === "feature" ? layer.name : "";
		const other = await readService({ kind: service.kind, url, chosen }).catch((error: unknown) => {
			if (error instanceof ServiceFailed) return null;
			throw error;
		});
		const found = other && sameLayer(service, other, layer, from);
		const isParameter = new URL(url).pathname === new URL(service.url).pathname;
		if (found && !(isParameter && found.title === layer.title)) return { url, layer: found };
	}
	return twinInside(service, layer, from);
}

function sameLayer(service: Service, other: Service, layer: ServiceLayer, from: Lang): ServiceLayer | null {
	const names = [layer.name, ...twinTexts(layer.name, from)];
	const named = names.flatMap((name) => other.layers.find((one) => one.name === name) ?? []);
	const place = service.layers.length === other.layers.length ? service.layers.indexOf(layer) : -1;
	const found = named[0] ?? other.layers[place];
	return found?.geometry === layer.geometry ? found : null;
}

/** One service may have a layer for each language: `roads_en` and `roads_fr`. */
function twinInside({ url, layers }: Service, layer: ServiceLayer, from: Lang): Twin | null {
	const found = twinTexts(layer.name, from).flatMap((name) => layers.find((one) => one.name === name) ?? []);
	return found[0] ? { url, layer: found[0] } : null;
}

/** Pause in typing after which a whole address is read, in milliseconds. */
const pauseMs = 400;

const maxOffered = 500;

export interface FoundLayer {
	kind: Service["kind"];
	lang: Lang;
	own: { url: string; layer: string; title: string };
	/** The same in the other language; null if none was found, or if it is not wanted. */
	twin: FoundLayer["own"] | null;
}

export function registrationText({ kind, lang, own, twin }: FoundLayer): string {
	const other = twin ?? { ...own, title: "" };
	const node = ({ url, layer, title }: FoundLayer["own"]) => ({
		service_url: url,
		...(kind === "wms" && { layer }),
		...(title && { service_name: title }),
	});
	const [en, fr] = lang === "en" ? [own, other] : [other, own];
	const document = { version: "1.0.0", payload_type: kind, en: node(en), fr: node(fr) };
	return `${JSON.stringify(document, null, 2)}\n`;
}

export class AddressBox {
	#text = "";
	#service: Service | null = null;
	#lang: Lang = "en";
	#layer: ServiceLayer | null = null;
	#twin: Twin | null = null;
	#isTwinWanted = true;
	#status = "";
	#isBad = false;
	#serial = 0;
	readonly #readLater = debounce(pauseMs, () => {
		if (isSurelyService(this.#text)) void this.#read();
	});

	constructor(
		readonly found: (layer: FoundLayer) => void,
		readonly opened: (text: string) => void,
	) {}

	/** @param more stands below the box, such as the way to choose a file */
	content(more: Content): TemplateResult {
		const input = (event: Event) => {
			this.#text = textIn(event);
			this.#readLater();
		};
		const submit = (event: Event) => {
			event.preventDefault();
			void this.#read();
		};
		const box = html`<input type="text" id="source" inputmode="url" autocomplete="off" spellcheck="false"
			aria-describedby="sourcehint" .value=${live(this.#text)} @input=${input}>`;
		return html`<form class="source" @submit=${submit}>
			${field(
				"source",
				t("source-address"),
				html`<div class="withbutton">${box}
				<button type="submit">${t("read-source")}</button></div>`,
			)}
			<div class="hint" id="sourcehint">${t("source-hint")} ${more}</div>
			<p role="status" class=${this.#isBad ? "bad" : "hint"}>${this.#status}</p>
			${this.#layers()}${this.#question()}
		</form>`;
	}

	#layers(): Content {
		const { layers = [] } = this.#service ?? {};
		if (layers.length < 2) return "";
		const options = layers.slice(0, maxOffered).map(({ name, title, bounds }) => {
			const named = title === "" || title === name ? name : `${title} (${name})`;
			return [name, bounds ? `${named} · ${boundsText(bounds)}` : named] as const;
		});
		const choose = (name: string) => {
			const layer = layers.find((one) => one.name === name);
			if (layer) void this.#choose(layer);
		};
		const first = this.#layer ? [] : [["", t("choose-of", countText(layers.length))] as const];
		const list = select("servicelayer", this.#layer?.name ?? "", [...first, ...options], choose);
		return field("servicelayer", t("layer-in-service"), list);
	}

	#question(): Content {
		if (!this.#twin || !this.#layer) return "";
		const { url, layer } = this.#twin;
		const isFrench = this.#lang === "en";
		const choice = (isWanted: boolean, text: Content) => html`<label><input type="radio" name="twin"
			.checked=${live(this.#isTwinWanted === isWanted)} @change=${() => this.#want(isWanted)}><span>${text}</span></label>`;
		const place = url === this.#service?.url ? layer.name : url;
		return html`<fieldset class="twin"><legend>${t(isFrench ? "twin-in-fr" : "twin-in-en")}</legend>
			${choice(true, html`${t("twin-yes")}${t("colon")} <span lang=${isFrench ? "fr" : "en"}>${layer.title}</span> <code>${place}</code>`)}
			${choice(false, t(isFrench ? "use-en" : "use-fr"))}
		</fieldset>`;
	}

	#say(status: string, isBad = false): void {
		this.#status = status;
		this.#isBad = isBad;
		refresh();
	}

	async #read(): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		const parsed = parseServiceAddress(this.#text);
		[this.#service, this.#layer, this.#twin] = [null, null, null];
		if (!parsed) {
			const isText = /^\s*\{/.test(this.#text);
			if (isText) this.opened(this.#text);
			return this.#say(isText ? "" : t("no-address"), !isText);
		}
		this.#lang = langOf(parsed.url) ?? "en";
		this.#say(t("asking-service"));
		const service = await readService(parsed).catch((error: unknown) => {
			if (!(error instanceof ServiceFailed)) throw error;
			return error;
		});
		if (serial !== this.#serial) return;
		if (service instanceof ServiceFailed) {
			const { kind, url, chosen } = parsed;
			this.#report({ kind, url, layers: [], chosen, languages: [] }, { name: chosen, title: "" }, null);
			return this.#say(service.message, true);
		}
		this.#service = service;
		const chosen = service.layers.find(({ name }) => name === service.chosen);
		this.#say(t("count-in-service", countText(service.layers.length)));
		if (chosen) await this.#choose(chosen);
	}

	async #choose(layer: ServiceLayer): Promise<void> {
		const service = this.#service;
		if (!service) return;
		this.#serial += 1;
		const serial = this.#serial;
		[this.#layer, this.#twin, this.#isTwinWanted] = [layer, null, true];
		this.#report(service, layer, null);
		this.#say(t("twin-search"));
		const twin = await findTwin(service, layer, this.#lang);
		if (serial !== this.#serial) return;
		this.#twin = twin;
		this.#report(service, layer, twin);
		this.#say(twin ? "" : t("no-twin"));
	}

	#want(isWanted: boolean): void {
		this.#isTwinWanted = isWanted;
		if (this.#service && this.#layer) this.#report(this.#service, this.#layer, isWanted ? this.#twin : null);
		refresh();
	}

	#report(service: Service, layer: Pick<ServiceLayer, "name" | "title">, twin: Twin | null): void {
		const placed = (url: string, { name, title }: Pick<ServiceLayer, "name" | "title">) => {
			const address = new URL(url);
			if (service.kind === "feature" && name !== "") address.pathname += `/${name}`;
			return { url: address.href, layer: name, title };
		};
		const { kind, url } = service;
		const other = twin && placed(twin.url, twin.layer);
		this.found({ kind, lang: this.#lang, own: placed(url, layer), twin: other });
	}
}

/** `49°N – 60°N, 139°W – 114°W` */
function boundsText([west, south, east, north]: Bounds): string {
	const place = (value: number, positive: string, negative: string) =>
		`${Math.abs(Math.round(value))}°${value < 0 ? negative : positive}`;
	return `${place(south, "N", "S")} – ${place(north, "N", "S")}, ${place(west, "E", t("west"))} – ${place(east, "E", t("west"))}`;
}
