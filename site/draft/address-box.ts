import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Lang } from "../../registry/smallkey.ts";
import type { Bounds } from "../data/entries.ts";
import { askJson, orFailure, ServiceFailed } from "../map/service-request.ts";
import { type Content, layers as countText, field, refresh, select, textIn } from "../page/page.ts";
import { type Document, documentAddress, featureLayersOf, layerProblem } from "../service/arcgis.ts";
import { textOf, wordOf } from "../service/decode.ts";
import { t } from "./parts.ts";
import { langOf, parseServiceAddress, type ServiceAddress, twinAddresses, twinTexts } from "./proposals.ts";

const maxTwins = 4;

interface Twin {
	url: string;
	layer: ServiceLayer;
}

type NamedLayer = Pick<ServiceLayer, "name" | "title">;

/** Null if there is none. Services ignore parameters that they do not know, so a twin by a parameter alone needs another title. */
async function findTwin(service: Service, layer: ServiceLayer, from: Lang): Promise<Twin | null> {
	for (const url of twinAddresses(service.url, from).slice(0, maxTwins)) {
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
	return twin && twin.geometry === layer.geometry ? twin : null;
}

function firstNamed({ layers }: Service, names: readonly string[]): ServiceLayer | null {
	return names.flatMap((name) => layers.find((candidate) => candidate.name === name) ?? [])[0] ?? null;
}

export class AddressBox {
	#text = "";
	#service: Service | null = null;
	#chosenName = "";
	#status = { text: "", isBad: false };
	#lastSerial = 0;

	/** @param choose `isTyped`: the text is the user's, and not made here from an address */
	constructor(readonly choose: (registration: string, isTyped: boolean) => void) {}

	content(): TemplateResult {
		const submit = (event: Event) => {
			event.preventDefault();
			void this.#read();
		};
		const input = (event: Event) => {
			this.#text = textIn(event);
		};
		const box = html`<input type="text" id="source" inputmode="url" autocomplete="off" spellcheck="false"
			aria-describedby="sourcehint" .value=${live(this.#text)} @input=${input}>`;
		const { text, isBad } = this.#status;
		return html`<form class="source" @submit=${submit}>
			${field(
				"source",
				t("source-address"),
				html`<div class="withbutton">${box}
				<button type="submit">${t("read-source")}</button></div>`,
			)}
			<p class="hint" id="sourcehint">${t("source-hint")}</p>
			<p role="status" class=${isBad ? "bad" : "hint"}>${text}</p>
			${this.#layerList()}
		</form>`;
	}

	#layerList(): Content {
		const { layers = [] } = this.#service ?? {};
		if (layers.length < 2) return "";
		const list = select(
			"servicelayer",
			this.#chosenName,
			layerOptions(layers),
			(name) => void this.#take(name),
		);
		return field("servicelayer", t("layer-in-service"), list);
	}

	#say(text: string, isBad = false): void {
		this.#status = { text, isBad };
		refresh();
	}

	async #read(): Promise<void> {
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		const parsed = parseServiceAddress(this.#text);
		this.#service = null;
		if (!parsed) {
			const isText = /^\s*\{/.test(this.#text);
			if (isText) this.choose(this.#text, true);
			return this.#say(isText ? "" : t("no-address"), !isText);
		}
		this.#say(t("asking-service"));
		const answer = await orFailure(readService(parsed));
		if (serial !== this.#lastSerial) return;
		if (answer instanceof ServiceFailed) {
			this.#report(parsed, { name: parsed.chosen, title: "" });
			return this.#say(answer.message, true);
		}
		this.#service = answer;
		this.#say("");
		await this.#take(answer.chosen);
	}

	async #take(name: string): Promise<void> {
		const service = this.#service;
		const layer = service?.layers.find((candidate) => candidate.name === name);
		if (!service || !layer) return;
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		this.#chosenName = name;
		this.#report(service, layer);
		this.#say(t("twin-search"));
		const twin = await findTwin(service, layer, langOf(service.url));
		if (serial !== this.#lastSerial) return;
		if (twin) this.#report(service, layer, twin);
		this.#say(twin ? t("twin-found", twin.layer.title, twin.url) : t("no-twin"));
	}

	#report({ kind, url }: ServiceAddress, layer: NamedLayer, twin?: Twin): void {
		const nodeOf = (address: string, { name, title }: NamedLayer) => {
			const place = new URL(address);
			if (kind === "feature" && name !== "") place.pathname += `/${name}`;
			const layer = kind === "wms" ? name : undefined;
			return { service_url: place.href, layer, service_name: title || undefined };
		};
		const node = nodeOf(url, layer);
		const other = twin ? nodeOf(twin.url, twin.layer) : { ...node, service_name: undefined };
		const [en, fr] = langOf(url) === "en" ? [node, other] : [other, node];
		const document = { version: "1.0.0", payload_type: kind, en, fr };
		this.choose(`${JSON.stringify(document, null, 2)}\n`, false);
	}
}

interface ServiceLayer {
	name: string;
	title: string;
	/** Of an ArcGIS layer. */
	geometry?: string;
	/** Of a layer of a WMS. */
	bounds?: Bounds | null;
}

interface Service extends ServiceAddress {
	layers: readonly ServiceLayer[];
}

async function readService(parsed: ServiceAddress): Promise<Service> {
	const { kind, url, chosen } = parsed;
	const layers =
		kind === "wms"
			? await (await import("../map/document.ts")).readLayers(url, chosen)
			: await readArcgisLayers(url, chosen);
	const [first, second] = layers;
	if (!first) throw new ServiceFailed(url, "no-map");
	const isListed = layers.some(({ name }) => name === chosen);
	const only = second ? "" : first.name;
	return { kind, url, layers, chosen: isListed ? chosen : only };
}

/** @param number of the only layer that is read; empty: all layers */
async function readArcgisLayers(url: string, number: string): Promise<ServiceLayer[]> {
	if (number === "") {
		// `/layers` has the kinds of layers; some servers do not have it.
		const whole = await askJson(documentAddress(url, "/layers")).then(featureLayersOf, () => null);
		return (whole ?? featureLayersOf(await askJson(documentAddress(url))) ?? []).map(arcgisLayer);
	}
	const document = await askJson(documentAddress(url, `/${number}`));
	return layerProblem(document) ? [] : [arcgisLayer({ id: number, ...document })];
}

function arcgisLayer({ id, name, geometryType }: Document): ServiceLayer {
	return { name: wordOf(id), title: textOf(name) || wordOf(id), geometry: textOf(geometryType) };
}

const maxOffered = 500;

function layerOptions(layers: readonly ServiceLayer[]) {
	const options = layers.slice(0, maxOffered).map(({ name, title, bounds }) => {
		const text = title === "" || title === name ? name : `${title} (${name})`;
		return [name, bounds ? `${text} · ${boundsText(bounds)}` : text] as const;
	});
	return [["", t("choose-of", countText(layers.length))] as const, ...options];
}

/** `49°N – 60°N, 139°W – 114°W` */
function boundsText([west, south, east, north]: Bounds): string {
	const place = (value: number, positive: string, negative: string) =>
		`${Math.abs(Math.round(value))}°${value < 0 ? negative : positive}`;
	const [left, right] = [west, east].map((value) => place(value, "E", t("west")));
	return `${place(south, "N", "S")} – ${place(north, "N", "S")}, ${left} – ${right}`;
}
