import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Lang } from "../../registry/smallkey.ts";
import { orFailure, ServiceFailed } from "../map/service-request.ts";
import { type Content, debounce, field, select, textIn } from "../page/dom.ts";
import { layers as countText, refresh } from "../page/page.ts";
import { t } from "./check.ts";
import {
	isSurelyService,
	langOf,
	parseServiceAddress,
	type ServiceAddress,
	twinAddresses,
	twinTexts,
} from "./proposals.ts";
import { layerOptions, readService, type Service, type ServiceLayer } from "./service.ts";

const maxTwins = 4;

interface Twin {
	url: string;
	layer: ServiceLayer;
}

type NamedLayer = Pick<ServiceLayer, "name" | "title">;

/** Null if there is none. Services ignore parameters that they do not know, so a twin by a parameter alone needs another title. */
async function findTwin(service: Service, layer: ServiceLayer, from: Lang): Promise<Twin | null> {
	for (const url of twinAddresses(service.url, from, service.languages).slice(0, maxTwins)) {
		const chosen = service.kind === "feature" ? layer.name : "";
		const other = await orFailure(readService({ kind: service.kind, url, chosen }));
		const match = other instanceof ServiceFailed ? null : sameLayer(service, other, layer, from);
		const isParameter = new URL(url).pathname === new URL(service.url).pathname;
		if (match && !(isParameter && match.title === layer.title)) return { url, layer: match };
	}
	// One service may have a layer for each language: `roads_en` and `roads_fr`.
	const inside = firstNamed(service, twinTexts(layer.name, from));
	return inside && { url: service.url, layer: inside };
}

function sameLayer(service: Service, other: Service, layer: ServiceLayer, from: Lang): ServiceLayer | null {
	const place = service.layers.length === other.layers.length ? service.layers.indexOf(layer) : -1;
	const twin = firstNamed(other, [layer.name, ...twinTexts(layer.name, from)]) ?? other.layers[place];
	return twin?.geometry === layer.geometry ? twin : null;
}

function firstNamed({ layers }: Service, names: readonly string[]): ServiceLayer | null {
	return names.flatMap((name) => layers.find((candidate) => candidate.name === name) ?? [])[0] ?? null;
}

/** Pause in typing after which a whole address is read, in milliseconds. */
const pauseMs = 400;

export class AddressBox {
	#text = "";
	#service: Service | null = null;
	#lang: Lang = "en";
	#layer: ServiceLayer | null = null;
	#twin: Twin | null = null;
	#hasTwin = true;
	#status = "";
	#isBad = false;
	#serial = 0;
	readonly #readLater = debounce(pauseMs, () => {
		if (isSurelyService(this.#text)) void this.#read();
	});

	constructor(
		readonly choose: (registration: string, title: string | undefined) => void,
		readonly open: (text: string) => void,
	) {}

	/** @param more below the box */
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
		const choose = (name: string) => void this.#choose(name);
		const list = select("servicelayer", this.#layer?.name ?? "", layerOptions(layers), choose);
		return field("servicelayer", t("layer-in-service"), list);
	}

	#question(): Content {
		if (!this.#twin || !this.#layer) return "";
		const { url, layer } = this.#twin;
		const isFrench = this.#lang === "en";
		const choice = (isTwin: boolean, text: Content) => html`<label><input type="radio" name="twin"
			.checked=${live(this.#hasTwin === isTwin)} @change=${() => this.#setTwin(isTwin)}><span>${text}</span></label>`;
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
			if (isText) this.open(this.#text);
			return this.#say(isText ? "" : t("no-address"), !isText);
		}
		this.#lang = langOf(parsed.url);
		this.#say(t("asking-service"));
		const service = await orFailure(readService(parsed));
		if (serial !== this.#serial) return;
		if (service instanceof ServiceFailed) {
			this.#report(parsed, { name: parsed.chosen, title: "" }, null);
			return this.#say(service.message, true);
		}
		this.#service = service;
		this.#say(t("count-in-service", countText(service.layers.length)));
		await this.#choose(service.chosen);
	}

	async #choose(name: string): Promise<void> {
		const service = this.#service;
		const layer = service?.layers.find((candidate) => candidate.name === name);
		if (!service || !layer) return;
		this.#serial += 1;
		const serial = this.#serial;
		[this.#layer, this.#twin, this.#hasTwin] = [layer, null, true];
		this.#report(service, layer, null);
		this.#say(t("twin-search"));
		const twin = await findTwin(service, layer, this.#lang);
		if (serial !== this.#serial) return;
		this.#twin = twin;
		this.#report(service, layer, twin);
		this.#say(twin ? "" : t("no-twin"));
	}

	#setTwin(isTwin: boolean): void {
		this.#hasTwin = isTwin;
		if (this.#service && this.#layer) this.#report(this.#service, this.#layer, isTwin ? this.#twin : null);
	}

	#report({ kind, url }: ServiceAddress, layer: NamedLayer, twin: Twin | null): void {
		const node = (service: string, { name, title }: NamedLayer) => {
			const address = new URL(service);
			if (kind === "feature" && name !== "") address.pathname += `/${name}`;
			return {
				service_url: address.href,
				layer: kind === "wms" ? name : undefined,
				service_name: title || undefined,
			};
		};
		const first = node(url, layer);
		const other = twin ? node(twin.url, twin.layer) : { ...first, service_name: undefined };
		const [en, fr] = this.#lang === "en" ? [first, other] : [other, first];
		const document = { version: "1.0.0", payload_type: kind, en, fr };
		this.choose(`${JSON.stringify(document, null, 2)}\n`, en.service_name ?? fr.service_name);
	}
}
