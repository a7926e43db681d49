import type { LayerFacts } from "./facts.ts";

/** Names of the targets, in the order of their age. */
export type TargetName = "v0.9" | "v1" | "v2" | "ramp4";

/** A form in which layers are read: where they are read, and how one is written there. */
export interface Target {
	name: TargetName;
	/** Where one layer is read, before `/<lang>/<smallkey>`; its files stand in the folder of this name. */
	doc: string;
	/** Where several are read; the same as `doc` where a comma makes the difference. */
	docs: string;
	/** Other addresses of `doc` and `docs`: routes or rewrites, never copies of files. */
	aliases: readonly Readonly<Pick<Target, "doc" | "docs">>[];
	/**
	 * What stands in an answer of several layers for a key that is not found.
	 * @param item the key as it was asked for
	 * @returns JSON, or null where nothing stands for it
	 */
	absent(item: string): string | null;
	/**
	 * One layer in one language.
	 * @returns JSON, one line, no newline at the end; null where the layer cannot be expressed in this target
	 */
	render(layer: LayerFacts): string | null;
}
