import { test } from "uvu";
import * as assert from "uvu/assert";
import { v09 } from "../../../registry/targets/v0.9.ts";
import { v1 } from "../../../registry/targets/v1.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, mapServer, renderAt, wmsWith } from "./samples.ts";

test("a wms layer is the same as at v0.9", () => {
	const registration = wmsWith({ legend_format: "image/png", feature_info_type: "text/html" });
	assert.equal(renderAt(v1, registration), renderAt(v09, registration));
});

test("a feature layer differs from v0.9 in two names of its grid columns, and in nothing else", () => {
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
	const described = renderAt(v1, featureAt(mapServer), { description: describedAt(mapServer) });
	assert.equal(described.layers.feature[0].datagrid.gridColumns[2], {
		id: "OBJECTID",
		fieldName: "OBJECTID",
		width: "400px",
		title: "OBJECTID",
		orderable: true,
		type: "num",
		alignment: 1,
		columnTemplate: "unformatted_grid_value",
	});
});

test.run();
