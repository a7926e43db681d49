import { maxAbstract, maxKeyword, maxKeywords, maxTitle } from "../schemas/description.ts";
import { currentDescription } from "./description.ts";
import type { Bounds } from "./entries.ts";
import type { CheckedLayer } from "./judge.ts";
import { plainText } from "./markup.ts";
import { boundsOfExtent } from "./projections.ts";
import type { Lang } from "./smallkey.ts";

/** A service's texts about a layer, for the catalogue: plain text, even where the stored description has markup. */
export interface Described {
	/** At most 300 characters; null where the service has none. */
	title: string | null;
	/** At most 2,000 characters; null where the service has none. */
	description: string | null;
	/** At most 20, each of at most 100 characters, without duplicates. */
	keywords: string[];
	/** In degrees; null where they are not known. */
	bounds: Bounds | null;
}

/** The texts about a layer in one language; all empty where the description is not of the registered service. */
export function describedFor(
	{ registration, description }: Omit<CheckedLayer, "smallkey">,
	lang: Lang,
): Described {
	const known = currentDescription(registration, description, lang);
	if (!known) return { title: null, description: null, keywords: [], bounds: null };
	const isFeature = "renderer" in known;
	return {
		title: plainText((isFeature ? known.name : known.title) ?? "", maxTitle) || null,
		description: plainText(known.abstract ?? "", maxAbstract) || null,
		keywords: plainKeywords(known.keywords ?? []),
		bounds:
			(known.bounds as Bounds | undefined) ??
			(isFeature && known.extent ? boundsOfExtent(known.extent) : null),
	};
}

/** Keywords as plain text: at most 20, each of at most 100 characters, without duplicates. */
export function plainKeywords(keywords: readonly string[]): string[] {
	const plain = keywords.map((keyword) => plainText(keyword, maxKeyword)).filter(Boolean);
	return [...new Set(plain)].slice(0, maxKeywords);
}
