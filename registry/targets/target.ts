import type { Lang } from "../smallkey.ts";
import type { LayerFacts } from "./facts.ts";

export type TargetName = string;

/** The ASCII JSON text around an array of layers, where the array is not the whole answer. */
export interface Envelope {
	open: string;
	/** Text between the array and its repetition; null where the answer has the array once. */
	between: string | null;
	close: string;
}

/** A form in which layers are read: its paths, and the answer for an unknown layer. Its file exports its `Render`, too. */
export interface Target {
	name: TargetName;
	/** Path of one layer, before `/<lang>/<smallkey>`; also the folder of its files. */
	doc: string;
	/** Path of several layers; equal to `doc` where a comma distinguishes them. */
	docs: string;
	/** Other addresses of `doc` and `docs`: routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/** The text around the layers. Also around a single layer: `render` returns it with an array of one. */
	envelope?: Envelope;
	/** Another way to ask for several layers: `<path>?lang=<lang>&id=<smallkey>,<smallkey>`. Unknown keys are left out. */
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
	 * Whether an answer of several layers treats a layer as unknown because a reader of `docs` fails on it. `doc` and the
	 * query door return it.
	 * @param body UTF-8 JSON, as the target's `Render` wrote it
	 */
	isUnlisted?(body: Uint8Array): boolean;
}

/**
 * Writes one layer in one language as a target has it.
 * @returns JSON, one line, no newline at the end; null where the layer cannot be expressed in the target
 */
export type Render = (layer: LayerFacts) => string | null;
