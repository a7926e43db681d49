import type { Lang } from "../smallkey.ts";
import type { LayerFacts } from "./facts.ts";

/** The name of a target, as in `TARGETS`: one of those in the table. */
export type TargetName = string;

/** What is around an array of layers where the array is not the whole answer: ASCII text of JSON. */
export interface Envelope {
	/** Before the array. */
	open: string;
	/** Between the array and the same array once more; null where it is there once. */
	between: string | null;
	/** After the last array. */
	close: string;
}

/** Another way to ask for several layers: `<path>?lang=<lang>&id=<smallkey>,<smallkey>`. Unknown keys are left out. */
export interface QueryDoor {
	path: string;
	envelope(lang: Lang): Envelope;
}

/** A form in which layers are read: where, and what is answered for a layer that is not found. Its file has its `Render`, too. */
export interface Target {
	name: TargetName;
	/** Where one layer is read, before `/<lang>/<smallkey>`; its files stand in the folder of this name. */
	doc: string;
	/** Where several are read; the same as `doc` where a comma makes the difference. */
	docs: string;
	/** Other addresses of `doc` and `docs`: routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/** What is around the layers, in the file of one layer as well: `render` returns it with an array of one. */
	envelope?: Envelope;
	queryDoor?: QueryDoor;
	/** Whether several can be asked for in the order in which they are drawn: `<docs>/<lang>/<smallkeys>/sort`. */
	canSort?: true;
	/**
	 * What stands in an answer of several layers for a key that is not found.
	 * @param item the key as it was asked for
	 * @param count how many keys were asked for, repeats counted
	 * @returns JSON, or null where nothing stands for it
	 */
	absent(item: string, count: number): string | null;
	/**
	 * Whether a layer is answered as if it were not found in an answer of several, because a reader of `docs` fails on it.
	 * Readers of `doc` and of the query door get it.
	 * @param body UTF-8 JSON, as the target's `Render` wrote it
	 */
	isUnlisted?(body: Uint8Array): boolean;
}

/**
 * Writes one layer in one language as a target has it.
 * @returns JSON, one line, no newline at the end; null where the layer cannot be expressed in the target
 */
export type Render = (layer: LayerFacts) => string | null;
