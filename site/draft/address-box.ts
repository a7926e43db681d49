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

export function createAddressBox(
	choose: (registration: string, title: string | undefined) => void,
	open: (text: string) => void,
) {
	let text = "";
	let service: Service | null = null;
	let lang: Lang = "en";
	let layer: ServiceLayer | null = null;
	let twin: Twin | null = null;
	let hasTwin = true;
	let status = "";
	let isBad = false;
	let lastSerial = 0;
	const readLater = debounce(pauseMs, () => {
		if (isSurelyService(text)) void read();
	});

	/** @param more below the box */
	function content(more: Content): TemplateResult {
		const input = (event: Event) => {
			text = textIn(event);
			readLater();
		};
		const submit = (event: Event) => {
			event.preventDefault();
			void read();
		};
		const box = html`<input type="text" id="source" inputmode="url" autocomplete="off" spellcheck="false"
			aria-describedby="sourcehint" .value=${live(text)} @input=${input}>`;
		return html`<form class="source" @submit=${submit}>
			${field(
				"source",
				t("source-address"),
				html`<div class="withbutton">${box}
				<button type="submit">${t("read-source")}</button></div>`,
			)}
			<div class="hint" id="sourcehint">${t("source-hint")} ${more}</div>
			<p role="status" class=${isBad ? "bad" : "hint"}>${status}</p>
			${layerList()}${question()}
		</form>`;
	}

	function layerList(): Content {
		const { layers = [] } = service ?? {};
		if (layers.length < 2) return "";
		const list = select("servicelayer", layer?.name ?? "", layerOptions(layers), (name) => void take(name));
		return field("servicelayer", t("layer-in-service"), list);
	}

	function question(): Content {
		if (!twin) return "";
		const isFrench = lang === "en";
		const choice = (isTwin: boolean, label: Content) => html`<label><input type="radio" name="twin"
			.checked=${live(hasTwin === isTwin)} @change=${() => setTwin(isTwin)}><span>${label}</span></label>`;
		const place = twin.url === service?.url ? twin.layer.name : twin.url;
		return html`<fieldset class="twin"><legend>${t(isFrench ? "twin-in-fr" : "twin-in-en")}</legend>
			${choice(true, html`${t("twin-yes")}${t("colon")} <span lang=${isFrench ? "fr" : "en"}>${twin.layer.title}</span> <code>${place}</code>`)}
			${choice(false, t(isFrench ? "use-en" : "use-fr"))}
		</fieldset>`;
	}

	function say(newStatus: string, isWrong = false): void {
		status = newStatus;
		isBad = isWrong;
		refresh();
	}

	async function read(): Promise<void> {
		lastSerial += 1;
		const serial = lastSerial;
		const parsed = parseServiceAddress(text);
		[service, layer, twin] = [null, null, null];
		if (!parsed) {
			const isText = /^\s*\{/.test(text);
			if (isText) open(text);
			return say(isText ? "" : t("no-address"), !isText);
		}
		lang = langOf(parsed.url);
		say(t("asking-service"));
		const answer = await orFailure(readService(parsed));
		if (serial !== lastSerial) return;
		if (answer instanceof ServiceFailed) {
			report(parsed, { name: parsed.chosen, title: "" }, null);
			return say(answer.message, true);
		}
		service = answer;
		say(t("count-in-service", countText(answer.layers.length)));
		await take(answer.chosen);
	}

	async function take(name: string): Promise<void> {
		const from = service;
		const chosen = from?.layers.find((candidate) => candidate.name === name);
		if (!from || !chosen) return;
		lastSerial += 1;
		const serial = lastSerial;
		[layer, twin, hasTwin] = [chosen, null, true];
		report(from, chosen, null);
		say(t("twin-search"));
		const match = await findTwin(from, chosen, lang);
		if (serial !== lastSerial) return;
		twin = match;
		report(from, chosen, match);
		say(match ? "" : t("no-twin"));
	}

	function setTwin(isTwin: boolean): void {
		hasTwin = isTwin;
		if (service && layer) report(service, layer, isTwin ? twin : null);
	}

	function report({ kind, url }: ServiceAddress, first: NamedLayer, second: Twin | null): void {
		const nodeOf = (address: string, { name, title }: NamedLayer) => {
			const place = new URL(address);
			if (kind === "feature" && name !== "") place.pathname += `/${name}`;
			return {
				service_url: place.href,
				layer: kind === "wms" ? name : undefined,
				service_name: title || undefined,
			};
		};
		const node = nodeOf(url, first);
		const other = second ? nodeOf(second.url, second.layer) : { ...node, service_name: undefined };
		const [en, fr] = lang === "en" ? [node, other] : [other, node];
		const document = { version: "1.0.0", payload_type: kind, en, fr };
		choose(`${JSON.stringify(document, null, 2)}\n`, en.service_name ?? fr.service_name);
	}

	return { content };
}
