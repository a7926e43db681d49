import type { Sickness } from "./health.ts";
import type { Lang } from "./smallkey.ts";
import { tryJson } from "./try-json.ts";

/** Version of the index; a reader ignores an index of another version. */
export const indexVersion = 3;

/** Number of chunks, for any number of layers. A change of one layer rewrites one chunk and the manifest. */
export const chunkCount = 64;

/** Folder of the chunks; their names contain the hash of their content. */
export const chunksFolder = "index/chunks";

export const manifestPath = "index/index.json";

/** West, south, east, north in degrees (RFC 7946, section 5). */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

/** Public name of a sender: one text for both languages, or one for each. */
export type PublicName = string | Record<Lang, string>;

/** A layer in the catalogue, with the values for its row and the filters. */
export interface Entry {
	smallkey: string;
	/** `wms`, `feature`, or the service type of a registration of version 2.0. */
	type: string;
	title: Record<Lang, string>;
	/** The service's description of the layer, at most 300 characters; left out if there is none. */
	description?: Partial<Record<Lang, string>>;
	/** The service's keywords of both languages, without duplicates. */
	keywords?: readonly string[];
	/** The service's address, as registered; `fr` is left out where it is the same. */
	address: { en: string; fr?: string };
	/** Names or numbers of the layers inside the service, where they are not part of the address. */
	layers?: readonly string[];
	/** Public name of the sender who registered the layer last, where the operator has set one. */
	sender?: PublicName;
	/** First 12 digits and time of the last commit that changed the layer; left out where the history is not complete. */
	changed?: { commit: string; date: string };
	/** What is wrong with the layer; null where it was never checked; left out where it is healthy. */
	health?: Sickness | null;
	bounds?: Bounds;
	/** Path of its picture below the site, where there is one. */
	thumbnail?: string;
	/** `<target>/<lang>` of each form in which the layer cannot be read; left out where it can be read in all forms. */
	unread?: readonly string[];
}

export interface Manifest {
	version: typeof indexVersion;
	layers: number;
	/** The commit of all entries; left out where it is not known. */
	commit?: string;
	/** Path of each chunk below the site, by its number; null where the chunk has no layers. */
	chunks: readonly (string | null)[];
}

/** The content of a chunk: its layers in the order of their smallkeys. */
export interface Chunk {
	version: typeof indexVersion;
	entries: Entry[];
}

/** The chunk of a layer: FNV-1a of 32 bits (RFC 9923) of its smallkey in lower case, folded to six bits. */
export function chunkOf(smallkey: string): number {
	let hash = 0x811c9dc5;
	for (const unit of smallkey.toLowerCase()) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
	return ((hash ^ (hash >>> 16)) >>> 0) % chunkCount;
}

/** The path of a chunk. @param hash of its content, hexadecimal */
export function chunkPath(chunk: number, hash: string): string {
	return `${chunksFolder}/${String(chunk).padStart(2, "0")}-${hash}.json`;
}

/** Parses the manifest; null where the text is not a manifest of this version. */
export function parseManifest(text: string): Manifest | null {
	const value = tryJson(text) as Manifest | null;
	return value?.version === indexVersion && Array.isArray(value.chunks) ? value : null;
}

/** Parses a chunk; null where the text is not a chunk of this version. */
export function parseChunk(text: string): Chunk | null {
	const value = tryJson(text) as Chunk | null;
	return value?.version === indexVersion && Array.isArray(value.entries) ? value : null;
}
