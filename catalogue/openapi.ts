import { readdirSync, readFileSync } from "node:fs";
import type { Target } from "../registry/targets/target.ts";
import { type TextCode, texts } from "../registry/texts.ts";
import { errors, layerStatus, missing, receipt } from "../schemas/answers.ts";
import { description } from "../schemas/description.ts";
import { owners } from "../schemas/owners.ts";
import { registration } from "../schemas/registration.ts";
import { registration1 } from "../schemas/registration-1.ts";
import { registration2 } from "../schemas/registration-2.ts";

/** What differs between one service and another. */
export interface OpenApiSettings {
	version: string;
	/** The forms in which layers are read there. */
	targets: readonly Target[];
	/** Where the paths begin; `/` where it is not known. */
	url: string;
}

const folder = new URL("../schemas/", import.meta.url);

function readJson<T>(name: string): T {
	return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

/**
 * The description of the interface as files, by their names in the folder `schemas` of a build: each JSON Schema under
 * its `$id`, which is how they and the OpenAPI document refer to each other.
 */
export function schemaFiles(settings: OpenApiSettings): Map<string, string> {
	const names = readdirSync(folder).filter((name) => name.endsWith(".schema.json"));
	const schemas = [
		...[registration, registration1, registration2, description, owners],
		...[receipt, layerStatus, errors, missing],
		...names.sort().map((name) => readJson<{ $id: string }>(name)),
	];
	const files = new Map<string, object>(schemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(settings));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, withText, 2)}\n`]));
}

/** Adds `errorMessage`, which editors show, to each rule of a schema that has a code. */
function withText(_name: string, value: unknown): unknown {
	const { code } = (value ?? {}) as { code?: unknown };
	if (typeof code !== "string" || !(code in texts)) return value;
	return { ...(value as object), errorMessage: texts[code as TextCode][0].replace(/, not \{\}$/, "") };
}

/** The description of the whole interface (OpenAPI 3.1.1): `schemas/openapi.json` without the paths of other targets. */
export function openApiDocument({ version, targets, url }: OpenApiSettings): object {
	const document = readJson<{ info: object; paths: Record<string, object> }>("openapi.json");
	const served = new Set<unknown>([undefined, ...targets.map(({ name }) => name)]);
	const paths = Object.entries(document.paths).flatMap(([path, item]) => {
		const { "x-target": target, ...operations } = item as Record<string, unknown>;
		return served.has(target) ? [[path, operations]] : [];
	});
	return {
		...document,
		info: { ...document.info, version },
		servers: [{ url }],
		paths: Object.fromEntries(paths),
	};
}
