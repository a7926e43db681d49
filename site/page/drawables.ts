import { html, render, type TemplateResult } from "lit-html";
import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import { capabilitiesAddress } from "../service/address.ts";
import { breakable, type Content, outside, part, warning, webAddress } from "./dom.ts";
import { lang, readFile, settings, t } from "./page.ts";

export type Drawables = Readonly<Record<Lang, Drawable | null>>;

/** The table of targets would add all renderers to the first load. */
export function docPath(target: TargetName, lang: Lang, smallkey: string): string {
	const folder = target === "ramp4" ? target : `${target}/doc`;
	return `${folder}/${lang}/${encodeURIComponent(smallkey)}`;
}

export async function readDrawables(
	smallkey: string,
	signal: AbortSignal,
	failed: (error: unknown) => null,
): Promise<Drawables> {
	const readIn = async (lang: Lang) => {
		const read = async (target: TargetName) => {
			const text = readFile(docPath(target, lang, smallkey), "no-cache", signal);
			return { target, text: await text.catch(failed) };
		};
		return drawableOf(await Promise.all(drawnTargets(settings.targets).map(read)));
	};
	const [en, fr] = await Promise.all([readIn("en"), readIn("fr")]);
	return { en, fr };
}

export type MapPanel = ReturnType<typeof mapPanel>;

/** Call `open` once the element is in the page. @param answer element for the answers to clicks; below the map without one */
export function mapPanel(drawables: Drawables, answer?: HTMLElement) {
	const { en, fr } = drawables;
	const first = drawables[lang] ? lang : otherLang[lang];
	const place = part("mapplace");
	const answerPlace = answer ?? part("info");
	let closing = new AbortController();
	const close = () => closing.abort();
	const show = async (mapLang: Lang) => {
		close();
		closing = new AbortController();
		const { signal } = closing;
		const drawable = drawables[mapLang];
		if (!drawable) return render(html`<p class="warning">${t("fragments-unread")}</p>`, place);
		try {
			const { drawLayer } = await import("../map/layer-map.ts");
			if (!signal.aborted) await drawLayer(place, answerPlace, drawable, signal);
		} catch (error) {
			console.error(error);
			if (signal.aborted) return;
			close();
			render(warning(t("map-failed")), place);
		}
	};
	const choices = langs.map((mapLang) => {
		return html`<label><input type="radio" name="maplang" ?checked=${mapLang === first}
			@change=${() => show(mapLang)}><span>${t(`lang-${mapLang}`)}</span></label>`;
	});
	const hasTwo = en && fr && (en.url !== fr.url || entriesOf(en) !== entriesOf(fr));
	const choice = html`<fieldset class="choice"><legend>${t("service-of")}</legend>${choices}</fieldset>`;
	const head = html`<div class="maphead"><h2>${t("map")}</h2>${hasTwo ? choice : ""}</div>`;
	return {
		element: part("mappanel", [head, place, ...(answer ? [] : [answerPlace])]),
		open: () => void show(first),
		close,
	};
}

export function bothLanguages(drawables: Drawables): TemplateResult {
	const { en, fr } = drawables;
	const names = { en: t("lang-en"), fr: t("lang-fr") };
	const row = (name: string, get: (drawable: Drawable) => Content, note = "") => {
		const values = langs.map((lang) => [lang, (drawables[lang] && get(drawables[lang])) || ""] as const);
		if (values.every(([, value]) => value === "")) return "";
		const cell = ([lang, value]: readonly [Lang, Content]) =>
			html`<td lang=${lang} data-label=${names[lang] + t("colon")}>${value || "–"}</td>`;
		return html`<tr><th scope="row">${name}${note && html`<span class="note">${note}</span>`}</th>
			${values.map(cell)}</tr>`;
	};
	const link = (address: string) => address && outside(address, address);
	const sameTitle = en && en.title === fr?.title ? t("same-in-both") : "";
	const sameAddress = en && en.url === fr?.url ? t("same-address") : "";
	const otherName = en && fr && entriesOf(en) === entriesOf(fr) ? "" : t("other-name");
	return html`<table class="both">
		<thead><tr><td></td><th scope="col">${names.en}</th><th scope="col">${names.fr}</th></tr></thead>
		<tbody>
			${row(t("title"), ({ title }) => breakable(title), sameTitle)}
			${row(t("service-address"), ({ url }) => link(url), sameAddress)}
			${row(t("service-page"), ownPage)}
			${row(t("layer-in-service"), (drawable) => entriesOf(drawable) && breakable(entriesOf(drawable)), otherName)}
			${row(t("name-field"), ({ nameField }) => nameField)}
			${row(t("metadata"), ({ metadataUrl }) => link(metadataUrl))}
			${row(t("catalogue-page"), ({ catalogueUrl }) => link(catalogueUrl))}
		</tbody>
	</table>`;
}

function entriesOf({ entries }: Drawable): string {
	return entries.join(", ");
}

function ownPage({ kind, url }: Drawable): Content {
	const address = webAddress(url);
	if (!address) return "";
	return kind === "wms"
		? outside(capabilitiesAddress("WMS", url, { hasVersion: false }), "GetCapabilities")
		: outside(url, address.host);
}
