import * as assert from "uvu/assert";
import type { Registration1 } from "../../registry/registration.ts";
import { compile, everyError } from "../../registry/schemas/compile.ts";
import schema from "../../registry/schemas/fragment-v0.9.schema.json";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Merges as the viewer 4.0.x does: arrays are appended, objects recursed into, the rest replaced.
 * `target` is changed, and returned.
 */
function mergeAsViewer(target: Json, source: Json) {
	for (const [name, value] of Object.entries(source)) {
		const present = Object.hasOwn(target, name) ? target[name] : undefined;
		if (Array.isArray(present) && Array.isArray(value)) target[name] = [...present, ...value];
		else if (isObject(present) && isObject(value)) mergeAsViewer(present, value);
		else target[name] = value;
	}
	return target;
}

const validate = compile(schema, everyError);

export function assertAccepted(...fragments: string[]) {
	// What the viewer's own configuration says of layers.
	const configuration: Json = { layers: { wms: [], feature: [] } };
	for (const fragment of fragments) mergeAsViewer(configuration, JSON.parse(fragment));
	assert.ok(validate(configuration), JSON.stringify(validate.errors, null, 1));
}

type Facts = Parameters<typeof layerFacts>;

/** Of a service that names no catalogue of metadata. */
export const factsOf = (...layer: [Facts[0], Facts[1], Facts[2], Facts[3]]) =>
	layerFacts(...layer, { metadataUrl: "", catalogueUrl: "" });

export function renderV09(...layer: Parameters<typeof factsOf>) {
	return renderAt("v0.9", factsOf(...layer)) as string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
export function nodeOf(fragment: string): any {
	const { layers } = JSON.parse(fragment);
	return (layers.wms ?? layers.feature)[0];
}

export function featureAt(address: string, more: object = {}): Registration1 {
	const entry = { service_url: address, ...more };
	return { version: "1.0.0", payload_type: "feature", en: entry, fr: entry };
}
