import { fill, h } from "../page/dom.ts";
import type { Page } from "../page/page.ts";
import { type Failure, failureText, obstacle, patienceMs, ServiceFailed, whyNoPicture } from "./ask.ts";
import { type BaseMap, canadaBox, opacitySlider, openBaseMap, zoomButtons } from "./base.ts";
import type { Box, Drawable } from "./drawable.ts";
import type { Features } from "./features.ts";
import { featureInfo, serviceInfo } from "./info.ts";
import { openPictures, type Pictures } from "./pictures.ts";

/** Pixels of a metre on a screen, as scale denominators count them (OGC: 0.28 mm a pixel). */
const pixelMetres = 0.000_28;

/** A map of one layer, with what is said of it, its legend's address, and what is asked by a click. */
export class LayerMap {
	readonly #page: Page;
	readonly #drawable: Drawable;
	readonly #target: HTMLElement;
	readonly #status = h("p", { class: "mapstatus", role: "status" });
	/** What can be done where the layer is not drawn. */
	readonly #help = h("p", { class: "maphelp", hidden: true });
	readonly #info = h("div", { class: "info" });
	readonly #legend = h("div", { class: "legend" });
	readonly #base: BaseMap;
	#pictures: Pictures | null = null;
	#features: Features | null = null;
	#under: AbortController | null = null;
	#opacity = 1;
	#timer: ReturnType<typeof setTimeout> | undefined;

	private constructor(page: Page, place: HTMLElement, drawable: Drawable) {
		const { texts } = page;
		this.#page = page;
		this.#drawable = drawable;
		const label = texts.mapLabel(drawable.title);
		this.#target = h("div", { class: "map", tabindex: "0", role: "application", "aria-label": label });
		const frame = h("div", { class: "mapframe" }, this.#target);
		const opacity = opacitySlider(texts, (value) => this.#setOpacity(value));
		fill(place, frame, opacity, this.#status, this.#help, this.#info, this.#legend);
		this.#base = openBaseMap(this.#target, page);
		frame.append(zoomButtons(this.#base, texts, () => this.#home()));
		this.#home();
	}

	/** Opens a map in a place of the page, and draws at once. */
	static async open(page: Page, place: HTMLElement, drawable: Drawable): Promise<LayerMap> {
		const map = new LayerMap(page, place, drawable);
		await map.#draw();
		return map;
	}

	close(): void {
		clearTimeout(this.#timer);
		this.#under?.abort();
		this.#base.close();
	}

	#home(): void {
		this.#base.show(this.#drawable.extent ?? canadaBox(this.#page.settings.mapWkid));
	}

	#say(text: string, isBad = false): void {
		// What people look for in a picture of the page, and what tests wait for.
		this.#target.dataset.state = isBad
			? "failed"
			: text === this.#page.texts.mapLoading
				? "loading"
				: "drawn";
		fill(this.#status, text);
		this.#help.hidden = true;
		this.#status.classList.toggle("bad", isBad);
	}

	#fail(failure: Failure): void {
		const { texts } = this.#page;
		this.#say(failureText(texts, failure), true);
		if (failure.kind !== "address" && failure.kind !== "mixed")
			this.#offer(texts.drawAgain, () => this.#again());
	}

	/** Offers what can be done about what was said. */
	#offer(label: string, act: () => void): void {
		fill(this.#help, h("button", { class: "small", onclick: act }, label));
		this.#help.hidden = false;
	}

	/** Asks the service again. */
	#again(): void {
		this.#target.focus();
		this.#say(this.#page.texts.mapLoading);
		if (this.#pictures) this.#pictures.layer.getSource()?.refresh();
		else if (this.#features) void this.#drawView(this.#features);
	}

	#setOpacity(opacity: number): void {
		this.#opacity = opacity;
		(this.#pictures?.layer ?? this.#features?.layer)?.setOpacity(opacity);
	}

	/** Goes to a scale at which viewers draw the layer, around the same place. */
	#toDrawnScale(): void {
		const { minScale, maxScale } = this.#drawable;
		const scale = (this.#base.view.getResolution() ?? 1) / pixelMetres;
		const wanted = minScale !== 0 && scale > minScale ? minScale * 0.99 : maxScale * 1.01;
		this.#base.view.setResolution(wanted * pixelMetres);
		this.#target.focus();
	}

	async #draw(): Promise<void> {
		const { kind, url } = this.#drawable;
		if (kind === "none" || kind === "tiles") return this.#say(this.#page.texts.mapCannot, true);
		const blocked = obstacle(url, location.protocol);
		if (blocked) return this.#fail(blocked);
		if (kind === "features") await this.#drawFeatures();
		else this.#drawPictures(this.#page.settings.mapWkid, "");
		const { map } = this.#base;
		map.on("click", ({ coordinate, pixel }) => void this.#ask(coordinate, pixel));
		this.#target.addEventListener("keydown", (event) => {
			const size = map.getSize();
			const centre = this.#base.view.getCenter();
			if (event.key === "Escape") fill(this.#info);
			if (event.key === "Enter" && size && centre)
				void this.#ask(
					centre,
					size.map((side) => side / 2),
				);
		});
	}

	/** @param note what is said beside that it is drawn */
	#drawPictures(wkid: number, note: string): void {
		const { texts } = this.#page;
		const pictures = openPictures(this.#base, this.#drawable, wkid, {
			start: () => {
				this.#say(texts.mapLoading);
				clearTimeout(this.#timer);
				const { host } = new URL(this.#drawable.url);
				this.#timer = setTimeout(() => this.#fail({ kind: "timeout", host }), patienceMs);
			},
			end: () => {
				clearTimeout(this.#timer);
				const byService = this.#drawable.kind === "dynamic" ? texts.mapByService : "";
				this.#say([texts.mapDrawn, byService, note].filter(Boolean).join(" "));
			},
			fail: (address) => void this.#pictureFailed(address, wkid),
		});
		this.#pictures = pictures;
		this.#setOpacity(this.#opacity);
		this.#showLegendPicture(pictures.legendAddress());
	}

	async #pictureFailed(address: string, wkid: number): Promise<void> {
		clearTimeout(this.#timer);
		const failure = await whyNoPicture(address);
		const isReference =
			failure.kind === "said" && /\b[CS]RS\b|spatial reference|InvalidCRS|InvalidSRS/i.test(failure.text);
		const { mapWkid } = this.#page.settings;
		if (!isReference || wkid !== mapWkid) return this.#fail(failure);
		const { commonWkid, learnProjections } = await import("./reproject.ts");
		if (mapWkid === commonWkid) return this.#fail(failure);
		learnProjections(mapWkid);
		if (this.#pictures) this.#base.map.removeLayer(this.#pictures.layer);
		this.#drawPictures(commonWkid, this.#page.texts.mapReprojected(mapWkid));
	}

	#showLegendPicture(address: string | null): void {
		const { texts } = this.#page;
		fill(this.#legend);
		if (address === null) return;
		const image = h("img", {
			class: "picture",
			src: address,
			alt: texts.legend,
			referrerpolicy: "no-referrer",
		});
		// No heading without a legend below it.
		image.addEventListener("load", () => fill(this.#legend, h("h3", {}, texts.legend), image));
	}

	async #drawFeatures(): Promise<void> {
		const { legendOf, openFeatures } = await import("./features.ts");
		const features = openFeatures(this.#base, this.#drawable, this.#page.settings.mapWkid);
		this.#features = features;
		this.#setOpacity(this.#opacity);
		if (this.#drawable.symbology) fill(this.#legend, legendOf(this.#page.texts, this.#drawable.symbology));
		this.#base.map.on("moveend", () => void this.#drawView(features));
		// The map may have come to rest before its features' code was there.
		await this.#drawView(features);
	}

	async #drawView(features: Features): Promise<void> {
		const { texts } = this.#page;
		this.#under?.abort();
		const under = new AbortController();
		this.#under = under;
		if (!this.#isAtScale()) {
			this.#say(texts.mapScale);
			return this.#offer(texts.zoomDrawn, () => this.#toDrawnScale());
		}
		this.#say(texts.mapLoading);
		try {
			const drawn = await features.draw(this.#base.shown() as Box, under.signal);
			this.#target.dataset.features = String(drawn.features);
			if (drawn.features === 0) return this.#say(texts.mapNone);
			this.#say(drawn.hasMore ? texts.mapTooMany(drawn.features) : texts.mapFeatures(drawn.features));
		} catch (error) {
			if (under.signal.aborted) return;
			if (!(error instanceof ServiceFailed)) throw error;
			this.#fail(error.failure);
		}
	}

	/** Whether viewers draw the layer at the map's scale: the lower bound of scale is the larger number. */
	#isAtScale(): boolean {
		const { minScale, maxScale } = this.#drawable;
		const scale = (this.#base.view.getResolution() ?? 1) / pixelMetres;
		return (minScale === 0 || scale <= minScale) && (maxScale === 0 || scale >= maxScale);
	}

	async #ask(coordinate: number[], pixel: number[]): Promise<void> {
		const { texts } = this.#page;
		const close = () => {
			fill(this.#info);
			this.#target.focus();
		};
		const show = (...children: (Node | string)[]) => {
			fill(
				this.#info,
				h(
					"section",
					{
						class: "infobox",
						"aria-label": texts.info,
						onkeydown: (event) => (event as KeyboardEvent).key === "Escape" && close(),
					},
					h(
						"div",
						{ class: "infohead" },
						h("h3", {}, texts.info),
						h("button", { class: "small", onclick: close }, texts.close),
					),
					h("div", { role: "status" }, ...children),
				),
			);
		};
		if (this.#features) return show(featureInfo(texts, this.#drawable, this.#features.at(pixel)));
		if (this.#drawable.kind !== "wms") return;
		const address = this.#pictures?.infoAddress(coordinate) ?? null;
		if (address === null) return show(texts.infoCannot);
		show(texts.infoAsking);
		show(await serviceInfo(texts, address, this.#drawable.infoType));
	}
}
