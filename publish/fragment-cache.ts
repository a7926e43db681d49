import { LRUCache } from "lru-cache";
import type { Fragment, ReadFragment } from "../registry/fragment.ts";

/** What an entry takes beside its bytes and its path: row `memory` of `npm run bench`. */
const entryBytes = 400;

/** A fragment that does not exist: its path is known, and the target cannot express the layer. */
const none: Fragment = { body: new Uint8Array(0), etag: "" };

/**
 * Keeps the fragments that were read last in memory.
 * @param maxBytes most bytes of all entries
 * @param isKnown whether a path may have a fragment: what cannot is answered without a look
 * @param load reads a fragment that is not in memory
 */
export function createFragmentCache(
	maxBytes: number,
	isKnown: (path: string) => boolean,
	load: (path: string) => Promise<Fragment | null>,
) {
	const cache = new LRUCache<string, Fragment>({
		maxSize: maxBytes,
		sizeCalculation: ({ body }, path) => body.length + path.length + entryBytes,
	});
	/** The reads that have begun. One that is dropped meanwhile is answered, and not kept. */
	const reading = new Map<string, Promise<Fragment | null>>();

	const file: ReadFragment = (path) => {
		const fragment = cache.get(path);
		if (fragment) return fragment === none ? null : fragment;
		return isKnown(path) ? (reading.get(path) ?? read(path)) : null;
	};

	function read(path: string): Promise<Fragment | null> {
		const result = load(path).then(
			(fragment) => {
				if (reading.get(path) !== result) return fragment;
				reading.delete(path);
				cache.set(path, fragment ?? none);
				return fragment;
			},
			(error) => {
				if (reading.get(path) === result) reading.delete(path);
				throw error;
			},
		);
		reading.set(path, result);
		return result;
	}

	return {
		file,
		drop(path: string): void {
			cache.delete(path);
			reading.delete(path);
		},
		clear(): void {
			cache.clear();
			reading.clear();
		},
	};
}
