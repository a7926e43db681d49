import { html, render } from "lit-html";
import { type Lang, otherLang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { fragmentPath } from "../static/addresses.ts";
import { lang, part, readFile, settings, t, warning } from "./page.ts";

export type Drawables = Readonly<Record<Lang, Drawable | null>>;

export async function readDrawables(
	smallkey: string,
	signal: AbortSignal,
	failed: (error: unknown) => null,
): Promise<Drawables> {
	const readIn = async (lang: Lang) => {
		const read = async (target: TargetName) => {
			const text = readFile(fragmentPath(target, lang, smallkey), "no-cache", signal);
			return { target, text: await text.catch(failed) };
		};
		return drawableOf(await Promise.all(drawnTargets(settings.targets).map(read)));
	};
	const [en, fr] = await Promise.all([readIn("en"), readIn("fr")]);
	return { en, fr };
}

export type MapPanel = ReturnType<typeof mapPanel>;

/** Of the service in the page's language, or else in the other. Call `open` once the element is in the page. */
export function mapPanel(drawables: Drawables) {
	const drawable = drawables[lang] ?? drawables[otherLang[lang]];
	const place = part("mapplace");
	const closing = new AbortController();
	const { signal } = closing;
	const open = async () => {
		if (!drawable) return render(html`<p class="warning">${t("fragments-unread")}</p>`, place);
		try {
			const { drawLayer } = await import("../map/layer-map.ts");
			if (!signal.aborted) await drawLayer(place, drawable, signal);
		} catch (error) {
			console.error(error);
			if (signal.aborted) return;
			closing.abort();
			render(warning(t("map-failed")), place);
		}
	};
	const element = part("mappanel", [html`<h2>${t("map")}</h2>`, place]);
	return { element, open: () => void open(), close: () => closing.abort() };
}
