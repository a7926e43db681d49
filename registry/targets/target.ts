import type { Lang } from "../smallkey.ts";
import type { LayerFacts } from "./facts.ts";

export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** Strong (RFC 9110, section 8.8.3). */
	etag: string;
	/** In drawing order, lowest first; absent if unknown. */
	rank?: number;
}

/**
 * `folder`: of the rendered files, such as `v0.9/doc/en`. An engine that has the fragment in memory returns
 * it without a promise.
 */
export type ReadFragment = (folder: string, smallkey: string) => Fragment | null | Promise<Fragment | null>;

export type TargetName = string;

/** The ASCII JSON text around an array of layers, where the array is not the whole answer. */
export interface Envelope {
	open: string;
	close: string;
}

/** A form in which layers are read. Its file exports its `Render`, too. */
export interface Target {
	name: TargetName;
	/** Path of one layer, before `/<lang>/<smallkey>`; also the folder of its files. */
	doc: string;
	/** Path of several layers. Where it equals `doc`, a comma in the last segment means several. */
	docs: string;
	/** Routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/** Also around a single layer, which `Render` writes with an array of one. */
	envelope?: Envelope;
	/** `<path>?lang=<lang>&id=<smallkey>,<smallkey>`. Unknown keys are left out. */
	queryDoor?: { path: string; envelope(lang: Lang): Envelope };
	/** In drawing order: `<docs>/<lang>/<smallkeys>/sort`. */
	canSort?: true;
	/**
	 * The JSON for an unknown key in an answer of several layers; null: left out.
	 * @param item the key as requested
	 * @param count number of requested keys, repeats included
	 */
	absent(item: string, count: number): string | null;
	/**
	 * Whether `docs` treats a layer as unknown, because a reader of `docs` fails on it. Other paths still
	 * return it.
	 * @param body UTF-8 JSON, as the target's `Render` wrote it
	 */
	isUnlisted?(body: Uint8Array): boolean;
}

/** Null where the target cannot express the layer. */
export type Render = (layer: LayerFacts) => object | null;
