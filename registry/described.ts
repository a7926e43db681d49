import { maxAbstract, maxKeyword, maxKeywords, maxTitle } from "../schemas/description.ts";
import { currentDescription } from "./description.ts";
import type { Bounds } from "./entries.ts";
import type { CheckedLayer } from "./judge.ts";
import { plainText } from "./markup.ts";
import { boundsOfExtent } from "./projections.ts";
import type { Lang } from "./smallkey.ts";

/** What a service says of a layer in words, for the catalogue: plain text, whatever is stored. */
export interface Described {
	/** At most 300 characters; null where the service says none. */
	title: string | null;
	/** At most 2,000 characters; null where the service says none. */
	description: string | null;
	/** At most 20 of 100 characters, each once. */
	keywords: string[];
	/** In degrees; null where it is not known. */
	bounds: Bounds | null;
}

/** What is known of a layer in one language; nothing of a service that is not the registered one. */
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

/** Keywords as they are kept: plain text, each once, no more than there is room for. */
export function plainKeywords(keywords: readonly string[]): string[] {
	const plain = keywords.map((keyword) => plainText(keyword, maxKeyword)).filter(Boolean);
	return [...new Set(plain)].slice(0, maxKeywords);
}
