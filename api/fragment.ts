import type { Lang } from "../registry/smallkey.ts";
import type { TargetName } from "../registry/targets/target.ts";
import type { Tag } from "./etag.ts";

/** A fragment as it is sent. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** What its strong entity tag is made of (RFC 9110, section 8.8.3). */
	etag: Tag;
	/** Where its layer is drawn among others, a lower rank first; left out where that is not known. */
	rank?: number;
}

/** Where fragments are read from: one of a target (`v0.9`), a language and a smallkey, or null. */
export type Fragments = (target: TargetName, lang: Lang, smallkey: string) => Fragment | null;
