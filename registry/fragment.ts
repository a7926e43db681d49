import type { Lang } from "./smallkey.ts";
import type { TargetName } from "./targets/target.ts";

/** A rendered layer as it is read. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** Its strong entity tag (RFC 9110, section 8.8.3). */
	etag: string;
	/** The layer's rank in drawing order, lowest first; absent if it is not known. */
	rank?: number;
}

/** Reads the fragment of a target (`v0.9`), a language and a smallkey; null if there is none. */
export type Fragments = (target: TargetName, lang: Lang, smallkey: string) => Fragment | null;
