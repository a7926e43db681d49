import { readdirSync, readFileSync } from "node:fs";
import { readVersion } from "../files/version.ts";
import type { TargetName } from "../registry/targets/target.ts";
import { type TextCode, texts } from "../registry/texts.ts";
import { errors, layerStatus, missing, receipt } from "../schemas/answers.ts";
import { description } from "../schemas/description.ts";
import { owners } from "../schemas/owners.ts";
import { registration, registration1, registration2 } from "../schemas/registration.ts";

const folder = new URL("../schemas/", import.meta.url);

function readJson<T>(name: string): T {
	return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

/**
 * The JSON Schemas and the OpenAPI document as files, by their names in the folder `schemas` of a build. A schema's name
 * is its `$id`, by which the schemas and the OpenAPI document refer to it.
 * @param targets the targets that the service serves
 * @param url the server's URL, to which the paths are appended; may be relative
 */
export function schemaFiles(targets: readonly TargetName[], url: string): Map<string, string> {
	const names = readdirSync(folder).filter((name) => name.endsWith(".schema.json"));
	const schemas = [
		...[registration, registration1, registration2, description, owners],
		...[receipt, layerStatus, errors, missing],
		...names.sort().map((name) => readJson<{ $id: string }>(name)),
	];
	const files = new Map<string, object>(schemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(targets, url));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, withText, 2)}\n`]));
}

/** For `JSON.stringify`: adds `errorMessage`, which editors show, to each rule of a schema that has a code. */
function withText(_name: string, value: unknown): unknown {
	const { code } = (value ?? {}) as { code?: unknown };
	if (typeof code !== "string" || !(code in texts)) return value;
	return { ...(value as object), errorMessage: texts[code as TextCode][0].replace(/, not \{\}$/, "") };
}

/** The OpenAPI 3.1.1 document of a service: `schemas/openapi.json` without the paths of targets that it does not serve. */
export function openApiDocument(targets: readonly TargetName[], url: string): object {
	const document = readJson<{ info: object; paths: Record<string, object> }>("openapi.json");
	const served = new Set<unknown>([undefined, ...targets]);
	const paths = Object.entries(document.paths).flatMap(([path, item]) => {
		const { "x-target": target, ...operations } = item as Record<string, unknown>;
		return served.has(target) ? [[path, operations]] : [];
	});
	return {
		...document,
		info: { ...document.info, version: readVersion() },
		servers: [{ url }],
		paths: Object.fromEntries(paths),
	};
}
