import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Bounds } from "../data/entries.ts";
import { orFailure, ServiceFailed } from "../map/service-request.ts";
import { type Content, field, select, textIn } from "../page/elements.ts";
import { plural, refresh } from "../page/page.ts";
import { t } from "./checked-draft.ts";
import { findTwin, readService, type Service, type ServiceLayer, type Twin } from "./service.ts";
import { parseServiceAddress, type ServiceAddress } from "./service-address.ts";
import { langOf } from "./twins.ts";

type NamedLayer = Pick<ServiceLayer, "name" | "title">;

export class AddressBox {
	#text = "";
	#service: Service | null = null;
	#layerName = "";
	#status = { text: "", kind: "hint" };
	#lastSerial = 0;

	constructor(readonly onRegistration: (text: string, source: "user" | "service") => void) {}

	content() {
		const submit = (event: Event) => {
			event.preventDefault();
			void this.#read();
		};
		const input = (event: Event) => {
			this.#text = textIn(event);
		};
		const box = html`<input type="text" id="source" inputmode="url" autocomplete="off" spellcheck="false"
			aria-describedby="sourcehint" .value=${live(this.#text)} @input=${input}>`;
		const { text, kind } = this.#status;
		return html`<form class="source" @submit=${submit}>
			${field(
				"source",
				t("source-address"),
				html`<div class="withbutton">${box}
				<button type="submit">${t("read-source")}</button></div>`,
			)}
			<p class="hint" id="sourcehint">${t("source-hint")}</p>
			<p role="status" class=${kind}>${text}</p>
			${this.#layerList()}
		</form>`;
	}

	#layerList(): Content {
		const { layers = [] } = this.#service ?? {};
		if (layers.length < 2) return "";
		const choose = (name: string) => void this.#chooseLayer(name);
		const list = select("servicelayer", this.#layerName, layerOptions(layers), choose);
		return field("servicelayer", t("layer-in-service"), list);
	}

	#setStatus(text: string, kind: "hint" | "bad" = "hint") {
		this.#status = { text, kind };
		refresh();
	}

	async #read() {
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		this.#service = null;
		const address = parseServiceAddress(this.#text);
		if (!address) return this.#readRegistration();
		this.#setStatus(t("asking-service"));
		const service = await orFailure(readService(address));
		if (serial !== this.#lastSerial) return;
		if (service instanceof ServiceFailed) {
			this.#makeRegistration(address, { name: address.layerName, title: "" });
			return this.#setStatus(service.message, "bad");
		}
		this.#service = service;
		this.#setStatus("");
		await this.#chooseLayer(service.layerName);
	}

	#readRegistration() {
		if (!/^\s*\{/.test(this.#text)) return this.#setStatus(t("no-address"), "bad");
		this.onRegistration(this.#text, "user");
		this.#setStatus("");
	}

	async #chooseLayer(name: string) {
		const service = this.#service;
		const layer = service?.layers.find((candidate) => candidate.name === name);
		if (!service || !layer) return;
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		this.#layerName = name;
		this.#makeRegistration(service, layer);
		this.#setStatus(t("twin-search"));
		const twin = await findTwin(service, layer);
		if (serial !== this.#lastSerial) return;
		if (twin) this.#makeRegistration(service, layer, twin);
		this.#setStatus(twin ? t("twin-found", twin.layer.title, twin.url) : t("no-twin"));
	}

	/** @param twin without it, both languages have the same address */
	#makeRegistration({ kind, url }: ServiceAddress, layer: NamedLayer, twin?: Twin) {
		const nodeOf = (address: string, { name, title }: NamedLayer) => {
			const place = new URL(address);
			if (kind === "feature" && name !== "") place.pathname += `/${name}`;
			const layer = kind === "wms" ? name : undefined;
			return { service_url: place.href, layer, service_name: title || undefined };
		};
		const node = nodeOf(url, layer);
		const other = twin ? nodeOf(twin.url, twin.layer) : { ...node, service_name: undefined };
		const nodes = langOf(url) === "en" ? { en: node, fr: other } : { en: other, fr: node };
		const document = { version: "1.0.0", payload_type: kind, ...nodes };
		this.onRegistration(`${JSON.stringify(document, null, 2)}\n`, "service");
	}
}

const maxOffered = 500;

function layerOptions(layers: readonly ServiceLayer[]) {
	const options = layers.slice(0, maxOffered).map(({ name, title, bounds }) => {
		const text = title === "" || title === name ? name : `${title} (${name})`;
		return [name, bounds ? `${text} · ${boundsText(bounds)}` : text] as const;
	});
	return [["", t("choose-of", plural(layers.length, "layer-count"))] as const, ...options];
}

/** `49°N – 60°N, 139°W – 114°W` */
function boundsText([west, south, east, north]: Bounds): string {
	const place = (value: number, positive: string, negative: string) =>
		`${Math.abs(Math.round(value))}°${value < 0 ? negative : positive}`;
	const [left, right] = [west, east].map((value) => place(value, "E", t("west")));
	return `${place(south, "N", "S")} – ${place(north, "N", "S")}, ${left} – ${right}`;
}
