import type { Lang } from "../../registry/smallkey.ts";
import { fillText, fragmentTexts } from "../../registry/texts/pairs.ts";
import { escapeHtml } from "../static/html.ts";
import { type Entry, layerAddress } from "./entries.ts";

/** What a viewer does not draw (docs/viewers.md). */
const undrawn: Record<string, string> = { FGPV: "ogcWmts", GeoView: "esriTile" };

/** Texts to copy that show a layer in the common viewers (docs/reading.md). @param root with a slash at its end */
export function snippetsOf(
	{ smallkey, title, type }: Pick<Entry, "smallkey" | "title" | "type">,
	lang: Lang,
	root: string,
	targets: readonly string[],
): { name: string; text: string }[] {
	const key = encodeURIComponent(smallkey);
	const name = title[lang] || smallkey;
	const ramp = (target: string) => `RAMP.configServiceURL = ${literal(`${root}${target}/`)};
// ${fillText(fragmentTexts[lang], { code: "ramp-keys", values: [] })} ?keys=${key}`;
	const fgpv = `<div class="fgpv" is="rv-map" rv-langs='["${lang}-CA"]'
  rv-service-endpoint="${escapeHtml(root)}" rv-keys='["${smallkey}"]'></div>`;
	const geoView = {
		map: { listOfGeoviewLayerConfig: [{ geoviewLayerType: "geoCore", geoviewLayerId: smallkey }] },
		// GeoView from 2.0.0 on reads `/vcs` below this address (docs/reading.md).
		serviceUrls: { geocoreUrl: root.replace(/\/$/, "") },
	};
	// Terria refuses a member that has neither a name nor an id.
	const url = `${root}terria/${lang}/${key}`;
	const terria = { type: "terria-reference", name, url, path: [`rcs.${smallkey}.${lang}`] };
	const frame = `<iframe src="${escapeHtml(root + layerAddress(lang, smallkey, "embed"))}" title="${escapeHtml(name)}" width="800" height="600" loading="lazy"></iframe>`;
	const snippets: [name: string, target: string, text: string][] = [
		["RAMP 4.0", "v0.9", ramp("v0.9")],
		["RAMP 5", "v1", ramp("v1")],
		["FGPV", "v2", fgpv],
		["GeoView", "v2", JSON.stringify(geoView, null, 2)],
		["Terria", "terria", JSON.stringify(terria, null, 2)],
		["<iframe>", "", frame],
	];
	const isServed = (target: string) => target === "" || targets.includes(target);
	const offered = snippets.filter(([name, target]) => isServed(target) && undrawn[name] !== type);
	return offered.map(([name, , text]) => ({ name, text }));
}

/** A value in JavaScript. It contains no `<`, so that no text ends the script of a page. */
function literal(value: unknown): string {
	return JSON.stringify(value).replaceAll("<", "\\u003c");
}
