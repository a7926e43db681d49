import { layerPath } from "../../registry/smallkey.ts";
import type { Located } from "./layer-changes.ts";
import type { LayerChange, Review } from "./review.ts";

/** Layers of a change up to which each is shown with its fragments; of a larger one a table shows all layers. */
export const maxDetailed = 20;

/** What a reviewer has to look at first. */
const states = ["to correct", "wrong service", "service down", "odd", ""] as const;
const verbs: readonly LayerChange["verb"][] = ["wrong", "changed", "removed", "added"];

/** A layer of a change, for a table. */
export interface LayerRow extends Pick<LayerChange, "smallkey" | "verb"> {
	/** Empty if nothing is wrong or odd. */
	state: (typeof states)[number];
	/** Its English name or layer, empty for a layer without. */
	name: string;
	layer: LayerChange;
}

/** The layers of a change: first those with something wrong, then the changed, the removed and the added ones. */
export function layerRows({ layers, problems, services, warnings }: Review): LayerRow[] {
	const sets = [problems, services.wrong, services.down, warnings].map(filesOf);
	const rows = layers.map((layer): LayerRow => {
		const { smallkey, verb } = layer;
		const index = sets.findIndex((files) => files.has(layerPath(smallkey)));
		const state = verb === "wrong" ? "to correct" : (states.at(index) ?? "");
		return { smallkey, verb, state, name: nameOf(layer), layer };
	});
	const rankOf = ({ state, verb }: LayerRow) => states.indexOf(state) * verbs.length + verbs.indexOf(verb);
	return rows.sort((a, b) => rankOf(a) - rankOf(b) || (a.smallkey < b.smallkey ? -1 : 1));
}

function filesOf(remarks: readonly Located[]): Set<string> {
	return new Set(remarks.map(({ file }) => file));
}

function nameOf({ before, after }: LayerChange): string {
	const en: { service_name?: string; layer?: string } = (after ?? before)?.registration.en ?? {};
	return en.service_name || (en.layer ?? "");
}
