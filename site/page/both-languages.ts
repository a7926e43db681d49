import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Drawable } from "../map/drawable.ts";
import { breakable, h, outside, webAddress } from "./dom.ts";
import type { Page } from "./page.ts";

/** A table of both languages, with what is the same or differs marked in words. */
export function bothLanguages(page: Page, drawables: Record<Lang, Drawable | null>): HTMLElement {
	const { texts } = page;
	const [en, fr] = [drawables.en, drawables.fr];
	const row = (name: string, get: (drawable: Drawable) => Node | string, note: string) =>
		h(
			"tr",
			{},
			h("th", { scope: "row" }, name, note !== "" && h("span", { class: "note" }, note)),
			langs.map((lang) => {
				const drawable = drawables[lang];
				return h(
					"td",
					{ lang, "data-label": (lang === "en" ? texts.english : texts.french) + texts.colon },
					drawable ? get(drawable) : "–",
				);
			}),
		);
	const areSame = (get: (drawable: Drawable) => string) => Boolean(en && fr && get(en) === get(fr));
	const rows = [
		row(texts.titleField, ({ title }) => breakable(title), areSame(({ title }) => title) ? texts.same : ""),
		row(texts.address, ({ url }) => outside(url, url), areSame(({ url }) => url) ? texts.sameAddress : ""),
		row(texts.servicePage, ownPage, ""),
	];
	if ((en?.entries.length ?? 0) + (fr?.entries.length ?? 0) > 0) {
		const note = areSame(({ entries }) => entries.join("\n")) ? "" : texts.otherName;
		rows.push(row(texts.layerField, ({ entries }) => breakable(entries.join(", ")), note));
	}
	if (en?.nameField || fr?.nameField)
		rows.push(row(texts.nameField, ({ nameField }) => nameField || "–", ""));
	if (en?.metadataUrl || fr?.metadataUrl) {
		rows.push(row(texts.metadata, ({ metadataUrl }) => linkOrDash(metadataUrl), ""));
	}
	if (en?.catalogueUrl || fr?.catalogueUrl) {
		rows.push(row(texts.catalogue, ({ catalogueUrl }) => linkOrDash(catalogueUrl), ""));
	}
	return h(
		"table",
		{ class: "both" },
		h(
			"thead",
			{},
			h("tr", {}, h("td"), h("th", { scope: "col" }, texts.english), h("th", { scope: "col" }, texts.french)),
		),
		h("tbody", {}, rows),
	);
}

/** What a service says of itself: an ArcGIS service is its own page, a Web Map Service has its capabilities. */
function ownPage({ kind, url }: Drawable): Node | string {
	const address = webAddress(url);
	if (!address) return "–";
	if (kind !== "wms") return outside(url, address.host);
	const asked = /^(?:service|request|version)$/i;
	for (const name of [...address.searchParams.keys()])
		if (asked.test(name)) address.searchParams.delete(name);
	address.searchParams.set("SERVICE", "WMS");
	address.searchParams.set("REQUEST", "GetCapabilities");
	return outside(address.href, "GetCapabilities");
}

function linkOrDash(address: string): Node | string {
	return address === "" ? "–" : outside(address, address);
}
