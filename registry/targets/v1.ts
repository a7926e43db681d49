import { type Column, renderRamp } from "./ramp.ts";
import type { Render, Target } from "./target.ts";

/**
 * What RAMP 5.0 to 5.5 read: the fragment of v0.9 with DataTables' own names in its grid columns, and with strings as
 * the values of classes.
 */
export const v1: Target = {
	name: "v1",
	doc: "v1/doc",
	docs: "v1/docs",
	aliases: [],
	canSort: true,
	absent: () => "null",
};

// The viewer converts an attribute to a string and compares with `===`: a number would never match a class.
export const renderV1: Render = (layer) => renderRamp(layer, spell, String);

/** DataTables' own names of two members of a column. */
function spell(column: Column): object {
	const names: Record<string, string> = { isSortable: "orderable", sortType: "type" };
	return Object.fromEntries(Object.entries(column).map(([name, value]) => [names[name] ?? name, value]));
}
