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
 * Reads the fragment at a path below the rendered files, `v0.9/doc/en/23ax5t`; null if there is none. An engine that has it
 * in memory returns it without a promise.
 */
export type ReadFragment = (path: string) => Fragment | null | Promise<Fragment | null>;
