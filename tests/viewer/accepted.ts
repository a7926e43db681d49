import Ajv from "ajv";
import * as assert from "uvu/assert";
import type { TargetName } from "../../registry/targets/names.ts";
import { everyError, type Validator } from "../../schemas/compile.ts";
import ramp4Schema from "../../schemas/fragment-ramp4.schema.json";
import v09Schema from "../../schemas/fragment-v0.9.schema.json";
import v1Schema from "../../schemas/fragment-v1.schema.json";
import v2Schema from "../../schemas/fragment-v2.schema.json";
import { readAsFgpv } from "./fgpv.ts";
import { readAsGeoview } from "./geoview.ts";
import { readAsRamp4 } from "./ramp4.ts";

const ajv = new Ajv(everyError);
/** The schema of each target: what its consumers' own rules allow. The one of v1 refers to that of v0.9. */
const validators: Readonly<Record<TargetName, Validator>> = {
	"v0.9": ajv.compile(v09Schema),
	v1: ajv.compile(v1Schema),
	v2: ajv.compile(v2Schema),
	ramp4: ajv.compile(ramp4Schema),
};

/** Fails unless the consumers of a target accept this text as a layer. */
export function assertAcceptedAt(target: TargetName, text: string): void {
	const fragment = JSON.parse(text);
	const validate = validators[target];
	assert.ok(validate(fragment), `${target}: ${text}\n${JSON.stringify(validate.errors, null, 1)}`);
	if (target === "ramp4") assert.is(readAsRamp4([fragment]).length, 1);
	if (target !== "v2") return;
	// What FGPV does not know is null in a list: it never gets it.
	const listed = fragment.layers[0].layerType === "ogcWmts" ? null : fragment;
	assert.is(readAsFgpv([null, listed]).length, listed ? 1 : 0);
	if (isForGeoview(fragment.layers[0])) assert.is(readAsGeoview([fragment]).length, 1);
}

/** Whether GeoView has a way to draw a node: not tiles, and no single layer of a server that is not a FeatureServer. */
function isForGeoview({ layerType, url, layerEntries }: Record<string, unknown>): boolean {
	if (layerType === "esriTile") return false;
	return layerType !== "esriFeature" || layerEntries !== undefined || /FeatureServer/.test(String(url));
}
