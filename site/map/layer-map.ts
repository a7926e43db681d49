import { html, render } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { layerExtent } from "../../registry/generic.ts";
import type { CauseCode } from "../../registry/health.ts";
import type { Content } from "../page/elements.ts";
import { plural, settings, t } from "../page/page.ts";
import { type PictureFacts, pixelMetres } from "../service/requests.ts";
import { boxOf, type Drawable, drawnScale } from "./drawable.ts";
import { legendPicture, openBaseMap, pictureLayer, registerProjections } from "./pictures.ts";
import { blockedReason, orFailure, ServiceFailed, timeoutMs } from "./service-request.ts";

const nothingYet = { status: "", isBad: false, help: "" as Content, legend: "" as Content };

function openMap(place: HTMLElement, drawable: Drawable, signal: AbortSignal) {
	let texts = nothingYet;

	show({});
	const target = place.querySelector(".map") as HTMLElement;
	const base = openBaseMap(target, signal);
	showWhole();

	function show(changes: Partial<typeof nothingYet>): void {
		if (signal.aborted) return;
		texts = { ...texts, ...changes };
		const { status, isBad, help, legend } = texts;
		const button = (sign: string, label: string, press: () => void) =>
			html`<button aria-label=${label} title=${label} @click=${press}>${sign}</button>`;
		const content = html`<div class="mapframe">
				<div class="map" tabindex="0" role="application" aria-label=${t("map-of", drawable.title)}></div>
				${settings.baseMapAttribution && html`<p class="attribution">${settings.baseMapAttribution}</p>`}
				<div class="zoom">
					${button("+", t("zoom-in"), () => base.zoom(1))}${button("−", t("zoom-out"), () => base.zoom(-1))}
					${button("⌂", t("whole-layer"), showWhole)}
				</div>
			</div>
			<p class=${isBad ? "mapstatus bad" : "mapstatus"} role="status">${status}</p>
			<p class="maphelp" ?hidden=${help === ""}>${help}</p>
			<div class="legend">${legend}</div>`;
		render(keyed(drawable, content), place);
	}

	function showWhole(): void {
		base.show(drawable.extent ?? boxOf(layerExtent(null, settings.mapWkid)));
	}

	function setStatus(status: string, code: CauseCode | "" = "", help: Content = ""): void {
		const isBad = code !== "" && code !== "other-scales";
		const state = isBad ? "failed" : status === t("drawing") ? "loading" : "drawn";
		// `npx fragment-publisher prove` and tests wait for this state.
		Object.assign(target.dataset, { state, code, detail: "" });
		show({ status, isBad, help });
	}

	function fail({ message, detail, ...failure }: ServiceFailed, code: CauseCode = failure.code): void {
		setStatus(message, code);
		target.dataset.detail = String(detail);
	}

	return {
		...base,
		drawable,
		signal,
		target,
		setLegend: (legend: Content) => show({ legend }),
		setStatus,
		fail,
	};
}

type LayerMap = ReturnType<typeof openMap>;

/**
 * @param place must be in the page already
 * @param signal closes the map
 */
export async function drawLayer(place: HTMLElement, drawable: Drawable, signal: AbortSignal): Promise<void> {
	const { kind, url } = drawable;
	const layerMap = openMap(place, drawable, signal);
	if (kind === "none" || kind === "tiles") return layerMap.setStatus(t("not-drawable"), "not-drawable");
	const blocked = blockedReason(url);
	if (blocked) return layerMap.setStatus(blocked.message, blocked.code);
	if (kind === "features") await drawFeatures(layerMap);
	else drawPictures(layerMap);
}

function drawPictures({ map, drawable, signal, setLegend, setStatus, fail }: LayerMap): void {
	const { kind, url } = drawable;
	const { mapWkid } = settings;
	let timer: ReturnType<typeof setTimeout> | undefined;

	function draw(wkid: number, facts: PictureFacts | null): void {
		const drawn = [
			t("drawn"),
			kind === "dynamic" && t("drawn-by-service"),
			wkid !== mapWkid && t("reprojected", String(mapWkid)),
		];
		const pictures = pictureLayer(drawable, wkid, facts, (address) => void failed(address, facts));
		const source = pictures.getSource();
		source?.on("imageloadstart", () => {
			setStatus(t("drawing"));
			clearTimeout(timer);
			timer = setTimeout(() => fail(new ServiceFailed(url, "slow")), timeoutMs);
		});
		source?.on("imageloadend", () => {
			clearTimeout(timer);
			setStatus(drawn.filter(Boolean).join(" "));
		});
		// Pictures in another reference replace those that failed.
		if (facts) map.getLayers().pop();
		map.addLayer(pictures);
		setLegend(legendPicture(pictures, drawable));
	}

	async function failed(address: string, facts: PictureFacts | null): Promise<void> {
		clearTimeout(timer);
		const { findPictureError, readPictures } = await import("./document.ts");
		const failure = await findPictureError(address);
		// Most services draw without their capabilities, which are not read for nothing.
		const pictures = facts === null ? await readPictures(drawable, signal) : null;
		if (signal.aborted) return;
		if (!pictures) {
			const isReference = /\b[CS]RS\b|spatial reference|InvalidCRS|InvalidSRS/i.test(failure.message);
			return fail(failure, isReference ? "reference" : failure.code);
		}
		if (pictures.wkid !== mapWkid) await registerProjections(mapWkid, pictures.wkid);
		draw(pictures.wkid, pictures.facts);
	}

	draw(mapWkid, null);
}

async function drawFeatures(layerMap: LayerMap): Promise<void> {
	const { map, view, shown, drawable, signal, target, setLegend, setStatus, fail } = layerMap;
	const { url, symbology } = drawable;
	const { featureLayer, legendOf, readFeatures } = await import("./features.ts");
	const layer = featureLayer(drawable);
	let requested = "";
	let controller = new AbortController();
	const drawView = async () => {
		controller.abort();
		controller = new AbortController();
		const viewSignal = AbortSignal.any([signal, controller.signal]);
		const box = shown();
		requested = String(box);
		const resolution = view.getResolution() ?? 1;
		const scale = drawnScale(drawable, resolution / pixelMetres);
		if (scale !== resolution / pixelMetres) {
			const zoom = () => {
				view.setResolution(scale * pixelMetres);
				target.focus();
			};
			const button = html`<button class="small" @click=${zoom}>${t("zoom-to-drawn")}</button>`;
			return setStatus(t("other-scales"), "other-scales", button);
		}
		setStatus(t("drawing"));
		const answer = await orFailure(readFeatures(url, box, resolution, viewSignal)).catch((error) => {
			if (!viewSignal.aborted) throw error;
		});
		if (viewSignal.aborted || !answer) return;
		if (answer instanceof ServiceFailed) return fail(answer);
		const { features, hasMore } = answer;
		const { length } = features;
		layer.getSource()?.clear(true);
		layer.getSource()?.addFeatures(features);
		if (length === 0) return setStatus(t("nothing-in-view"));
		setStatus(hasMore ? t("some-features-drawn", length) : plural(length, "features-drawn"));
	};
	map.addLayer(layer);
	if (symbology) setLegend(legendOf(symbology));
	// The map may have stopped moving before the code for features was loaded, or may stop after its view
	// was requested.
	map.on("moveend", () => {
		if (String(shown()) !== requested) void drawView();
	});
	await drawView();
}
