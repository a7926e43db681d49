import type { Lang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { readFile } from "../page/page.ts";

/** Layers of the first answer. */
const maxLayers = 10;

/** What the page reads of a record of the service (OGC API Records, "recordGeoJSON.yaml"; `extensions/records/records.ts`). */
interface ReadRecord {
	id: string;
	properties: { type: string; updated?: string; contacts?: { organization: string }[] };
	links: { rel: string; href: string; hreflang: Lang; title: string }[];
}

/**
 * Asks the service for the first layers with a text.
 * @returns the layers with what a row shows; their health is not known
 * @throws {TypeError} if the service does not answer
 */
export async function firstAnswers(text: string, signal: AbortSignal): Promise<Entry[]> {
	const query = new URLSearchParams({ q: text, limit: String(maxLayers) });
	const answer = await readFile(`collections/layers/items?${query}`, "default", signal);
	const { features } = JSON.parse(answer ?? "{}") as { features?: ReadRecord[] };
	return (features ?? []).map(entryOf);
}

function entryOf({ id, properties, links }: ReadRecord): Entry {
	const of = (rel: string, lang: Lang) => links.find((link) => link.rel === rel && link.hreflang === lang);
	const title = { en: of("describedby", "en")?.title ?? id, fr: of("describedby", "fr")?.title ?? id };
	const fr = of("item", "fr")?.href;
	const [sender] = properties.contacts ?? [];
	return {
		smallkey: id,
		type: properties.type,
		title,
		address: { en: of("item", "en")?.href ?? "", ...(fr !== undefined && { fr }) },
		health: null,
		...(sender && { sender: sender.organization }),
		...(properties.updated !== undefined && { changed: { commit: "", date: properties.updated } }),
	};
}
