import { html } from "lit-html";
import ImageLayer from "ol/layer/Image.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import type { Content } from "../page/elements.ts";
import { t } from "../page/page.ts";
import { type PictureFacts, pictureRequest } from "../service/requests.ts";
import { projectionOf } from "./base-map.ts";
import type { Drawable } from "./drawable.ts";

export function pictureLayer(
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
export function legendPicture(pictures: ReturnType<typeof pictureLayer>, { entries }: Drawable): Content {
	const source = pictures.getSource();
	if (!(source instanceof ImageWMS)) return "";
	const address = source.getLegendUrl(undefined, { LAYER: entries[0], FORMAT: "image/png" }) ?? "";
	const show = ({ currentTarget }: Event) =>
		(currentTarget as Element).parentElement?.removeAttribute("hidden");
	return html`<div hidden><h3>${t("legend")}</h3>
		<img class="picture" alt=${t("legend")} referrerpolicy="no-referrer" src=${address} @load=${show}></div>`;
}
