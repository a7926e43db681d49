import { LRUCache } from "lru-cache";
import type { Fragment, ReadFragment } from "../registry/targets/target.ts";

/** What a layer, and each of its fragments, takes beside its bytes: row `memory` of `npm run bench`. */
const [layerBytes, fragmentBytes] = [200, 250];

/** Fragments of a layer by the position of their folder; null where the target cannot express the layer. */
type Fragments = readonly (Fragment | null | undefined)[];

/**
 * Keeps the fragments that were read last in memory.
 * @param maxBytes most bytes of all layers
 * @param isKnown whether a smallkey may have fragments: what cannot is answered without a look
 * @param load reads a fragment that is not in memory
 */
export function createFragmentCache(
	maxBytes: number,
	folders: readonly string[],
	isKnown: (smallkey: string) => boolean,
	load: ReadFragment,
) {
	// By smallkey, not by path: a path is made and hashed for each look (row `docs-10` of `npm run bench`).
	const cache = new LRUCache<string, Fragments>({
		maxSize: maxBytes,
		sizeCalculation: (fragments, smallkey) => {
			const sizes = fragments.map((fragment) => (fragment ? fragment.body.length + fragmentBytes : 0));
			return sizes.reduce((sum, size) => sum + size, smallkey.length + layerBytes);
		},
	});
	/** The reads that have begun, by path. One that is dropped meanwhile is answered, and not kept. */
	const reading = new Map<string, Promise<Fragment | null>>();

	const file: ReadFragment = (folder, smallkey) => {
		const fragment = cache.get(smallkey)?.[folders.indexOf(folder)];
		if (fragment !== undefined) return fragment;
		return isKnown(smallkey) ? (reading.get(`${folder}/${smallkey}`) ?? read(folder, smallkey)) : null;
	};

	function keep(folder: string, smallkey: string, fragment: Fragment | null): Fragment | null {
		const fragments = [...(cache.get(smallkey) ?? [])];
		fragments[folders.indexOf(folder)] = fragment;
		cache.set(smallkey, fragments);
		return fragment;
	}

	function read(folder: string, smallkey: string): ReturnType<ReadFragment> {
		const loaded = load(folder, smallkey);
		if (!(loaded instanceof Promise)) return keep(folder, smallkey, loaded);
		const path = `${folder}/${smallkey}`;
		const isKept = () => reading.get(path) === result && reading.delete(path);
		const result: Promise<Fragment | null> = loaded.then(
			(fragment) => (isKept() ? keep(folder, smallkey, fragment) : fragment),
			(error) => {
				isKept();
				throw error;
			},
		);
		reading.set(path, result);
		return result;
	}

	return {
		file,
		drop(smallkey: string): void {
			cache.delete(smallkey);
			if (reading.size > 0) for (const folder of folders) reading.delete(`${folder}/${smallkey}`);
		},
		clear(): void {
			cache.clear();
			reading.clear();
		},
	};
}
