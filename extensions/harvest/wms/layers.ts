import type { Lang } from "../../../registry/smallkey.ts";
import { type CapabilitiesLayer, lineOf, type Scales } from "../../../site/service/capabilities.ts";

export function keywordsFor({ keywords }: CapabilitiesLayer, lang: Lang): string[] {
	const matching = keywords.filter(([of]) => of === "" || of === lang);
	return (matching.length > 0 ? matching : keywords).map(([, text]) => text);
}

/** Of the layer, else of the nearest parent with some (06-042, table 6). */
export function scalesOf(layer: CapabilitiesLayer): Scales | null {
	for (const { scales } of lineOf(layer)) {
		if (!scales) continue;
		const { smallest, largest } = scales;
		// Some services swap the two bounds, which would hide the layer at every scale.
		return smallest > 0 && smallest < largest ? { ...scales, smallest: largest, largest: smallest } : scales;
	}
	return null;
}

/** Of the layer's and its parents' styles (06-042, table 6). */
export function legendFormatsOf(layer: CapabilitiesLayer): string[] {
	return [...new Set([...lineOf(layer)].flatMap(({ ownLegendFormats }) => ownLegendFormats))];
}
