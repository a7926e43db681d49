import * as assert from "uvu/assert";
import type { Description } from "../../../registry/description.ts";
import type { Target } from "../../../registry/targets/facts.ts";
import { v1, v09 } from "../../../registry/targets/ramp.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, mapServer, renderAt } from "./samples.ts";

test("a feature layer without classes differs from v0.9 in two names of its grid columns, and in nothing else", () => {
	for (const given of [{}, { description: describedAt(mapServer) }]) {
		const fragment = renderAt(v1, featureAt(mapServer), given);
		const columns = fragment.layers.feature[0].datagrid.gridColumns;
		for (const column of columns) {
			assert.ok("orderable" in column && "type" in column);
			column.isSortable = column.orderable;
			column.sortType = column.type;
			delete column.orderable;
			delete column.type;
		}
		assert.equal(fragment, renderAt(v09, featureAt(mapServer), given));
	}
});

test("values of classes are texts, which RAMP 5 compares an attribute with; v0.9 keeps the numbers", () => {
	const image = "data:image/png;base64,iVBORw0KGgo=";
	const classes = [5, 0.1, "a"].map((value) => ({ value, image, label: `is ${value}` }));
	const renderer = { type: "unique" as const, fields: ["CODE"], classes, default: null };
	const { en } = describedAt(mapServer);
	const description = { en: { ...en, renderer } } as Description;
	const valuesAt = (target: Target) =>
		renderAt(target, featureAt(mapServer), { description }).layers.feature[0].symbology.valueMaps.map(
			({ value }: { value: unknown }) => value,
		);
	assert.equal(valuesAt(v1), ["5", "0.1", "a"]);
	assert.equal(valuesAt(v09), [5, 0.1, "a"]);
});

test.run();
