import type { Render, Target } from "./target.ts";
import { renderRamp } from "./v0.9.ts";

/**
 * What RAMP 5.0 to 5.5 read: v0.9 with DataTables' own names in its grid columns, and strings as class
 * values.
 */
export const v1: Target = {
	name: "v1",
	doc: "v1/doc",
	docs: "v1/docs",
	aliases: [],
	canSort: true,
	absent: () => "null",
};

// The viewer compares attributes as strings with `===`: a numeric class value never matches.
export const renderV1: Render = (layer) =>
	renderRamp(layer, { sortable: "orderable", sorting: "type", classValue: String });
