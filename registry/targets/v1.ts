import type { Render, Target } from "./target.ts";
import { renderRamp } from "./v0.9.ts";

/**
 * The fragment that RAMP 5.0 to 5.5 read: that of v0.9, with DataTables' own names in its grid columns, and with strings
 * as the values of classes.
 */
export const v1: Target = {
	name: "v1",
	doc: "v1/doc",
	docs: "v1/docs",
	aliases: [],
	canSort: true,
	absent: () => "null",
};

// The viewer converts an attribute to a string and compares it with `===`: a class whose value is a number never matches.
export const renderV1: Render = (layer) =>
	renderRamp(layer, { sortable: "orderable", sorting: "type", classValue: String });
