import { html, render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import Collection from "ol/Collection.js";
import LayerGroup from "ol/layer/Group.js";
import type { CauseCode } from "../../registry/health.ts";
import type { Content } from "../page/dom.ts";
import { plural, settings, t } from "../page/page.ts";
import { type PictureFacts, pixelMetres } from "../service/picture.ts";
import {
	type BaseMap,
	canadaBox,
	mapFrame,
	opacitySlider,
	openBaseMap,
	registerProjections,
} from "./base.ts";
import { type Drawable, drawnScale } from "./drawable.ts";
import type { Features } from "./features.ts";
import { featureInfo, legendPicture, type Pictures, pictureInfo, pictureLayer } from "./pictures.ts";
import { blockedReason, ServiceFailed, timeoutMs } from "./service-request.ts";

const nothingYet = { status: "", isBad: false, help: "" as Content, legend: "" as Content };

export class LayerMap {
	readonly #target: HTMLElement;
	readonly #base: BaseMap;
	#texts = nothingYet;
	#pictures: Pictures | null = null;
	#features: Features | null = null;
	#requested = "";
	#controller: AbortController | null = null;
	readonly #group = new LayerGroup();
	#timer: ReturnType<typeof setTimeout> | undefined;

	/**
	 * @param place must be in the page already
	 * @param answer element for the answer to a click
	 * @param signal closes the map
	 */
	constructor(
		readonly place: HTMLElement,
		readonly answer: HTMLElement,
		readonly drawable: Drawable,
		readonly signal: AbortSignal,
	) {
		this.#show({});
		this.#target = place.querySelector(".map") as HTMLElement;
		this.#base = openBaseMap(this.#target, signal);
		this.#base.map.addLayer(this.#group);
		this.#showWhole();
	}

	#show(changes: Partial<typeof nothingYet>): void {
		if (this.signal.aborted) return;
		this.#texts = { ...this.#texts, ...changes };
		const { status, isBad, help, legend } = this.#texts;
		const zoom = (steps: number) => this.#base.zoom(steps);
		const content = html`${mapFrame("map", t("map-of", this.drawable.title), zoom, () => this.#showWhole())}
			${opacitySlider((value) => this.#group.setOpacity(value))}
			<p class=${isBad ? "mapstatus bad" : "mapstatus"} role="status">${status}</p>
			<p class="maphelp" ?hidden=${help === ""}>${help}</p>
			<div class="legend">${legend}</div>`;
		render(keyed(this, content), this.place);
	}

	#showWhole(): void {
		this.#base.show(this.drawable.extent ?? canadaBox());
	}

	#setStatus(
		text: string,
		code: CauseCode | "" = "",
		help: Content = "",
		detail: string | number = "",
	): void {
		const isBad = code !== "" && code !== "other-scales";
		const state = isBad ? "failed" : text === t("drawing") ? "loading" : "drawn";
		// `npx fragment-publisher prove` and tests wait for this state.
		Object.assign(this.#target.dataset, { state, code, detail });
		this.#show({ status: text, isBad, help });
	}

	#fail({ message, detail, ...failure }: ServiceFailed, code: CauseCode = failure.code): void {
		this.#setStatus(
			message,
			code,
			helpButton(t("draw-again"), () => this.#retry()),
			detail,
		);
	}

	#retry(): void {
		this.#target.focus();
		this.#setStatus(t("drawing"));
		if (this.#pictures) this.#pictures.getSource()?.refresh();
		else if (this.#features) void this.#drawView(this.#features);
	}

	async draw(): Promise<void> {
		const { kind, url } = this.drawable;
		if (kind === "none" || kind === "tiles") return this.#setStatus(t("not-drawable"), "not-drawable");
		const blocked = blockedReason(url);
		if (blocked) return this.#setStatus(blocked.message, blocked.code);
		if (kind === "features") await this.#drawFeatures();
		else this.#drawPictures(settings.mapWkid);
		const { map } = this.#base;
		map.on("click", ({ coordinate, pixel }) => void this.#ask(coordinate, pixel));
		this.#target.addEventListener("keydown", (event) => {
			const middle = map.getSize()?.map((side) => side / 2);
			const centre = this.#base.view.getCenter();
			if (event.key === "Escape") render("", this.answer);
			if (event.key === "Enter" && centre && middle) void this.#ask(centre, middle);
		});
	}

	#drawPictures(wkid: number, facts: PictureFacts | null = null): void {
		const { kind, url } = this.drawable;
		const { mapWkid } = settings;
		const drawn = [
			t("drawn"),
			kind === "dynamic" && t("drawn-by-service"),
			wkid !== mapWkid && t("reprojected", String(mapWkid)),
		];
		const failed = (address: string) => void this.#pictureFailed(address, facts);
		const pictures = pictureLayer(this.drawable, wkid, facts, failed);
		pictures.getSource()?.on("imageloadstart", () => {
			this.#setStatus(t("drawing"));
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => this.#fail(new ServiceFailed(url, "slow")), timeoutMs);
		});
		pictures.getSource()?.on("imageloadend", () => {
			clearTimeout(this.#timer);
			this.#setStatus(drawn.filter(Boolean).join(" "));
		});
		this.#pictures = pictures;
		this.#group.setLayers(new Collection([pictures]));
		this.#show({ legend: legendPicture(pictures, this.drawable) });
	}

	async #pictureFailed(address: string, facts: PictureFacts | null): Promise<void> {
		clearTimeout(this.#timer);
		const { findPictureError, readPictures } = await import("./document.ts");
		const failure = await findPictureError(address);
		// Most services draw without their capabilities, which are not read for nothing.
		const pictures = facts === null ? await readPictures(this.drawable, this.signal) : null;
		if (this.signal.aborted) return;
		if (!pictures) {
			const isReference = /\b[CS]RS\b|spatial reference|InvalidCRS|InvalidSRS/i.test(failure.message);
			return this.#fail(failure, isReference ? "reference" : failure.code);
		}
		if (pictures.wkid !== settings.mapWkid) await registerProjections(settings.mapWkid, pictures.wkid);
		this.#drawPictures(pictures.wkid, pictures.facts);
	}

	async #drawFeatures(): Promise<void> {
		const { featureLayer, legendOf } = await import("./features.ts");
		const features = featureLayer(this.drawable);
		this.#features = features;
		this.#group.setLayers(new Collection([features]));
		const { symbology } = this.drawable;
		if (symbology) this.#show({ legend: legendOf(symbology) });
		// The map may have stopped moving before the code for features was loaded, or may stop after its view
		// was requested.
		this.#base.map.on("moveend", () => {
			if (String(this.#base.shown()) !== this.#requested) void this.#drawView(features);
		});
		await this.#drawView(features);
	}

	async #drawView(layer: Features): Promise<void> {
		this.#controller?.abort();
		this.#controller = new AbortController();
		const signal = AbortSignal.any([this.signal, this.#controller.signal]);
		const box = this.#base.shown();
		this.#requested = String(box);
		const resolution = this.#base.view.getResolution() ?? 1;
		const scale = drawnScale(this.drawable, resolution / pixelMetres);
		const zoom = () => {
			this.#base.view.setResolution(scale * pixelMetres);
			this.#target.focus();
		};
		if (scale !== resolution / pixelMetres)
			return this.#setStatus(t("other-scales"), "other-scales", helpButton(t("zoom-to-drawn"), zoom));
		this.#setStatus(t("drawing"));
		try {
			const { readFeatures } = await import("./features.ts");
			const { features, hasMore } = await readFeatures(this.drawable.url, box, resolution, signal);
			const { length } = features;
			layer.getSource()?.clear(true);
			layer.getSource()?.addFeatures(features);
			this.#target.dataset.features = String(length);
			if (length === 0) return this.#setStatus(t("nothing-in-view"));
			this.#setStatus(hasMore ? t("some-features-drawn", length) : plural(length, "features-drawn"));
		} catch (error) {
			if (signal.aborted) return;
			if (!(error instanceof ServiceFailed)) throw error;
			this.#fail(error);
		}
	}

	async #ask(coordinate: number[], pixel: number[]): Promise<void> {
		const close = () => {
			render("", this.answer);
			this.#target.focus();
		};
		const onKey = ({ key }: KeyboardEvent) => key === "Escape" && close();
		const show = (content: Content) => {
			if (this.signal.aborted) return;
			const box = html`<section class="infobox" aria-label=${t("what-is-here")} @keydown=${onKey}>
				<div class="infohead"><h3>${t("what-is-here")}</h3><button class="small" @click=${close}>${t("close")}</button></div>
				<div role="status">${content}</div>
			</section>`;
			render(box, this.answer);
		};
		const layer = this.#features;
		if (layer) {
			const options = { hitTolerance: 5, layerFilter: (candidate: object) => candidate === layer };
			const features = this.#base.map.getFeaturesAtPixel(pixel, options);
			const attributes = features.map((feature) => feature.get("attributes"));
			return show(featureInfo(this.drawable, attributes));
		}
		if (this.drawable.kind !== "wms") return;
		show(t("asking-service"));
		show(await pictureInfo(this.#pictures, this.drawable, coordinate, this.#base.view));
	}
}

function helpButton(label: string, act: () => void): Content {
	return html`<button class="small" @click=${act}>${label}</button>`;
}
