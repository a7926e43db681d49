import { langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import type { RecentChange } from "../data/recent.ts";
import { layerFeedFile, publisherFile } from "./addresses.ts";
import { feedText, feedTitle } from "./feed.ts";
import { type Lists, layerOf, namesOf, slugOfChange } from "./publishers.ts";

/** The feed of a publisher's last changes; if there are none, of its newest one. */
export function publisherFeed(slug: string, layers: readonly Entry[], lists: Lists): string {
	const own = lists.changes.filter((change) => slugOfChange(change, lists) === slug);
	const name = [...new Set(langs.map((lang) => namesOf(layers, lang)))].join(" · ");
	return feedOf(publisherFile(slug, "xml"), { id: `publisher:${slug}`, name }, own, layers, lists);
}

/** The feed of one layer's last changes; null if no change of it is known. */
export function layerFeed(smallkey: string, lists: Lists): string | null {
	const own = lists.changes.filter(({ what }) => !("many" in what) && what.smallkey === smallkey);
	const entry = lists.entryOf(smallkey);
	const [last] = own;
	if (!entry?.changed && !last) return null;
	const title = layerOf(smallkey, lists)?.title ?? { en: smallkey, fr: smallkey };
	const name = [...new Set(langs.map((lang) => title[lang] || smallkey))].join(" · ");
	return feedOf(layerFeedFile(smallkey), { id: `layer:${smallkey}`, name }, own, entry ? [entry] : [], lists);
}

function feedOf(
	path: string,
	of: { id: string; name: string },
	own: readonly RecentChange[],
	layers: readonly Entry[],
	lists: Lists,
): string {
	const newest = layers.reduce<Entry | null>((last, entry) => {
		return (entry.changed?.date ?? "") > (last?.changed?.date ?? "") ? entry : last;
	}, null);
	const changes =
		own.length > 0 || !newest?.changed
			? own
			: [{ ...newest.changed, what: { smallkey: newest.smallkey, kind: "changed" as const } }];
	const updated = changes[0]?.date ?? "1970-01-01T00:00:00Z";
	const titleIn = (smallkey: string) => feedTitle(smallkey, layerOf(smallkey, lists)?.title);
	return feedText(changes, titleIn, { path, publicUrl: lists.settings.publicUrl, updated, of });
}
