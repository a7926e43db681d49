import { type Column, RampFragments } from "./ramp.ts";
import type { Target } from "./target.ts";

const fragments = new RampFragments(spell);

/** A column with DataTables' own names of two members. */
function spell({
	id,
	fieldName,
	width,
	title,
	isSortable,
	sortType,
	alignment,
	columnTemplate,
}: Column): object {
	return {
		id,
		fieldName,
		width,
		title,
		orderable: isSortable,
		type: sortType,
		alignment,
		columnTemplate,
	};
}

/** What RAMP 5.0 to 5.5 read: the fragment of v0.9 with DataTables' own names in its grid columns. */
export const v1: Target = {
	name: "v1",
	doc: "v1/doc",
	docs: "v1/docs",
	aliases: [],
	absent: () => "null",
	render: (layer) => fragments.render(layer),
};
