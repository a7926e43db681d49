import { html, render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import ImageLayer from "ol/layer/Image.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import { layerExtent } from "../../registry/extents.ts";
import type { CauseCode } from "../data/health.ts";
import type { Content } from "../page/elements.ts";
import { plural, settings, t } from "../page/page.ts";
import { type PictureFacts, pictureRequest, pixelMetres } from "../service/requests.ts";
import { openBaseMap, projectionOf, registerProjections } from "./base-map.ts";
import { boxOf, type Drawable, drawnScale } from "./drawable.ts";
import { blockedReason, orFailure, ServiceFailed, slowFailure, timeoutMs } from "./service-request.ts";

const noTexts = { status: "", isBad: false, help: "" as Content, legend: "" as Content };

class LayerMap {
	readonly target: HTMLElement;
	readonly base: ReturnType<typeof openBaseMap>;
	#texts = noTexts;

	constructor(
		readonly place: HTMLElement,
		readonly drawable: Drawable,
		readonly signal: AbortSignal,
	) {
		this.#render({});
		this.target = place.querySelector(".map") as HTMLElement;
		this.base = openBaseMap(this.target, signal);
		this.#showWhole();
	}

	#render(changes: Partial<typeof noTexts>) {
		if (this.signal.aborted) return;
		this.#texts = { ...this.#texts, ...changes };
		const { status, isBad, help, legend } = this.#texts;
		const button = (sign: string, label: string, press: () => void) =>
			html`<button aria-label=${label} title=${label} @click=${press}>${sign}</button>`;
		const content = html`<div class="mapframe">
				<div class="map" tabindex="0" role="application" aria-label=${t("map-of", this.drawable.title)}></div>
				${settings.baseMapAttribution && html`<p class="attribution">${settings.baseMapAttribution}</p>`}
				<div class="zoom">
					${button("+", t("zoom-in"), () => this.base.zoom(1))}
					${button("−", t("zoom-out"), () => this.base.zoom(-1))}
					${button("⌂", t("whole-layer"), () => this.#showWhole())}
				</div>
			</div>
			<p class=${isBad ? "mapstatus bad" : "mapstatus"} role="status">${status}</p>
			<p class="maphelp" ?hidden=${help === ""}>${help}</p>
			<div class="legend">${legend}</div>`;
		render(keyed(this.drawable, content), this.place);
	}

	#showWhole() {
		this.base.show(this.drawable.extent ?? boxOf(layerExtent(null, settings.mapWkid)));
	}

	setLegend(legend: Content): void {
		this.#render({ legend });
	}

	setStatus(status: string, code: CauseCode | "" = "", help: Content = ""): void {
		const isBad = code !== "" && code !== "other-scales";
		const state = status === t("drawing") ? "loading" : "drawn";
		// `npx fragment-publisher prove` and tests wait for this state.
		Object.assign(this.target.dataset, { state: isBad ? "failed" : state, code, detail: "" });
		this.#render({ status, isBad, help });
	}

	fail({ message, detail, ...failure }: ServiceFailed, code: CauseCode = failure.code): void {
		this.setStatus(message, code);
		this.target.dataset.detail = String(detail);
	}
}

/** @param place in the page already @param signal closes the map */
export async function drawLayer(place: HTMLElement, drawable: Drawable, signal: AbortSignal): Promise<void> {
	const { kind, url } = drawable;
	const layerMap = new LayerMap(place, drawable, signal);
	if (kind === "none") return layerMap.setStatus(t("not-drawable"), "not-drawable");
	const blocked = blockedReason(url);
	if (blocked) return layerMap.setStatus(blocked.message, blocked.code);
	if (kind === "features") await drawFeatures(layerMap);
	else new PictureDrawing(layerMap).draw(settings.mapWkid, null);
}

class PictureDrawing {
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(readonly layerMap: LayerMap) {}

	/** @param facts most services draw without their capabilities */
	draw(wkid: number, facts: PictureFacts | null): void {
		const { layerMap } = this;
		const { drawable, base } = layerMap;
		const pictures = pictureLayer(drawable, wkid, facts, (address) => void this.#retry(address, facts));
		const source = pictures.getSource();
		source?.on("imageloadstart", () => {
			layerMap.setStatus(t("drawing"));
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => layerMap.fail(slowFailure(drawable.url)), timeoutMs);
		});
		source?.on("imageloadend", () => {
			clearTimeout(this.#timer);
			const notes = [t("drawn")];
			if (drawable.kind === "dynamic") notes.push(t("drawn-by-service"));
			if (wkid !== settings.mapWkid) notes.push(t("reprojected", String(settings.mapWkid)));
			layerMap.setStatus(notes.join(" "));
		});
		// Pictures in another reference replace those that failed.
		if (facts) base.map.getLayers().pop();
		base.map.addLayer(pictures);
		layerMap.setLegend(legendPicture(pictures, drawable));
	}

	/** Draws once more, by the service's capabilities. */
	async #retry(address: string, facts: PictureFacts | null) {
		const { layerMap } = this;
		clearTimeout(this.#timer);
		const { findPictureError, readPictures } = await import("./document.ts");
		const failure = await findPictureError(address);
		const pictures = facts === null ? await readPictures(layerMap.drawable, layerMap.signal) : null;
		if (layerMap.signal.aborted) return;
		if (!pictures) {
			const isReference = /\b[CS]RS\b|spatial reference|InvalidCRS|InvalidSRS/i.test(failure.message);
			return layerMap.fail(failure, isReference ? "reference" : failure.code);
		}
		const { mapWkid } = settings;
		if (pictures.wkid !== mapWkid) await registerProjections(mapWkid, pictures.wkid);
		this.draw(pictures.wkid, pictures.facts);
	}
}

function pictureLayer(
	{ kind, url, entries }: Drawable,
	wkid: number,
	facts: PictureFacts | null,
	failed: (address: string) => void,
) {
	const common = { projection: projectionOf(wkid), ratio: 1, hidpi: false };
	const shown = entries.length > 0 ? { LAYERS: `show:${entries.join(",")}` } : {};
	const options = { address: url, names: entries, reference: `EPSG:${wkid}` };
	const { address, parameters } = pictureRequest(facts, options);
	const source =
		kind === "wms"
			? new ImageWMS({ ...common, url: address, params: parameters })
			: new ImageArcGISRest({ ...common, url, params: shown });
	let lastAddress = "";
	source.setImageLoadFunction((image, requested) => {
		lastAddress = requested;
		(image.getImage() as HTMLImageElement).src = requested;
	});
	source.on("imageloaderror", () => failed(lastAddress));
	// Proofs hide it (extensions/prove).
	return new ImageLayer({ className: "drawnlayer", source });
}

/** Shown once it is loaded; empty if the service has none. */
function legendPicture(pictures: ReturnType<typeof pictureLayer>, { entries }: Drawable): Content {
	const source = pictures.getSource();
	if (!(source instanceof ImageWMS)) return "";
	const address = source.getLegendUrl(undefined, { LAYER: entries[0], FORMAT: "image/png" }) ?? "";
	const show = ({ currentTarget }: Event) =>
		(currentTarget as Element).parentElement?.removeAttribute("hidden");
	return html`<div hidden><h3>${t("legend")}</h3>
		<img class="picture" alt=${t("legend")} referrerpolicy="no-referrer" src=${address} @load=${show}></div>`;
}

async function drawFeatures(layerMap: LayerMap) {
	const { base, drawable, signal } = layerMap;
	const { url, symbology } = drawable;
	const { featureLayer, legendOf, readFeatures } = await import("./features.ts");
	const layer = featureLayer(drawable);
	let requested = "";
	let controller = new AbortController();
	const drawView = async () => {
		controller.abort();
		controller = new AbortController();
		const viewSignal = AbortSignal.any([signal, controller.signal]);
		const box = base.shown();
		requested = String(box);
		const resolution = base.view.getResolution() ?? 1;
		if (offerScale(layerMap, resolution)) return;
		layerMap.setStatus(t("drawing"));
		const answer = await orFailure(readFeatures(url, box, resolution, viewSignal)).catch((error) => {
			if (!viewSignal.aborted) throw error;
		});
		if (viewSignal.aborted || !answer) return;
		if (answer instanceof ServiceFailed) return layerMap.fail(answer);
		const { features, hasMore } = answer;
		layer.getSource()?.clear(true);
		layer.getSource()?.addFeatures(features);
		const count = features.length;
		if (count === 0) return layerMap.setStatus(t("nothing-in-view"));
		layerMap.setStatus(hasMore ? t("some-features-drawn", count) : plural(count, "features-drawn"));
	};
	base.map.addLayer(layer);
	if (symbology) layerMap.setLegend(legendOf(symbology));
	// The map may stop moving before the code for features is loaded, or after its view was requested.
	base.map.on("moveend", () => {
		if (String(base.shown()) !== requested) void drawView();
	});
	await drawView();
}

/** @returns false if the layer is drawn at this scale */
function offerScale(layerMap: LayerMap, resolution: number): boolean {
	const scale = drawnScale(layerMap.drawable, resolution / pixelMetres);
	if (scale === resolution / pixelMetres) return false;
	const zoom = () => {
		layerMap.base.view.setResolution(scale * pixelMetres);
		layerMap.target.focus();
	};
	const button = html`<button class="small" @click=${zoom}>${t("zoom-to-drawn")}</button>`;
	layerMap.setStatus(t("other-scales"), "other-scales", button);
	return true;
}
