import type { Lang } from "../smallkey.ts";
import type { LayerFacts } from "./facts.ts";

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

export type TargetName = string;

/** The ASCII JSON text around an array of layers, where the array is not the whole answer. */
export interface Envelope {
	open: string;
	close: string;
}

/** A form in which layers are read: its paths, and the answer for an unknown layer. Its file exports its `Render`, too. */
export interface Target {
	name: TargetName;
	/** Path of one layer, before `/<lang>/<smallkey>`; also the folder of its files. */
	doc: string;
	/** Path of several layers. Where it equals `doc`, a comma in the last segment means several layers. */
	docs: string;
	/** Other paths of `doc` and `docs`: routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/** The text around the layers; also around a single layer, which `Render` writes with an array of one. */
	envelope?: Envelope;
	/** Another way to request several layers: `<path>?lang=<lang>&id=<smallkey>,<smallkey>`. Unknown keys are left out. */
	queryDoor?: { path: string; envelope(lang: Lang): Envelope };
	/** Whether several layers can be requested in drawing order: `<docs>/<lang>/<smallkeys>/sort`. */
	canSort?: true;
	/**
	 * The element for an unknown key in an answer of several layers.
	 * @param item the key as requested
	 * @param count number of requested keys, repeats included
	 * @returns JSON, or null where the key is left out
	 */
	absent(item: string, count: number): string | null;
	/**
	 * Whether `docs` treats a layer as unknown, because a reader of `docs` fails on it. `doc` and the path of `queryDoor`
	 * still return the layer.
	 * @param body UTF-8 JSON, as the target's `Render` wrote it
	 */
	isUnlisted?(body: Uint8Array): boolean;
}

/** Renders one layer in one language in a target's form, as a value of JSON; null where the target cannot express it. */
export type Render = (layer: LayerFacts) => object | null;
