import type { Lang } from "../registry/smallkey.ts";
import type { TargetName } from "../registry/targets/target.ts";
import type { Tag } from "./etag.ts";

/** A fragment as sent. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** What its strong entity tag is made of (RFC 9110, section 8.8.3). */
	etag: Tag;
	/** The layer's rank in drawing order, lowest first; absent where it is not known. */
	rank?: number;
}

/** Reads the fragment of a target (`v0.9`), a language and a smallkey; null where there is none. */
export type Fragments = (target: TargetName, lang: Lang, smallkey: string) => Fragment | null;
