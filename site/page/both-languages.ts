import { html, type TemplateResult } from "lit-html";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { capabilitiesOf, type Drawable } from "../map/drawable.ts";
import { breakable, type Content, outside, webAddress } from "./dom.ts";
import { t } from "./texts.ts";

/** A table of a layer in both languages, with notes on what is the same or differs. */
export function bothLanguages(drawables: Record<Lang, Drawable | null>): TemplateResult {
	const { en, fr } = drawables;
	const names = { en: t("English"), fr: t("French") };
	const cell = (lang: Lang, get: (drawable: Drawable) => Content) => {
		const drawable = drawables[lang];
		return html`<td lang=${lang} data-label=${names[lang] + t(":")}>${drawable ? get(drawable) : "–"}</td>`;
	};
	const row = (name: string, get: (drawable: Drawable) => Content, note = "") => {
		const noted = note && html`<span class="note">${note}</span>`;
		return html`<tr><th scope="row">${name}${noted}</th>${langs.map((lang) => cell(lang, get))}</tr>`;
	};
	/** A row that is left out if neither language has a value. */
	const more = (name: string, get: (drawable: Drawable) => string, show = orDash, note = "") =>
		[en, fr].some((one) => one && get(one) !== "") ? row(name, (one) => show(get(one)), note) : "";
	const same = (get: (drawable: Drawable) => string, text: string, otherwise = "") =>
		en && fr && get(en) === get(fr) ? text : otherwise;
	const titleIn = ({ title }: Drawable) => title;
	const urlIn = ({ url }: Drawable) => url;
	return html`<table class="both">
		<thead><tr><td></td><th scope="col">${t("English")}</th><th scope="col">${t("French")}</th></tr></thead>
		<tbody>
			${row(t("Title"), (one) => breakable(one.title), same(titleIn, t("the same in both languages")))}
			${row(t("Address of the service"), ({ url }) => outside(url, url), same(urlIn, t("the French address is the English one")))}
			${row(t("The service’s own page"), ownPage)}
			${more(t("Layer in the service"), entriesOf, breakable, same(entriesOf, "", t("the layer is named differently")))}
			${more(t("Field that names a feature"), ({ nameField }) => nameField)}
			${more(t("Metadata"), ({ metadataUrl }) => metadataUrl, linkOrDash)}
			${more(t("Catalogue page"), ({ catalogueUrl }) => catalogueUrl, linkOrDash)}
		</tbody>
	</table>`;
}

function entriesOf({ entries }: Drawable): string {
	return entries.join(", ");
}

/** A link to a service's own description: the page of an ArcGIS service, or the capabilities of a Web Map Service. */
function ownPage({ kind, url }: Drawable): Content {
	const address = webAddress(url);
	if (!address) return "–";
	return kind === "wms" ? outside(capabilitiesOf(address), "GetCapabilities") : outside(url, address.host);
}

function orDash(text: string): Content {
	return text || "–";
}

function linkOrDash(address: string): Content {
	return address === "" ? "–" : outside(address, address);
}
