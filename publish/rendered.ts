import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { drawingRank, middleRank } from "../registry/description.ts";
import { defaultMapWkid } from "../registry/extents.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { langs } from "../registry/smallkey.ts";
import {
	type Fragment,
	type FragmentSettings,
	layerFacts,
	mapServerTypes,
	type ReadFragment,
	type TargetName,
} from "../registry/targets/facts.ts";
import { renderAt, targetNames, targetOf } from "../registry/targets/table.ts";
import { codeStamp } from "../store/files/version.ts";

/** Bytes beside a layer's and a fragment's own: row `memory` of `npm run bench`. */
const [layerBytes, fragmentBytes] = [200, 250];

type Fragments = readonly (Fragment | null | undefined)[];

export function createFragmentCache(
	maxBytes: number,
	folders: readonly string[],
	isKnown: (smallkey: string) => boolean,
	load: (folder: string, smallkey: string) => Promise<Fragment | null>,
) {
	// By smallkey: a path is made and hashed for each look (row `docs-10` of `npm run bench`).
	const cache = new LRUCache<string, Fragments>({
		maxSize: maxBytes,
		sizeCalculation: (fragments, smallkey) => {
			const sizes = fragments.map((fragment) => (fragment ? fragment.body.length + fragmentBytes : 0));
			return sizes.reduce((sum, size) => sum + size, smallkey.length + layerBytes);
		},
	});
	/** By path. A fragment that is dropped meanwhile is answered, not kept. */
	const reading = new Map<string, Promise<Fragment | null>>();

	const file: ReadFragment = (folder, smallkey) => {
		const fragment = cache.get(smallkey)?.[folders.indexOf(folder)];
		if (fragment !== undefined) return fragment;
		return isKnown(smallkey) ? (reading.get(`${folder}/${smallkey}`) ?? read(folder, smallkey)) : null;
	};

	function keep(folder: string, smallkey: string, fragment: Fragment | null): void {
		const fragments = [...(cache.get(smallkey) ?? [])];
		fragments[folders.indexOf(folder)] = fragment;
		cache.set(smallkey, fragments);
	}

	function read(folder: string, smallkey: string): Promise<Fragment | null> {
		const path = `${folder}/${smallkey}`;
		const result: Promise<Fragment | null> = load(folder, smallkey)
			.then((fragment) => {
				if (reading.get(path) === result) keep(folder, smallkey, fragment);
				return fragment;
			})
			.finally(() => {
				if (reading.get(path) === result) reading.delete(path);
			});
		reading.set(path, result);
		return result;
	}

	return {
		file,
		drop(smallkey: string): void {
			cache.delete(smallkey);
			if (reading.size > 0) for (const folder of folders) reading.delete(`${folder}/${smallkey}`);
		},
	};
}

/** With all defaults, as other processes need them. */
export function fragmentSettings({
	metadataUrl,
	catalogueUrl,
	mapWkid = defaultMapWkid,
	mapServerType = mapServerTypes[0],
	targets = targetNames,
}: FragmentSettings): Required<FragmentSettings> {
	return { metadataUrl, catalogueUrl, mapWkid, mapServerType, targets };
}

export function rendererStamp(settings: Required<FragmentSettings>): string {
	return createHash("sha256")
		.update(codeStamp() + JSON.stringify(settings))
		.digest("hex");
}

/** Such as `v0.9/doc/en`. */
export function fragmentFolders(targets: readonly TargetName[]): string[] {
	return targets.flatMap((target) => langs.map((lang) => `${targetOf(target).doc}/${lang}`));
}

export interface RenderedLayer {
	/** UTF-8 JSON in the order of `fragmentFolders`; null where a target has no form. */
	fragments: readonly (Uint8Array | null)[];
	rank: number;
}

const encoder = new TextEncoder();

export function renderFragments(layer: CheckedLayer, settings: Required<FragmentSettings>): RenderedLayer {
	const { smallkey, registration, description } = layer;
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, description, settings));
	const texts = settings.targets.flatMap((target) => facts.map((langFacts) => renderAt(target, langFacts)));
	const fragments = texts.map((text) => (text ? encoder.encode(text) : null));
	return { fragments, rank: description ? drawingRank(description) : middleRank };
}
