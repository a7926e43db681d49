/** A rendered layer as it is read. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** Its strong entity tag (RFC 9110, section 8.8.3). */
	etag: string;
	/** The layer's rank in drawing order, lowest first; absent if it is not known. */
	rank?: number;
}

/**
 * Reads the fragment of a layer in a folder of the rendered files, such as `v0.9/doc/en`; null if there is none. An engine
 * that has it in memory returns it without a promise.
 */
export type ReadFragment = (folder: string, smallkey: string) => Fragment | null | Promise<Fragment | null>;
