import type { FromSchema } from "json-schema-to-ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { catalogueChunk, Entry } from "./entry.ts";

export type { Bounds } from "../service/projections.ts";
export type { Entry } from "./entry.ts";

export const indexVersion: Chunk["version"] = 4;

/** A change of one layer rewrites one chunk and the manifest. */
export const chunkCount = 64;

export const chunksFolder = "index/chunks";

export const manifestPath = "index/index.json";

/** Other sites may frame the second, which is the map alone. */
export const layerPages = ["layer", "embed"] as const;
export type LayerPage = (typeof layerPages)[number];

/** Has no file extension: `en/layer/23ax5t`. */
export function layerAddress(lang: Lang, smallkey: string, page: LayerPage = "layer"): string {
	return `${lang}/${page}/${encodeURIComponent(smallkey)}`;
}

export interface Manifest {
	version: Chunk["version"];
	layers: number;
	/** The commit of all entries; left out where it is not known. */
	commit?: string;
	/** Path of each chunk below the site, by its number; null where the chunk has no layers. */
	chunks: readonly (string | null)[];
}

export interface Chunk {
	readonly version: FromSchema<typeof catalogueChunk>["version"];
	readonly entries: readonly Entry[];
}

/** FNV-1a of 32 bits (RFC 9923), for texts of ASCII. */
export function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (const unit of text) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
	return hash >>> 0;
}

/** The chunk of a layer: the hash of its smallkey in lower case, folded to six bits. */
export function chunkOf(smallkey: string): number {
	const hash = hashOf(smallkey.toLowerCase());
	return ((hash ^ (hash >>> 16)) >>> 0) % chunkCount;
}

/** Null where the text is not of this version. `tryJson` would add its file to what a page loads first. */
function parserOf<T extends { version: number }>(version: T["version"], list: keyof T) {
	return (text: string | null): T | null => {
		try {
			const value = JSON.parse(text ?? "") as T | null;
			return value?.version === version && Array.isArray(value[list]) ? value : null;
		} catch {
			return null;
		}
	};
}

export const parseManifest = /* @__PURE__ */ parserOf<Manifest>(indexVersion, "chunks");

export const parseChunk = /* @__PURE__ */ parserOf<Chunk>(indexVersion, "entries");

export const recentPath = "changes/recent.json";

const recentVersion = 2;

export const maxRecent = 300;

export type ChangeKind = "added" | "changed" | "removed";

/** A commit with too many changes for a list has only their number. */
export interface RecentChange {
	commit: string;
	/** ISO 8601 in UTC, whole seconds. */
	date: string;
	what: { smallkey: string; kind: ChangeKind } | { many: number };
}

export function recentText(changes: readonly RecentChange[]): string {
	const lines = changes.slice(0, maxRecent).map((change) => JSON.stringify(change));
	return `{"version":${recentVersion},"changes":[\n${lines.join(",\n")}\n]}\n`;
}

export const parseRecent = /* @__PURE__ */ parserOf<{ version: number; changes: readonly RecentChange[] }>(
	recentVersion,
	"changes",
);
