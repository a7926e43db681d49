import { renderRamp } from "./ramp.ts";
import type { Render, Target } from "./target.ts";

/**
 * The fragment that RAMP 4.0.x merges into its configuration (configSchema.json of its tag v4.0.1). RAMP's default
 * configuration names an address without a version, so the older service's paths at the root are aliases.
 */
export const v09: Target = {
	name: "v0.9",
	doc: "v0.9/doc",
	docs: "v0.9/docs",
	aliases: [{ doc: "doc", docs: "docs" }],
	// The missing-key fragment (specification, "Missing-key fragment").
	absent: (item) => JSON.stringify({ error_code: 404, smallkey: item }),
};

export const renderV09: Render = (layer) => renderRamp(layer, (column) => column);
