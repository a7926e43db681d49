import { readFileSync } from "node:fs";
import Ajv from "ajv";
import * as assert from "uvu/assert";
import { everyError, type Validator } from "../../registry/schemas/compile.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { targets } from "../../registry/targets/table.ts";
import { readAsFgpv } from "./fgpv.ts";
import { readAsGeoview } from "./geoview.ts";
import { readAsRamp4 } from "./ramp4.ts";

const ajv = new Ajv(everyError);
/** What the consumers' own rules allow. Later schemas refer to that of v0.9. */
const validators = new Map<TargetName, Validator>();
for (const { name } of targets) {
	const schema = new URL(`../../registry/schemas/fragment-${name}.schema.json`, import.meta.url);
	validators.set(name, ajv.compile(JSON.parse(readFileSync(schema, "utf8"))));
}

export function assertAcceptedAt(target: TargetName, text: string) {
	const fragment = JSON.parse(text);
	const validate = validators.get(target) as Validator;
	assert.ok(validate(fragment), `${target}: ${text}\n${JSON.stringify(validate.errors, null, 1)}`);
	if (target === "ramp4") assert.is(readAsRamp4([fragment]).length, 1);
	if (target !== "v2") return;
	// In a list, a layer that FGPV does not draw is null.
	const listed = fragment.layers[0].layerType === "ogcWmts" ? null : fragment;
	assert.is(readAsFgpv([null, listed]).length, listed ? 1 : 0);
	if (isForGeoview(fragment.layers[0])) assert.is(readAsGeoview([fragment]).length, 1);
}

/** Whether GeoView can draw a node: no tiles, and no single layer of a MapServer. */
function isForGeoview({ layerType, url, layerEntries }: Record<string, unknown>) {
	if (layerType === "esriTile") return false;
	return layerType !== "esriFeature" || layerEntries !== undefined || /FeatureServer/.test(String(url));
}
